#include "gpilot/kernels/angles.hpp"

#include <cmath>

namespace gpilot::kernels {

Index source_input(const Angles& angles, Index inputs, Index column) {
  return column < inputs ? column : angles[static_cast<std::size_t>(column - inputs)].input;
}

void embed(const Angles& angles, MatrixOut X) {
  Index cosine = X.cols() - static_cast<Index>(angles.size());
  for (const Angle& angle : angles) {
    auto x = X.col(angle.input);
    auto c = X.col(cosine++);
    for (Index n = 0; n < X.rows(); ++n) {
      // By half the angle: cos(w x) - 1 would lose the digits of small angles.
      const double half = 0.5 * angle.omega * x(n);
      const double sine = std::sin(half);
      x(n) = 2.0 * sine * std::cos(half) / angle.omega;
      c(n) = -2.0 * sine * sine / angle.omega;
    }
  }
}

Matrix embedded(const Angles& angles, MatrixRef X) {
  Matrix result(X.rows(), X.cols() + static_cast<Index>(angles.size()));
  result.leftCols(X.cols()) = X;
  embed(angles, result);
  return result;
}

void pull_back(double omega, VectorRef s, VectorRef c, Eigen::Ref<Vector> s_bar, VectorRef c_bar) {
  s_bar.array() = (1.0 + omega * c.array()) * s_bar.array() - omega * s.array() * c_bar.array();
}

}  // namespace gpilot::kernels
