#include "gpilot/linalg/least_squares.hpp"

#include <Eigen/QR>

namespace gpilot::linalg {

Matrix least_squares(MatrixRef A, MatrixRef B) {
  return Eigen::ColPivHouseholderQR<Matrix>(A).solve(B);
}

Matrix upper_factor(MatrixRef A) {
  return Eigen::HouseholderQR<Matrix>(A).matrixQR().topRows(A.cols()).triangularView<Eigen::Upper>();
}

}  // namespace gpilot::linalg
