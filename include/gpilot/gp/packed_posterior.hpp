#pragma once

#include "gpilot/gp/inducing.hpp"
#include "gpilot/types.hpp"

namespace gpilot::gp {

/// The posterior of a sparse GP, folded for many predictions. With the plain features phi(x) = (k(x, Z), x, 1), x
/// embedded, the whitened ones are a = B phi, and with the eigenvectors of what the data changed, diag(I, 0) - Sigma =
/// U diag(l) U^T,
///
///   mean f = phi^T (B^T mu),   var f = sigma^2 - sum_j l_j (phi^T B^T U)_j^2:
///
/// one matrix product instead of the two of InducingBasis::predict, and a narrow one while there are few data, since
/// directions that no data touched have l_j = 0 and are left out. Agrees with it to rounding.
class PackedPosterior {
 public:
  PackedPosterior(const InducingBasis& basis, const Weights& q);

  /// Mean and variance of f at the rows of X [N x I].
  void predict(MatrixRef X, Eigen::Ref<Vector> mean, Eigen::Ref<Vector> variance) const;

  /// How many directions of the weights the variance needs.
  Index directions() const { return eigenvalues_.size(); }

 private:
  kernels::Kind kind_;
  double variance_;
  kernels::Angles angles_;
  Vector inverse_length_scales_;  ///< [I_e]
  Matrix Zs_;                     ///< [M x I_e], embedded and divided by the length scales
  bool linear_;
  Matrix folded_;       ///< [M_a x r + 1], B^T U and, last, B^T mu
  Vector eigenvalues_;  ///< [r]
};

}  // namespace gpilot::gp
