#include "gpilot/trials/system_knowledge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/core/suggest.hpp"

namespace gpilot::trials {

namespace {

constexpr double kUnknownFactor = 3.0;

/// What holds for a system.
struct Known {
  std::vector<std::string> cyclic, odd, control_affine;
  std::vector<ssm::Centre> centres;
};

/// An equation of motion: parameters with their true values, those that are known apart.
struct Equations {
  std::vector<ssm::Formula> formulas;
  std::vector<std::pair<std::string, double>> unknown;
  std::vector<std::pair<std::string, double>> known;
};

double value_of(const systems::System& system, std::string_view name) {
  for (const systems::Parameter& p : system.parameters()) {
    if (p.name == name) {
      return p.value;
    }
  }
  throw InputError(fmt::format("{} has no parameter '{}'", system.spec().name, name));
}

Known known_of(const std::string& system) {
  if (system == "pendulum") {
    return {.cyclic = {}, .odd = {"th_dot"}, .control_affine = {"th_dot"}, .centres = {}};
  }
  if (system == "cart-pole") {
    return {.cyclic = {"p"},
            .odd = {"th_dot", "p_dot"},
            .control_affine = {"th_dot", "p_dot"},
            .centres = {{"th", std::numbers::pi}}};
  }
  if (system == "tras") {
    return {.cyclic = {"a_h"}, .odd = {}, .control_affine = {}, .centres = {}};
  }
  return {};
}

Equations pendulum_equations(const systems::System& s, bool friction) {
  const auto value = [&](const char* name) { return std::pair<std::string, double>(name, value_of(s, name)); };
  Equations e{
      .formulas = {{"th_dot", friction ? "(c - b*th_dot - m*g*l*sin(th)) / (m*l^2)" : "(c - m*g*l*sin(th)) / (m*l^2)"}},
      .unknown = {value("m"), value("l")},
      .known = {value("g")}};
  if (friction) {
    e.unknown.push_back(value("b"));
  }
  return e;
}

/// As systems/cart_pole.cpp has it, where the cart presses on the track.
Equations cart_pole_equations(const systems::System& s, bool friction) {
  const auto value = [&](const char* name) { return std::pair<std::string, double>(name, value_of(s, name)); };
  const std::string spin = "m_p*l*th_dot^2";
  const std::string mass = "(m_c + m_p)";
  const std::string slip = "tanh(p_dot/v_s)";
  const std::string torque =
      friction ? fmt::format(
                     "(g*sin(th) - mu_p*th_dot/(m_p*l) + cos(th)*((-c - {0}*(sin(th) + mu_c*{1}*cos(th)))/{2} + "
                     "mu_c*g*{1}))",
                     spin, slip, mass)
               : fmt::format("(g*sin(th) + cos(th)*(-c - {}*sin(th))/{})", spin, mass);
  const std::string inertia = friction
                                  ? fmt::format("(l*(4/3 - m_p*cos(th)/{}*(cos(th) - mu_c*{}*sin(th))))", mass, slip)
                                  : fmt::format("(l*(4/3 - m_p*cos(th)^2/{}))", mass);
  const std::string turning = fmt::format("{}/{}", torque, inertia);
  const std::string pressing = fmt::format("({0}*g - m_p*l*{1}*sin(th) - {2}*cos(th))", mass, turning, spin);
  const std::string sliding = friction ? fmt::format("(c + {0}*sin(th) - m_p*l*{1}*cos(th) - mu_c*{2}*{3})/{4}", spin,
                                                     turning, pressing, slip, mass)
                                       : fmt::format("(c + {0}*sin(th) - m_p*l*{1}*cos(th))/{2}", spin, turning, mass);
  Equations e{.formulas = {{"th_dot", turning}, {"p_dot", sliding}},
              .unknown = {value("m_p"), value("m_c"), value("l")},
              .known = {value("g")}};
  if (friction) {
    e.unknown.insert(e.unknown.end(), {value("mu_c"), value("mu_p"), value("v_s")});
  }
  return e;
}

/// Horner's rule as a text, highest power first.
std::string polynomial_text(std::initializer_list<double> coefficients, const std::string& x) {
  std::string text;
  for (const double c : coefficients) {
    text =
        text.empty() ? fmt::format("{}", c) : fmt::format("({})*{} {} {}", text, x, c < 0.0 ? "-" : "+", std::abs(c));
  }
  return "(" + text + ")";
}

/// As systems/tras.cpp has it; the curves of the rotors are known, as from a data sheet, and what stands before them is
/// not. Every term has its own parameter, over the inertia.
Equations tras_equations(const systems::System& s, bool friction) {
  const auto p = [&](const char* name) { return value_of(s, name); };
  const std::string w_v = polynomial_text({-5.2e3, -1.1e2, 1.1e4, 1.3e2, -9.2e3, -31.0, 6.1e3, -4.5}, "c_v");
  const std::string w_h = polynomial_text({2.2e3, -1.7e2, -4.5e3, 3e2, 9.8e3, -9.2}, "c_h");
  const std::string F_v = polynomial_text({-1.8e-18, -7.8e-16, 4.1e-11, 2.7e-8, 3.5e-5, -0.014}, w_v);
  const std::string F_h = polynomial_text({-2.6e-20, 4.1e-17, 3.2e-12, -7.3e-9, 2.1e-5, 0.0091}, w_h);
  const double A = (p("m_t") / 2 + p("m_tr") + p("m_ts")) * p("l_t");
  const double B = (p("m_m") / 2 + p("m_mr") + p("m_ms")) * p("l_m");
  const double C = p("m_b") / 2 * p("l_b") + p("m_cb") * p("l_cb");
  const double D = (p("m_m") / 3 + p("m_mr") + p("m_ms")) * p("l_m") * p("l_m") +
                   (p("m_t") / 3 + p("m_tr") + p("m_ts")) * p("l_t") * p("l_t");
  const double E = p("m_b") / 3 * p("l_b") * p("l_b") + p("m_cb") * p("l_cb") * p("l_cb");
  const double J_v = D + E + p("m_ms") / 2 * p("r_ms") * p("r_ms") + p("m_ts") * p("r_ts") * p("r_ts");
  const double J_f = p("m_ms") * p("r_ms") * p("r_ms") + p("m_ts") / 2 * p("r_ts") * p("r_ts");
  const std::string pitch = fmt::format("gc*cos(a_v) - gs*sin(a_v) + tv*{} - cf*sin(a_v)*cos(a_v)*a_h_dot^2 - kv*c_h{}",
                                        F_v, friction ? fmt::format(" - fv*a_v_dot - av*abs({})*a_v_dot", w_v) : "");
  const std::string turn = fmt::format(
      "(th*{}*cos(a_v) + 2*dh*sin(a_v)*cos(a_v)*a_v_dot*a_h_dot + kh*c_v{}) / (jc*cos(a_v)^2 + js*sin(a_v)^2)", F_h,
      friction ? fmt::format(" - fh*a_h_dot - ah*abs({})*a_h_dot", w_h) : "");
  Equations e{.formulas = {{"a_v_dot", pitch}, {"a_h_dot", turn}},
              .unknown = {{"gc", p("g") * (A - B) / J_v},
                          {"gs", p("g") * C / J_v},
                          {"tv", p("l_m") * p("thrust_v") / J_v},
                          {"cf", (D - E) / J_v},
                          {"kv", p("k_hv") / J_v},
                          {"th", p("l_t") * p("thrust_h")},
                          {"dh", D - E},
                          {"kh", p("k_vh")},
                          {"jc", D + J_f},
                          {"js", E + J_f}},
              .known = {}};
  if (friction) {
    e.unknown.insert(e.unknown.end(),
                     {{"fv", p("k_fv") / J_v}, {"av", p("a_1") / J_v}, {"fh", p("k_fh")}, {"ah", p("a_2")}});
  }
  return e;
}

/// Empty where there are none.
Equations equations_of(const systems::System& system, bool friction) {
  const std::string& name = system.spec().name;
  return name == "pendulum"    ? pendulum_equations(system, friction)
         : name == "cart-pole" ? cart_pole_equations(system, friction)
         : name == "tras"      ? tras_equations(system, friction)
                               : Equations{};
}

ssm::Physics known_physics(const Equations& e) {
  ssm::Physics physics{.formulas = e.formulas, .parameters = {}};
  for (const auto& list : {e.known, e.unknown}) {
    for (const auto& [name, value] : list) {
      physics.parameters.push_back({.name = name, .start = value, .known = true});
    }
  }
  return physics;
}

ssm::Physics unknown_physics(const Equations& e, std::uint64_t seed, std::uint32_t trial) {
  ssm::Physics physics{.formulas = e.formulas, .parameters = {}};
  for (const auto& [name, value] : e.known) {
    physics.parameters.push_back({.name = name, .start = value, .known = true});
  }
  RandomStream random(seed, Purpose::kPhysicsStart, trial);
  for (const auto& [name, value] : e.unknown) {
    const double factor = std::pow(kUnknownFactor, random.uniform(-1.0, 1.0));
    physics.parameters.push_back({.name = name, .start = value * factor, .factor = kUnknownFactor});
  }
  return physics;
}

}  // namespace

std::vector<std::string> knowledge_names() {
  return {"cyclic", "odd", "control-affine", "physics", "physics-without-friction", "physics-known"};
}

void declare_knowledge(const systems::System& system, const std::vector<std::string>& kinds, std::uint64_t seed,
                       std::uint32_t trial, ssm::ModelSpec& spec) {
  const std::vector<std::string> all = knowledge_names();
  for (const std::string& kind : kinds) {
    if (std::ranges::find(all, kind) == all.end()) {
      throw InputError("know: " + unknown_name_message("kind of knowledge", kind, all));
    }
  }
  const auto asked = [&](const char* kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
  const bool friction = asked("physics");
  const int physics =
      (friction ? 1 : 0) + (asked("physics-without-friction") ? 1 : 0) + (asked("physics-known") ? 1 : 0);
  if (physics > 1) {
    throw InputError("know: physics, physics-without-friction and physics-known exclude each other");
  }
  if (physics > 0 && asked("control-affine")) {
    throw InputError("know: physics and control-affine exclude each other: a formula is not affine over a step");
  }
  const std::string& name = system.spec().name;
  const Known known = known_of(name);
  spec.cyclic = asked("cyclic") ? known.cyclic : spec.cyclic;
  spec.odd = asked("odd") ? known.odd : spec.odd;
  spec.centres = asked("odd") && !known.odd.empty() ? known.centres : spec.centres;
  spec.control_affine = asked("control-affine") ? known.control_affine : spec.control_affine;
  if (asked("physics-known")) {
    spec.physics = known_physics(equations_of(system, true));
  } else if (physics > 0) {
    spec.physics = unknown_physics(equations_of(system, friction), seed, trial);
  }
}

std::vector<std::pair<std::string, double>> true_parameters(const systems::System& system, bool friction) {
  return equations_of(system, friction).unknown;
}

}  // namespace gpilot::trials
