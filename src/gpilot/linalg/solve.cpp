#include "gpilot/linalg/solve.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace gpilot::linalg {

Vector solve_symmetric(MatrixRef A, VectorRef b) {
  return Eigen::LDLT<Matrix>(A).solve(b);
}

Matrix inverse(MatrixRef A) {
  return A.inverse();
}

}  // namespace gpilot::linalg
