#pragma once

#include "gpilot/acquisition/criterion.hpp"

namespace gpilot::acquisition {

/// The nodes of a belief as inputs of the transition [J x I]; the columns of the controls are left at 0.
Matrix belief_nodes(const Situation& situation, const ssm::StateBelief& belief);

/// Writes a control into the last columns of every row.
inline void set_control(Matrix& X, VectorRef control) {
  X.rightCols(control.size()).rowwise() = control.transpose();
}

/// R + C Q C^T [E x E]: the covariance of y' given f.
Matrix output_noise(const ssm::Parameters& p, const Matrix& Q);

/// The process variances of x' [D], taken as independent: what the total information is measured by. A declared
/// position shares its velocity's noise, and with that correlation the criterion rewards acceleration alone and holds
/// the system at rest (docs/decisions/total-information-noise.md).
Vector independent_process_variances(const ssm::Transition& transition);

}  // namespace gpilot::acquisition
