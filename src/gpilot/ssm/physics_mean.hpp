#pragma once

#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/physics/program.hpp"
#include "gpilot/ssm/rates_function.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::ssm {

/// Declared physics (docs/math/model.md#physics): what formulas with unknown parameters say about the step of some
/// states, beyond the identity, in scaled units. States without a formula move with their declared derivative within
/// the step, or are held. Learned parameters stand as numbers eta that are standard normal a priori.
class PhysicsMean {
 public:
  /// The spec is valid and has physics.
  PhysicsMean(const ModelSpec& spec, const Scaling& scaling);

  /// The states that have a formula, in order.
  const std::vector<Index>& rows() const { return rows_; }
  /// How many parameters are learned.
  Index parameters() const { return static_cast<Index>(learned_.size()); }
  /// eta where training begins.
  Vector start() const;
  /// Learned parameter k at eta, in its units, and its derivative.
  double natural(Index k, double eta) const;
  double natural_slope(Index k, double eta) const;
  const PhysicsParameter& parameter(Index k) const;

  /// m at the rows of X [N x I], scaled, for each of rows() [N x rows].
  Matrix evaluate(MatrixRef X, VectorRef eta) const;
  /// Its derivatives, an element each for rows(): in the inputs [N x I] and in eta [N x parameters]. Returns m, too.
  /// Without `of_controls` those in the controls are left at 0, which spares work where much depends on them alone.
  Matrix evaluate(MatrixRef X, VectorRef eta, std::vector<Matrix>& slopes, std::vector<Matrix>& parameter_slopes,
                  bool of_controls = true) const;

 private:
  using Duals = std::vector<physics::Dual>;

  Matrix evaluate(MatrixRef X, VectorRef eta, std::vector<Matrix>* in_inputs, std::vector<Matrix>* in_eta,
                  bool of_controls) const;
  /// Rates (or next values) of all states, where `values` are states, controls, parameters.
  Duals rates(const Duals& values) const;
  Duals step(const Duals& values) const;
  Duals function_rates(const Duals& values) const;
  /// Central differences of the function in its variable i: states, controls, parameters.
  Matrix function_differences(Matrix x, Vector parameters, Index i) const;

  Physics physics_;
  Index states_, controls_;
  double dt_;
  Vector offset_, scale_;  ///< [I]
  std::vector<Index> rows_;
  std::vector<Index> velocity_;   ///< [D] the state's derivative, or -1
  physics::Program formulas_;     ///< a value for each of the rows, or empty with a function
  RatesFunction::Rows function_;  ///< or empty
  std::vector<Index> learned_;    ///< which of all parameters
};

/// Names that formulas may use: states, inputs, parameters.
std::vector<std::string> formula_names(const ModelSpec& spec);

/// Throws InputError that names the formula or parameter and the place in its text.
void check_physics(const ModelSpec& spec);

/// What is allowed but will hurt: formulas that have no value somewhere within the declared ranges, and columns whose
/// unit is unknown, so that formulas with them are not checked.
std::vector<std::string> physics_notes(const ModelSpec& spec);

}  // namespace gpilot::ssm
