#pragma once

#include "gpilot/core/types.hpp"

namespace gpilot::linalg {

/// The left half of A = U diag(values) V^T, the largest value first.
struct LeftSingular {
  explicit LeftSingular(MatrixRef A);

  Vector values;
  Matrix U;  ///< orthonormal columns, as many as values
};

}  // namespace gpilot::linalg
