#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/inducing.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

/// A trained transition: p(L x' | x, c) with q(v) in place of f. Scaled units.
class Transition {
 public:
  Transition(Structure structure, Parameters parameters, std::vector<gp::Weights> weights);

  const Structure& structure() const { return structure_; }
  const Parameters& parameters() const { return parameters_; }
  const std::vector<gp::Weights>& weights() const { return weights_; }
  const std::vector<gp::InducingBasis>& bases() const { return bases_; }
  const std::vector<Index>& row_states() const { return rows_; }
  const Matrix& left_inverse() const { return L_inverse_; }
  /// Variance of the noise of each row of L x' [D]; 0 for shift rows.
  const Vector& process_variance() const { return process_variance_; }

  /// (J + W_x, W_c, W_1) [D x D + P + 1]: the derivatives of mean_part(), physics apart.
  const Matrix& linear_slope() const { return slope_; }
  /// The part of L x' that is no GP: J x + W (x, c, 1) + m(x, c), for the rows of X [N x I]; result [N x D].
  Matrix mean_part(MatrixRef X) const;
  /// Adds the derivatives of m in the last inputs to slopes[g], those of GP row g [N x so many].
  void add_physics_slopes(MatrixRef X, std::vector<Matrix>& slopes) const;
  /// Mean and variance (of the function alone, Q apart) of L x' at the rows of X [N x I]; both [N x D].
  void moments(MatrixRef X, Matrix& mean, Matrix& variance) const;
  /// The same with the derivatives of both in each control: element p of a slope is [N x D].
  void moments(MatrixRef X, Matrix& mean, Matrix& variance, std::vector<Matrix>& mean_slope,
               std::vector<Matrix>& variance_slope) const;
  /// Covariance of the process noise of x': L^-1 diag(q) L^-T.
  Matrix process_covariance() const;

 private:
  Structure structure_;
  Parameters parameters_;
  std::vector<gp::Weights> weights_;
  std::vector<gp::InducingBasis> bases_;
  std::vector<Index> rows_;
  Matrix L_inverse_;  ///< [D x D]
  Vector process_variance_;
  Matrix slope_;  ///< [D x D + P + 1]
};

/// N(mean, covariance) of a state.
struct StateBelief {
  Vector mean;        ///< [D]
  Matrix covariance;  ///< [D x D]
};

/// Assumed-density filtering: prediction by moment matching over nodes, update by the exact Kalman step.
class Filter {
 public:
  Filter(const Transition& transition, gp::Nodes nodes);

  /// p(x_0) of the model, or the broad prior of a sequence that may begin anywhere.
  StateBelief initial(bool broad = false) const;
  /// x_t -> x_{t+1} under a control.
  StateBelief predict(const StateBelief& belief, VectorRef control) const;
  /// Conditions on the outputs that are not NaN; returns their log density under the belief (0 when none is there). An
  /// output that is an angle counts by its turn nearest to the belief's mean.
  double update(StateBelief& belief, VectorRef y) const;
  /// Mean and variance of each output under a belief, output noise included.
  void outputs(const StateBelief& belief, Vector& mean, Vector& variance) const;
  const Transition& transition() const { return transition_; }
  /// A full turn of each output that is an angle, 0 for all others [E].
  const Vector& turns() const { return turns_; }

 private:
  const Transition& transition_;
  gp::Nodes nodes_;
  Vector turns_;
};

}  // namespace gpilot::ssm
