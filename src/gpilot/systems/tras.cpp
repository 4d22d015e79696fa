#include "gpilot/systems/tras.hpp"

#include <cmath>
#include <initializer_list>

#include "gpilot/systems/parameter_fields.hpp"

namespace gpilot::systems {
namespace {

using P = TrasParameters;

constexpr Field<P> kTrasFields[] = {
    {"g", &P::g, "m/s^2", "gravity"},
    {"m_m", &P::m_m, "kg", "mass of the main part of the beam", Range::kPositive},
    {"m_mr", &P::m_mr, "kg", "mass of the main rotor", Range::kNonNegative},
    {"m_ms", &P::m_ms, "kg", "mass of the main rotor's shield", Range::kPositive},
    {"m_t", &P::m_t, "kg", "mass of the tail part of the beam", Range::kPositive},
    {"m_tr", &P::m_tr, "kg", "mass of the tail rotor", Range::kNonNegative},
    {"m_ts", &P::m_ts, "kg", "mass of the tail rotor's shield", Range::kPositive},
    {"m_b", &P::m_b, "kg", "mass of the counter-weight's beam", Range::kNonNegative},
    {"m_cb", &P::m_cb, "kg", "mass of the counter-weight", Range::kNonNegative},
    {"l_m", &P::l_m, "m", "length of the main part of the beam", Range::kPositive},
    {"l_t", &P::l_t, "m", "length of the tail part of the beam", Range::kPositive},
    {"l_b", &P::l_b, "m", "length of the counter-weight's beam", Range::kNonNegative},
    {"l_cb", &P::l_cb, "m", "distance of the counter-weight from the joint", Range::kNonNegative},
    {"r_ms", &P::r_ms, "m", "radius of the main shield", Range::kPositive},
    {"r_ts", &P::r_ts, "m", "radius of the tail shield", Range::kPositive},
    {"k_fv", &P::k_fv, "N m s/rad", "friction of pitch", Range::kNonNegative},
    {"k_fh", &P::k_fh, "N m s/rad", "friction of azimuth", Range::kNonNegative},
    {"k_hv", &P::k_hv, "N m", "moment of the tail rotor's control on pitch"},
    {"k_vh", &P::k_vh, "N m", "moment of the main rotor's control on azimuth"},
    {"a_1", &P::a_1, "N m s/(rad rpm)", "damping of pitch by the main rotor", Range::kNonNegative},
    {"a_2", &P::a_2, "N m s/(rad rpm)", "damping of azimuth by the tail rotor", Range::kNonNegative},
    {"thrust_v", &P::thrust_v, "", "factor of the main rotor's thrust"},
    {"thrust_h", &P::thrust_h, "", "factor of the tail rotor's thrust"},
};

SystemSpec tras_spec(Variant variant) {
  return {
      .name = "tras",
      .summary = "a twin-rotor aerodynamical system driven by two voltages, pitch and azimuth observed",
      .states = {{"a_v", "rad"}, {"a_v_dot", "rad/s"}, {"a_h", "rad"}, {"a_h_dot", "rad/s"}},
      .controls = {{"c_v", ""}, {"c_h", ""}},
      .outputs = {{"y_a_v", "rad"}, {"y_a_h", "rad"}},
      .dt = 0.2,
      // The printed damping of azimuth is stiff: Runge-Kutta 4 is unstable beyond steps of 1e-4 s.
      .substeps = variant == Variant::kPaper ? 2000 : 10,
      .control_box = {Vector{{0.0, -0.35}}, Vector{{0.5, 0.55}}},
      .x0_mean = Vector{{-1.158, 0.0, 0.0, 0.0}},
      .x0_sd = Vector::Constant(4, 0.05),
      .process_sd = Vector{{0.003, 0.01, 0.003, 0.01}},
      .output_sd = Vector{{0.01, 0.01}},
      .emission = Matrix{{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}},
      .region = {Vector{{-1.15, -0.72, -1.8, -0.7}}, Vector{{-0.36, 0.79, 1.1, 0.53}}},
      .derivatives = {{.velocity = 1, .position = 0}, {.velocity = 3, .position = 2}},
      .paper = {.kernel = "se", .initial_variance = 1.0, .initial_length_scale = 1.0, .epochs = 500},
  };
}

/// Horner's rule, highest power first.
double polynomial(std::initializer_list<double> coefficients, double x) {
  double value = 0.0;
  for (const double coefficient : coefficients) {
    value = value * x + coefficient;
  }
  return value;
}

/// Speeds (rpm) and thrusts (N) of the rotors as functions of the controls. In the paper two
/// coefficients have the other sign, and w_h has "- 3 + 10^2 c^2", a misprint of "+ 3 10^2 c^2".
struct Rotors {
  double w_v, w_h, F_v, F_h;

  Rotors(double c_v, double c_h, bool paper)
      : w_v(polynomial({-5.2e3, -1.1e2, 1.1e4, paper ? -1.3e2 : 1.3e2, -9.2e3, -31.0, 6.1e3, -4.5}, c_v)),
        w_h(paper ? polynomial({2.2e3, -1.7e2, -4.5e3, 1e2, 9.8e3, -3.0 - 9.2}, c_h)
                  : polynomial({2.2e3, -1.7e2, -4.5e3, 3e2, 9.8e3, -9.2}, c_h)),
        F_v(polynomial({-1.8e-18, -7.8e-16, 4.1e-11, 2.7e-8, 3.5e-5, -0.014}, w_v)),
        F_h(polynomial({-2.6e-20, 4.1e-17, 3.2e-12, -7.3e-9, 2.1e-5, paper ? -0.0091 : 0.0091}, w_h)) {}
};

/// The lumped moments (kg m) and inertias (kg m^2) of the class comment.
struct Lumped {
  double A, B, C, D, E, J_v, J_h_fixed;

  explicit Lumped(const P& p)
      : A((p.m_t / 2 + p.m_tr + p.m_ts) * p.l_t),
        B((p.m_m / 2 + p.m_mr + p.m_ms) * p.l_m),
        C(p.m_b / 2 * p.l_b + p.m_cb * p.l_cb),
        D((p.m_m / 3 + p.m_mr + p.m_ms) * p.l_m * p.l_m + (p.m_t / 3 + p.m_tr + p.m_ts) * p.l_t * p.l_t),
        E(p.m_b / 3 * p.l_b * p.l_b + p.m_cb * p.l_cb * p.l_cb),
        J_v(D + E + p.m_ms / 2 * p.r_ms * p.r_ms + p.m_ts * p.r_ts * p.r_ts),
        J_h_fixed(p.m_ms * p.r_ms * p.r_ms + p.m_ts / 2 * p.r_ts * p.r_ts) {}

  double J_h(double a_v) const {
    return D * std::cos(a_v) * std::cos(a_v) + E * std::sin(a_v) * std::sin(a_v) + J_h_fixed;
  }
};

/// The factor that the paper prints in place of D - E (its units do not match).
double printed_centrifugal_factor(const P& p) {
  return (p.m_m / 2 + p.m_mr + p.m_ms) + (p.m_t / 2 + p.m_tr + p.m_ts) + p.m_cb * p.l_cb + p.m_b / 2 * p.l_b;
}

}  // namespace

TrasParameters tras_parameters(Variant variant) {
  TrasParameters parameters;
  if (variant == Variant::kPaper) {
    parameters.a_1 = 0.001;
    parameters.a_2 = 0.01;
  }
  return parameters;
}

Tras::Tras(Variant variant) : Tras(variant, tras_parameters(variant)) {}

Tras::Tras(Variant variant, const TrasParameters& parameters)
    : OdeSystem(tras_spec(variant), variant), parameters_(parameters) {}

Tras::State Tras::rate(const State& x, const VectorRef& c) const {
  const P& p = parameters_;
  const auto& [a_v, a_v_dot, a_h, a_h_dot] = x;
  const bool paper = variant() == Variant::kPaper;
  const Lumped s(p);
  const Rotors rotors(c(0), c(1), paper);
  const double sin_v = std::sin(a_v);
  const double cos_v = std::cos(a_v);

  const double gravity = p.g * ((paper ? s.A + s.B : s.A - s.B) * cos_v - s.C * sin_v);
  const double centrifugal = (paper ? printed_centrifugal_factor(p) : s.D - s.E) * sin_v * cos_v * a_h_dot * a_h_dot;
  const double M_v = gravity + p.l_m * p.thrust_v * rotors.F_v - centrifugal - p.k_fv * a_v_dot - p.k_hv * c(1) -
                     p.a_1 * std::abs(rotors.w_v) * a_v_dot;

  const double inertia_change = paper ? 0.0 : 2.0 * (s.D - s.E) * sin_v * cos_v * a_v_dot * a_h_dot;
  const double M_h = p.l_t * p.thrust_h * rotors.F_h * cos_v + inertia_change - p.k_fh * a_h_dot + p.k_vh * c(0) -
                     p.a_2 * std::abs(rotors.w_h) * a_h_dot;
  return {a_v_dot, M_v / s.J_v, a_h_dot, M_h / s.J_h(a_v)};
}

double Tras::energy(const VectorRef& x) const {
  const Lumped s(parameters_);
  const double kinetic = 0.5 * s.J_v * x(1) * x(1) + 0.5 * s.J_h(x(0)) * x(3) * x(3);
  return kinetic - parameters_.g * ((s.A - s.B) * std::sin(x(0)) + s.C * std::cos(x(0)));
}

std::vector<Parameter> Tras::parameters() const {
  return list_parameters<P>(kTrasFields, parameters_);
}

bool Tras::assign_parameter(std::string_view name, double value) {
  return assign_field<P>(kTrasFields, parameters_, name, value);
}

}  // namespace gpilot::systems
