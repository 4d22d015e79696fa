#pragma once

#include "gpilot/core/types.hpp"

namespace gpilot::linalg {

/// A = V diag(values) V^T of a symmetric matrix (its lower triangle is read), the smallest value first. Every source
/// that names Eigen's own solver takes ten seconds more to compile, so it stands in one.
struct SymmetricEigen {
  explicit SymmetricEigen(MatrixRef A);

  Vector values;
  Matrix vectors;  ///< in columns, orthonormal
};

}  // namespace gpilot::linalg
