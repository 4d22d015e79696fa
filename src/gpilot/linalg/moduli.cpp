#include <Eigen/LU>
#include <algorithm>
#include <complex>

#include "gpilot/linalg/eigenvalues.hpp"

namespace gpilot::linalg {

Matrix with_moduli_at_most(MatrixRef A, double radius) {
  GeneralEigen eigen(A, true);
  for (Index i = 0; i < eigen.values.size(); ++i) {
    eigen.values(i) *= std::min(1.0, radius / std::abs(eigen.values(i)));
  }
  const Eigen::MatrixXcd& V = eigen.vectors;
  return (V * eigen.values.asDiagonal() * V.inverse()).real();
}

}  // namespace gpilot::linalg
