#include "gpilot/kernels/stationary.hpp"

#include <cmath>

#include "gpilot/core/enum_names.hpp"

namespace gpilot::kernels {

namespace {

constexpr EnumNames<Kind, 4> kNames{{{Kind::kSquaredExponential, "se"},
                                     {Kind::kMatern12, "matern12"},
                                     {Kind::kMatern32, "matern32"},
                                     {Kind::kMatern52, "matern52"}}};

}  // namespace

std::string_view name(Kind kind) {
  return name_in(kNames, kind);
}

Kind kind_from_name(std::string_view text) {
  return kind_in(kNames, "kernel", text);
}

void squared_distances(const Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>& Xs, MatrixRef Zs, MatrixOut R2) {
  const Index inputs = Xs.cols();
  // Differences, not |x|^2 + |z|^2 - 2 x z: near r = 0 the latter loses all digits, and the former is one pass a
  // column.
  for (Index m = 0; m < Zs.rows(); ++m) {
    auto column = R2.col(m).array();
    column = (Xs.col(0).array() - Zs(m, 0)).square();
    for (Index i = 1; i < inputs; ++i) {
      column += (Xs.col(i).array() - Zs(m, i)).square();
    }
  }
}

namespace {

void squared_exponential(double variance, MatrixOut K, MatrixOut* slope) {
  for (Index m = 0; m < K.cols(); ++m) {
    auto k = K.col(m).array();
    k = variance * (-0.5 * k).exp();
    if (slope != nullptr) {
      slope->col(m) = -0.5 * K.col(m);
    }
  }
}

void matern12(double variance, MatrixOut K, MatrixOut* slope) {
  for (Index m = 0; m < K.cols(); ++m) {
    auto k = K.col(m).array();
    if (slope != nullptr) {
      auto s = slope->col(m).array();
      s = k.sqrt();
      k = variance * (-s).exp();
      s = (s > 0.0).select(-0.5 * k / s, 0.0);
    } else {
      k = variance * (-k.sqrt()).exp();
    }
  }
}

void matern32(double variance, MatrixOut K, MatrixOut* slope) {
  for (Index m = 0; m < K.cols(); ++m) {
    auto k = K.col(m).array();
    k = (3.0 * k).sqrt();
    if (slope != nullptr) {
      auto s = slope->col(m).array();
      s = (-1.5 * variance) * (-k).exp();
      k = (-1.0 / 1.5) * s * (1.0 + k);
    } else {
      k = variance * (1.0 + k) * (-k).exp();
    }
  }
}

void matern52(double variance, MatrixOut K, MatrixOut* slope) {
  for (Index m = 0; m < K.cols(); ++m) {
    auto k = K.col(m).array();
    k = (5.0 * k).sqrt();
    if (slope != nullptr) {
      // k = v e^-a (1 + a + a^2/3) and dk/dr^2 = -(5/6) v e^-a (1 + a) with a = sqrt(5) r.
      auto s = slope->col(m).array();
      s = (-5.0 / 6.0 * variance) * (1.0 + k) * (-k).exp();
      k = (-6.0 / 5.0) * s / (1.0 + k) * (1.0 + k + k.square() / 3.0);
    } else {
      k = variance * (1.0 + k + k.square() / 3.0) * (-k).exp();
    }
  }
}

}  // namespace

void apply_profile(Kind kind, double variance, MatrixOut K, MatrixOut* slope) {
  switch (kind) {
    case Kind::kSquaredExponential:
      return squared_exponential(variance, K, slope);
    case Kind::kMatern12:
      return matern12(variance, K, slope);
    case Kind::kMatern32:
      return matern32(variance, K, slope);
    case Kind::kMatern52:
      return matern52(variance, K, slope);
  }
}

Matrix gram(Kind kind, double variance, VectorRef length_scales, MatrixRef X, MatrixRef Z) {
  const Matrix Xs = X * length_scales.cwiseInverse().asDiagonal();
  const Matrix Zs = Z * length_scales.cwiseInverse().asDiagonal();
  Matrix K(X.rows(), Z.rows());
  squared_distances(Xs, Zs, K);
  apply_profile(kind, variance, K, nullptr);
  return K;
}

}  // namespace gpilot::kernels
