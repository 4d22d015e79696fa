#include "support/reference_kernels.hpp"

#include <Eigen/Dense>
#include <cmath>

namespace gpilot::test {

using kernels::Kind;

double reference_kernel(Kind kind, double variance, const Vector& length_scales, const Vector& x, const Vector& z) {
  double squares = 0.0;
  for (Index i = 0; i < x.size(); ++i) {
    squares += std::pow((x(i) - z(i)) / length_scales(i), 2);
  }
  const double r = std::sqrt(squares);
  switch (kind) {
    case Kind::kSquaredExponential:
      return variance * std::exp(-r * r / 2.0);
    case Kind::kMatern12:
      return variance * std::exp(-r);
    case Kind::kMatern32:
      return variance * (1.0 + std::sqrt(3.0) * r) * std::exp(-std::sqrt(3.0) * r);
    case Kind::kMatern52:
      return variance * (1.0 + std::sqrt(5.0) * r + 5.0 * r * r / 3.0) * std::exp(-std::sqrt(5.0) * r);
  }
  return 0.0;
}

Matrix reference_gram(Kind kind, double variance, const Vector& length_scales, const Matrix& X, const Matrix& Z) {
  Matrix K(X.rows(), Z.rows());
  for (Index n = 0; n < X.rows(); ++n) {
    for (Index m = 0; m < Z.rows(); ++m) {
      K(n, m) = reference_kernel(kind, variance, length_scales, X.row(n).transpose(), Z.row(m).transpose());
    }
  }
  return K;
}

Vector se_psi1(double variance, const Vector& length_scales, const InputGaussian& x, const Matrix& Z) {
  const Matrix Lambda = length_scales.cwiseAbs2().asDiagonal();
  const Matrix sum = x.covariance + Lambda;
  const double scale = variance * std::sqrt(Lambda.determinant() / sum.determinant());
  Vector psi(Z.rows());
  for (Index m = 0; m < Z.rows(); ++m) {
    const Vector nu = Z.row(m).transpose() - x.mean;
    psi(m) = scale * std::exp(-0.5 * nu.dot(sum.inverse() * nu));
  }
  return psi;
}

Matrix se_psi2(double variance_a, const Vector& length_scales_a, double variance_b, const Vector& length_scales_b,
               const InputGaussian& x, const Matrix& Z) {
  // design.md, section 6: R = Sigma (La^-1 + Lb^-1) + I, z = La^-1 nu_i + Lb^-1 nu_j,
  // Q_ij = k_a(z_i, u) k_b(z_j, u) |R|^-1/2 exp(z^T R^-1 Sigma z / 2).
  const Matrix La = length_scales_a.cwiseAbs2().cwiseInverse().asDiagonal();
  const Matrix Lb = length_scales_b.cwiseAbs2().cwiseInverse().asDiagonal();
  const Matrix R = x.covariance * (La + Lb) + Matrix::Identity(La.rows(), La.rows());
  const Matrix RS = R.inverse() * x.covariance;
  Matrix psi(Z.rows(), Z.rows());
  for (Index i = 0; i < Z.rows(); ++i) {
    for (Index j = 0; j < Z.rows(); ++j) {
      const Vector nu_i = Z.row(i).transpose() - x.mean;
      const Vector nu_j = Z.row(j).transpose() - x.mean;
      const Vector z = La * nu_i + Lb * nu_j;
      const double k_a = variance_a * std::exp(-0.5 * nu_i.dot(La * nu_i));
      const double k_b = variance_b * std::exp(-0.5 * nu_j.dot(Lb * nu_j));
      psi(i, j) = k_a * k_b / std::sqrt(R.determinant()) * std::exp(0.5 * z.dot(RS * z));
    }
  }
  return psi;
}

}  // namespace gpilot::test
