#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/node_rule.hpp"
#include "gpilot/kernels/kind.hpp"

namespace gpilot::ssm {

/// What the transition is before anything is learned: nothing, "nothing moves", or a learned linear map.
enum class MeanKind { kZero, kIdentity, kLinear };

/// "zero", "identity", "linear".
std::string_view name(MeanKind kind);
/// Throws InputError listing the valid names.
MeanKind mean_from_name(std::string_view text);

/// A declared range of a column, in user units.
struct Range {
  std::string name;
  double low = 0.0;
  double high = 1.0;

  bool operator==(const Range&) const = default;
};

/// State `velocity` is the time derivative of state `position` (indices of states).
struct DerivativeOf {
  Index velocity = 0;
  Index position = 0;

  bool operator==(const DerivativeOf&) const = default;
};

/// What the function of a state may depend on: names of states and inputs.
struct DependsOn {
  std::string state;
  std::vector<std::string> names;

  bool operator==(const DependsOn&) const = default;
};

/// x'_state = .. + value * name: a weight of the next value that is known, per step and in user units. The input enters
/// in no other way.
struct Coefficient {
  std::string state;
  std::string name;
  double value = 0.0;

  bool operator==(const Coefficient&) const = default;
};

/// The value of a state or input about which functions are odd; 0 where it is not given.
struct Centre {
  std::string name;
  double value = 0.0;

  bool operator==(const Centre&) const = default;
};

/// A number in formulas: known, or learned with a prior. Of a learned one exactly one is given: `sd` (normal around the
/// start), `factor` (log-normal: within this factor of the start with 95 %), or both `low` and `high` (anything between
/// them alike).
struct PhysicsParameter {
  std::string name;
  double start = kNaN;
  bool known = false;
  double sd = kNaN;
  double factor = kNaN;
  double low = kNaN;
  double high = kNaN;
  std::string unit = {};  ///< such as "N m s"; "" = not checked
};

/// The rate of change of a state, or its next value.
struct Formula {
  std::string state;
  std::string text;

  bool operator==(const Formula&) const = default;
};

/// How rates become a step of dt: by one step of Runge-Kutta or of the trapezoidal rule (Heun's). With kNext formulas
/// are next values.
enum class Integration { kRk4, kTrapezoid, kNext };

/// "rk4", "trapezoid", "next".
std::string_view name(Integration integration);
/// Throws InputError listing the valid names.
Integration integration_from_name(std::string_view text);

/// An equation of motion with unknown parameters: the mean of some states' functions. The Gaussian process learns what
/// it leaves out.
struct Physics {
  std::vector<Formula> formulas;
  std::vector<PhysicsParameter> parameters;
  Integration integration = Integration::kRk4;
  /// Units of states and inputs that formulas name, for checks; those that are not given are not checked.
  std::vector<std::pair<std::string, std::string>> units = {};
  /// In C++, instead of formulas: the rates (or next values) of `function_states`, from all states [D], inputs [P] and
  /// parameters in their order, user units. A model with one cannot be saved.
  std::function<Vector(VectorRef states, VectorRef inputs, VectorRef parameters)> function = nullptr;
  std::vector<std::string> function_states = {};

  bool empty() const { return formulas.empty() && !function; }
};

/// What the user declares about a model, in user units. An entry that is NaN is "not given".
struct ModelSpec {
  std::vector<std::string> inputs;   ///< P names
  std::vector<std::string> outputs;  ///< E names
  std::vector<std::string> states;   ///< D names
  double dt = 1.0;                   ///< seconds between rows
  kernels::Kind kernel = kernels::Kind::kSquaredExponential;
  bool linear_kernel = true;
  MeanKind mean = MeanKind::kIdentity;
  Index inducing = 20;
  std::vector<DerivativeOf> derivatives;
  std::vector<std::string> angles;  ///< states that are angles, in radians
  Vector x0_mean;                   ///< [D] or empty
  Vector x0_sd;                     ///< [D] or empty
  Matrix C;                         ///< [E x D] or empty for [I 0]
  Vector d;                         ///< [E] or empty for 0
  bool learn_C = false;
  bool learn_d = false;
  Vector output_sd;   ///< [E] fixed noise, or empty / NaN to learn
  Vector process_sd;  ///< [D] fixed noise, or empty / NaN to learn
  std::vector<Range> ranges;
  gp::NodeRule nodes = gp::NodeRule::kAuto;
  Index node_points = 0;
  // What is known about the functions (docs/knowledge.md).
  std::vector<std::string> cyclic;          ///< states that no function depends on
  std::vector<DependsOn> depends_on;        ///< of states whose function depends on some names alone
  std::vector<std::string> odd;             ///< states whose function is odd about the centres
  std::vector<Centre> centres;              ///< of odd functions
  std::vector<std::string> control_affine;  ///< states whose function is affine in the controls
  std::vector<Coefficient> coefficients;    ///< known weights
  Physics physics;

  /// Throws InputError naming the field.
  void validate() const;
  /// A full turn of each output [E] that measures an angle and nothing else, in its units; 0 for all others.
  Vector turns() const;
};

}  // namespace gpilot::ssm
