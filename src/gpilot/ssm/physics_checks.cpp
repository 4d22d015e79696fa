#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "gpilot/core/suggest.hpp"
#include "gpilot/physics/units.hpp"
#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/knowledge.hpp"
#include "gpilot/ssm/physics_mean.hpp"

namespace gpilot::ssm {

std::string_view name(Integration integration) {
  switch (integration) {
    case Integration::kRk4:
      return "rk4";
    case Integration::kTrapezoid:
      return "trapezoid";
    case Integration::kNext:
      return "next";
  }
  return "";
}

Integration integration_from_name(std::string_view text) {
  for (const Integration integration : {Integration::kRk4, Integration::kTrapezoid, Integration::kNext}) {
    if (text == name(integration)) {
      return integration;
    }
  }
  throw InputError(fmt::format("unknown integration '{}': expected rk4, trapezoid or next", text));
}

std::vector<std::string> formula_names(const ModelSpec& spec) {
  std::vector<std::string> names = spec.states;
  names.insert(names.end(), spec.inputs.begin(), spec.inputs.end());
  for (const PhysicsParameter& p : spec.physics.parameters) {
    names.push_back(p.name);
  }
  return names;
}

namespace {

constexpr const char* kParameters = "physics.parameters";
constexpr const char* kPhysics = "physics";

bool is_word(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

void check_prior(const PhysicsParameter& p) {
  const auto fail = [&](const std::string& reason) { throw KnowledgeError(kParameters, p.name, reason); };
  if (!std::isfinite(p.start)) {
    fail("expected a start, a finite number");
  }
  const bool sd = !std::isnan(p.sd);
  const bool factor = !std::isnan(p.factor);
  const bool bounds = !std::isnan(p.low) || !std::isnan(p.high);
  if (p.known) {
    if (sd || factor || bounds) {
      fail("is known, so that it needs neither sd, factor nor bounds");
    }
    return;
  }
  if (int{sd} + int{factor} + int{bounds} != 1) {
    fail(sd || factor || bounds
             ? "expected one of sd, factor, or low and high"
             : "nothing bounds it: expected sd (of a normal prior around the start), factor (a positive parameter is "
               "within this factor of its start with 95 %), or low and high; a known parameter is a number alone");
  }
  if (sd && !(p.sd > 0.0 && std::isfinite(p.sd))) {
    fail(fmt::format("sd: {} is not a positive number", p.sd));
  }
  if (factor && !(p.factor > 1.0 && std::isfinite(p.factor))) {
    fail(fmt::format("factor: {} is not a number above 1", p.factor));
  }
  if (factor && p.start == 0.0) {
    fail("start: 0 has no factor; expected another start, or sd");
  }
  if (bounds && !(p.low < p.start && p.start < p.high && std::isfinite(p.low) && std::isfinite(p.high))) {
    fail(fmt::format("expected low < start < high, not {}, {}, {}", p.low, p.start, p.high));
  }
}

void check_parameters(const ModelSpec& spec) {
  const std::vector<std::string> functions = physics::function_names();
  const std::vector<std::string> names = formula_names(spec);
  for (const PhysicsParameter& p : spec.physics.parameters) {
    if (!is_word(p.name) || p.name == "pi" || std::ranges::find(functions, p.name) != functions.end()) {
      throw KnowledgeError(kParameters, p.name,
                           "expected a name of letters, digits and _ that is not that of a function or pi");
    }
    if (std::ranges::count(names, p.name) != 1) {
      throw KnowledgeError(kParameters, p.name, "is named twice, or has the name of a state or input");
    }
    check_prior(p);
    if (!p.unit.empty()) {
      try {
        physics::parse_unit(p.unit);
      } catch (const physics::FormulaError& error) {
        throw KnowledgeError(kParameters, p.name, error.what());
      }
    }
  }
}

/// Where a model is used: the declared start or the middle of the range, else 0.
std::vector<double> typical_values(const ModelSpec& spec) {
  std::vector<double> values;
  const auto add = [&](const std::string& column, double start) {
    const Range* range = range_of(spec, column);
    values.push_back(!std::isnan(start) ? start : range != nullptr ? 0.5 * (range->low + range->high) : 0.0);
  };
  for (std::size_t d = 0; d < spec.states.size(); ++d) {
    const auto i = static_cast<Index>(d);
    add(spec.states[d], given(spec.x0_mean, i) ? spec.x0_mean(i) : std::nan(""));
  }
  for (const std::string& input : spec.inputs) {
    add(input, std::nan(""));
  }
  for (const PhysicsParameter& p : spec.physics.parameters) {
    values.push_back(p.start);
  }
  return values;
}

/// Units of states, inputs and parameters, where they are known; a derivative has its state's over s.
std::vector<std::optional<physics::Unit>> units_of(const ModelSpec& spec) {
  std::vector<std::optional<physics::Unit>> units;
  const auto declared = [&](const std::string& column) -> std::optional<physics::Unit> {
    for (const auto& [name, unit] : spec.physics.units) {
      if (name == column) {
        return physics::known_unit(unit);
      }
    }
    return {};
  };
  for (const std::string& state : spec.states) {
    units.push_back(declared(state));
  }
  for (std::size_t round = 0; round < spec.derivatives.size(); ++round) {
    for (const DerivativeOf& k : spec.derivatives) {
      const auto& position = units[static_cast<std::size_t>(k.position)];
      auto& velocity = units[static_cast<std::size_t>(k.velocity)];
      if (position && !velocity) {
        velocity = physics::product(*position, physics::parse_unit("s"), -1.0);
      }
    }
  }
  for (const std::string& input : spec.inputs) {
    units.push_back(declared(input));
  }
  for (const PhysicsParameter& p : spec.physics.parameters) {
    units.push_back(p.unit.empty() ? std::nullopt : std::optional(physics::parse_unit(p.unit)));
  }
  return units;
}

void check_unit(const ModelSpec& spec, const Formula& formula, const physics::Expression& expression) {
  const auto units = units_of(spec);
  const std::optional<physics::Unit> found = physics::unit_of(expression, units);
  const std::optional<physics::Unit> state =
      units[static_cast<std::size_t>(std::ranges::find(spec.states, formula.state) - spec.states.begin())];
  if (!found || !state) {
    return;
  }
  const bool rate = spec.physics.integration != Integration::kNext;
  const physics::Unit expected = rate ? physics::product(*state, physics::parse_unit("s"), -1.0) : *state;
  if (!(*found == expected)) {
    throw physics::FormulaError(
        fmt::format("the formula has the unit '{}', expected '{}'", format_unit(*found), format_unit(expected)),
        formula.text, expression.root().position);
  }
}

/// What is declared about the function beside the formula must hold for the formula, too.
void check_dependence(const ModelSpec& spec, const Formula& formula, const std::vector<std::string>& used) {
  const auto depends = std::ranges::find(spec.depends_on, formula.state, &DependsOn::state);
  for (const std::string& name : used) {
    if (std::ranges::find(spec.cyclic, name) != spec.cyclic.end()) {
      throw KnowledgeError(kPhysics, formula.state,
                           fmt::format("the formula depends on '{}', which is declared cyclic", name));
    }
    if (depends != spec.depends_on.end() && std::ranges::find(depends->names, name) == depends->names.end()) {
      throw KnowledgeError(kPhysics, formula.state,
                           fmt::format("the formula depends on '{}', which depends_on does not name", name));
    }
  }
}

/// f(-x) = -f(x) about the centres, at points around them.
void check_odd_formula(const ModelSpec& spec, const Formula& formula, const physics::Expression& expression) {
  if (std::ranges::find(spec.odd, formula.state) == spec.odd.end()) {
    return;
  }
  constexpr int kPoints = 8;
  const std::size_t inputs = spec.states.size() + spec.inputs.size();
  const std::vector<double> typical = typical_values(spec);
  const std::vector<std::string> names = formula_names(spec);
  for (int n = 0; n < kPoints; ++n) {
    std::vector<physics::Dual> right;
    std::vector<physics::Dual> left;
    for (std::size_t i = 0; i < typical.size(); ++i) {
      const auto centre = std::ranges::find(spec.centres, names[i], &Centre::name);
      const double middle = centre == spec.centres.end() ? 0.0 : centre->value;
      const double away = 0.7 * std::sin(1.0 + 2.3 * static_cast<double>(i) + 1.7 * n);
      right.push_back(physics::Dual::number(i < inputs ? middle + away : typical[i]));
      left.push_back(physics::Dual::number(i < inputs ? middle - away : typical[i]));
    }
    const double a = expression.evaluate(right).v(0);
    const double b = expression.evaluate(left).v(0);
    if (std::abs(a + b) > 1e-9 * (std::abs(a) + std::abs(b)) + 1e-12) {
      throw KnowledgeError(kPhysics, formula.state,
                           "the formula is not odd about the centres, as symmetry = \"odd\" says of this state");
    }
  }
}

void check_formula(const ModelSpec& spec, const Formula& formula, std::vector<bool>& in_use) {
  const std::vector<std::string> names = formula_names(spec);
  try {
    const physics::Expression expression(formula.text, names);
    std::vector<std::string> inputs;
    for (const std::size_t i : expression.used()) {
      in_use[i] = true;
      if (i < spec.states.size() + spec.inputs.size()) {
        inputs.push_back(names[i]);
      }
    }
    expression.check_finite(typical_values(spec), "where training starts");
    check_unit(spec, formula, expression);
    check_dependence(spec, formula, inputs);
    check_odd_formula(spec, formula, expression);
  } catch (const physics::FormulaError& error) {
    throw KnowledgeError(kPhysics, formula.state, error.what());
  }
}

void check_formula_state(const ModelSpec& spec, const std::string& state, std::vector<std::string>& seen) {
  if (std::ranges::find(spec.states, state) == spec.states.end()) {
    throw KnowledgeError(kPhysics, state, unknown_name_message("state", state, spec.states));
  }
  if (std::ranges::find(seen, state) != seen.end()) {
    throw KnowledgeError(kPhysics, state, fmt::format("'{}' is given two formulas", state));
  }
  seen.push_back(state);
  for (const DerivativeOf& k : spec.derivatives) {
    if (spec.states[static_cast<std::size_t>(k.position)] == state) {
      throw KnowledgeError(kPhysics, state,
                           fmt::format("'{}' has the declared derivative '{}', which is its rate of change; expected "
                                       "formulas of other states",
                                       state, spec.states[static_cast<std::size_t>(k.velocity)]));
    }
  }
}

/// A function is finite where training starts, as a formula must be.
void check_function(const ModelSpec& spec) {
  const std::vector<double> typical = typical_values(spec);
  const auto D = static_cast<Index>(spec.states.size());
  const auto P = static_cast<Index>(spec.inputs.size());
  const Vector values = Eigen::Map<const Vector>(typical.data(), static_cast<Index>(typical.size()));
  const Matrix rates = checked_function(spec.physics)(values.head(D).transpose(), values.segment(D, P).transpose(),
                                                      values.tail(values.size() - D - P), nullptr);
  for (Index k = 0; k < rates.cols(); ++k) {
    if (!std::isfinite(rates(0, k))) {
      throw KnowledgeError(kPhysics, spec.physics.function_states[static_cast<std::size_t>(k)],
                           fmt::format("the function gives {} where training starts", rates(0, k)));
    }
  }
}

/// A point within the declared ranges of states and inputs, the same for the same n; others have their typical values.
std::vector<double> point_in_range(const ModelSpec& spec, int n) {
  constexpr double kGolden = 0.6180339887498949;
  constexpr double kMargin = 0.01;  // formulas may end where a range does, as the root of a level that is never below 0
  std::vector<double> values = typical_values(spec);
  const std::vector<std::string> names = formula_names(spec);
  for (std::size_t i = 0; i < spec.states.size() + spec.inputs.size(); ++i) {
    if (const Range* range = range_of(spec, names[i]); range != nullptr) {
      const double turns = 0.5 + n * std::fmod(kGolden * static_cast<double>(i + 1), 1.0);
      const double share = kMargin + (1.0 - 2.0 * kMargin) * (turns - std::floor(turns));
      values[i] = range->low + share * (range->high - range->low);
    }
  }
  return values;
}

/// "x = -2.4, u = 1" of the names that a formula uses.
std::string where_words(const ModelSpec& spec, const physics::Expression& expression,
                        const std::vector<double>& values) {
  const std::vector<std::string> names = formula_names(spec);
  std::vector<std::string> words;
  for (const std::size_t i : expression.used()) {
    if (i < spec.states.size() + spec.inputs.size()) {
      words.push_back(fmt::format("{} = {:.3g}", names[i], values[i]));
    }
  }
  return fmt::format("at {}, within the declared ranges", fmt::join(words, ", "));
}

}  // namespace

std::vector<std::string> physics_notes(const ModelSpec& spec) {
  constexpr int kPoints = 64;  // what is undefined in a few per cent of the ranges is found
  std::vector<std::string> notes;
  for (const Formula& formula : spec.physics.formulas) {
    const physics::Expression expression(formula.text, formula_names(spec));
    try {
      for (int n = 0; n < kPoints; ++n) {
        const std::vector<double> values = point_in_range(spec, n);
        expression.check_finite(values, where_words(spec, expression, values));
      }
    } catch (const physics::FormulaError& error) {
      notes.push_back(
          fmt::format("{}.{}: no training can succeed with such data: {}", kPhysics, formula.state, error.what()));
    }
  }
  for (const auto& [column, unit] : spec.physics.units) {
    if (!spec.physics.formulas.empty() && !unit.empty() && !physics::known_unit(unit)) {
      notes.push_back(
          fmt::format("{}: '{}', the unit of {}, is none of the SI's: units of formulas with it are not checked",
                      kPhysics, unit, column));
    }
  }
  return notes;
}

void check_physics(const ModelSpec& spec) {
  const Physics& physics = spec.physics;
  if (physics.empty()) {
    if (!physics.parameters.empty()) {
      throw KnowledgeError(kParameters, physics.parameters.front().name, "there is no formula");
    }
    return;
  }
  if (physics.function && !physics.formulas.empty()) {
    throw KnowledgeError(kPhysics, "", "both formulas and a function are given; expected one of the two");
  }
  if (spec.mean != MeanKind::kIdentity) {
    throw KnowledgeError(kPhysics, "",
                         fmt::format("goes with the mean function identity, not with {}", name(spec.mean)));
  }
  check_parameters(spec);
  std::vector<std::string> seen;
  for (const std::string& state : physics.function_states) {
    check_formula_state(spec, state, seen);
  }
  if (physics.function) {
    if (physics.function_states.empty()) {
      throw KnowledgeError(kPhysics, "", "a function without states; expected the names of those that it describes");
    }
    check_function(spec);
    return;
  }
  std::vector<bool> in_use(formula_names(spec).size(), false);
  for (const Formula& formula : physics.formulas) {
    check_formula_state(spec, formula.state, seen);
    check_formula(spec, formula, in_use);
  }
  const std::size_t first = spec.states.size() + spec.inputs.size();
  for (std::size_t k = 0; k < physics.parameters.size(); ++k) {
    if (!in_use[first + k]) {
      throw KnowledgeError(kParameters, physics.parameters[k].name, "no formula names it");
    }
  }
}

}  // namespace gpilot::ssm
