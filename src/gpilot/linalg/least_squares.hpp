#pragma once

#include "gpilot/core/types.hpp"

namespace gpilot::linalg {

/// The X that minimises |A X - B|, by a QR decomposition with column pivoting.
Matrix least_squares(MatrixRef A, MatrixRef B);

/// R of A = Q R, for A with at least as many rows as columns: upper triangular and square.
Matrix upper_factor(MatrixRef A);

}  // namespace gpilot::linalg
