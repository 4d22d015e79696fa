#include "gpilot/linalg/singular.hpp"

#include <Eigen/SVD>

namespace gpilot::linalg {

LeftSingular::LeftSingular(MatrixRef A) {
  const Eigen::JacobiSVD<Matrix> svd(A, Eigen::ComputeThinU);
  values = svd.singularValues();
  U = svd.matrixU();
}

}  // namespace gpilot::linalg
