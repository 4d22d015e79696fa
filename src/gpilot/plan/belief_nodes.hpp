#pragma once

#include <vector>

#include "gpilot/plan/criterion.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::plan {

/// The nodes of a belief as inputs of the transition [J x I]; the columns of the controls are left at 0.
Matrix belief_nodes(const DecisionContext& context, const ssm::StateBelief& belief);

/// Writes a control into the last columns of every row.
inline void set_control(Matrix& X, VectorRef control) {
  X.rightCols(control.size()).rowwise() = control.transpose();
}

/// Moments of L x' at nodes under one control, as Transition::moments gives them; the slopes are empty if not asked
/// for.
struct NodeMoments {
  Matrix mean, variance;                           ///< [J x D]
  std::vector<Matrix> mean_slope, variance_slope;  ///< [P] of [J x D]
};
NodeMoments node_moments(const ssm::Transition& transition, Matrix nodes, VectorRef control, bool slopes);

/// R + C Q C^T [E x E]: the covariance of y' given f.
Matrix output_noise(const ssm::Parameters& p, const Matrix& Q);

/// The process variances of x' [D], taken as independent: what the total information is measured by. A declared
/// position shares its velocity's noise, and with that correlation the criterion rewards acceleration alone and holds
/// the system at rest (docs/decisions/total-information-noise.md).
Vector independent_process_variances(const ssm::Transition& transition);

}  // namespace gpilot::plan
