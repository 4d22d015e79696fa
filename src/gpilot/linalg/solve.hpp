#pragma once

#include "gpilot/core/types.hpp"

namespace gpilot::linalg {

/// A^-1 b of a symmetric matrix, by L D L^T. Not finite where A is singular.
Vector solve_symmetric(MatrixRef A, VectorRef b);

/// A^-1 of a square matrix.
Matrix inverse(MatrixRef A);

}  // namespace gpilot::linalg
