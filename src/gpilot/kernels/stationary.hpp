#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/kind.hpp"

namespace gpilot::kernels {

using MatrixOut = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;

/// r^2 between the rows of Xs [N x I] and of Zs [M x I], both already divided by the length scales; R2 is [N x M].
void squared_distances(const Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>& Xs, MatrixRef Zs, MatrixOut R2);

/// Turns squared distances into K = variance phi(r^2), in place. When `slope` is not null it receives dk/d(r^2), which
/// is all that gradients in inputs and length scales need.
/// (Matern-1/2 has no derivative at r = 0; its slope there is taken as 0, the mean of both sides.)
void apply_profile(Kind kind, double variance, MatrixOut K, MatrixOut* slope);

/// K(X, Z) with the given length scales; allocates, for use outside hot loops.
Matrix gram(Kind kind, double variance, VectorRef length_scales, MatrixRef X, MatrixRef Z);

}  // namespace gpilot::kernels
