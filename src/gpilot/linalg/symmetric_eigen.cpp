#include "gpilot/linalg/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace gpilot::linalg {

SymmetricEigen::SymmetricEigen(MatrixRef A) {
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(A);
  values = eigen.eigenvalues();
  vectors = eigen.eigenvectors();
}

}  // namespace gpilot::linalg
