#include "gpilot/linalg/eigenvalues.hpp"

#include <Eigen/Eigenvalues>

namespace gpilot::linalg {

GeneralEigen::GeneralEigen(MatrixRef A, bool with_vectors) {
  const Eigen::EigenSolver<Matrix> eigen(A, with_vectors);
  values = eigen.eigenvalues();
  if (with_vectors) {
    vectors = eigen.eigenvectors();
  }
}

double spectral_radius(MatrixRef A) {
  return GeneralEigen(A, false).values.cwiseAbs().maxCoeff();
}

}  // namespace gpilot::linalg
