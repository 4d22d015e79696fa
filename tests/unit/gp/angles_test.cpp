/// Sparse regression with inputs that are angles.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/function_draws.hpp"
#include "gpilot/gp/inducing.hpp"
#include "gpilot/gp/packed_posterior.hpp"
#include "support/gradient_check.hpp"

namespace gpilot::gp {
namespace {

constexpr Index kInputs = 3;
const kernels::Angles kAngles{{0, 0.8}, {2, 1.5}};

struct Problem {
  Problem(kernels::Kind kind, bool linear, Index inducing, const kernels::Angles& angles = kAngles) {
    RandomStream random(6, Purpose::kTest);
    length_scales = 0.3 * random.normal_vector(kInputs);
    linear_sd = linear ? Vector(0.3 * random.normal_vector(kInputs + 1)) : Vector();
    Z = 2.0 * random.normal_matrix(inducing, kInputs);
    basis.update(kind, std::log(0.9), length_scales, linear_sd, Z, angles);
    const Index features = basis.features();
    q.mu = random.normal_vector(features);
    const Matrix root = 0.3 * random.normal_matrix(features, features);
    q.Sigma = root * root.transpose() + 0.05 * Matrix::Identity(features, features);
    X = 2.0 * random.normal_matrix(40, kInputs);
  }

  Vector length_scales, linear_sd;
  Matrix Z, X;
  InducingBasis basis;
  Weights q;
};

Matrix features(const InducingBasis& basis, const Matrix& X) {
  Matrix Xs(X.rows(), basis.columns());
  Matrix K(X.rows(), basis.inducing());
  Matrix A(X.rows(), basis.features());
  basis.evaluate(X, Vector(), Xs, K, nullptr, A);
  return A;
}

/// A turn more in the one angle, two turns less in the other.
Matrix turned(Matrix X) {
  X.col(0).array() += 2.0 * std::numbers::pi / 0.8;
  X.col(2).array() -= 4.0 * std::numbers::pi / 1.5;
  return X;
}

TEST(AngleFeatures, AreThoseOfTheEmbeddedInputs) {
  const Problem p(kernels::Kind::kMatern32, true, 7);
  Vector scales(5);
  scales << p.length_scales, p.length_scales(0), p.length_scales(2);
  Vector sd(6);
  sd << p.linear_sd.head(3), p.linear_sd(0), p.linear_sd(2), p.linear_sd(3);
  InducingBasis plain;
  plain.update(kernels::Kind::kMatern32, std::log(0.9), scales, sd, kernels::embedded(kAngles, p.Z));
  EXPECT_EQ(p.basis.features(), 13);
  EXPECT_LT((features(p.basis, p.X) - features(plain, kernels::embedded(kAngles, p.X))).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(AngleFeatures, ArePeriodicInPointsAndInducingPoints) {
  for (const bool linear : {false, true}) {
    const Problem p(kernels::Kind::kSquaredExponential, linear, 7);
    const Matrix A = features(p.basis, p.X);
    EXPECT_LT((features(p.basis, turned(p.X)) - A).cwiseAbs().maxCoeff(), 1e-11);
    InducingBasis other;
    other.update(kernels::Kind::kSquaredExponential, std::log(0.9), p.length_scales, p.linear_sd, turned(p.Z), kAngles);
    EXPECT_LT((features(other, p.X) - A).cwiseAbs().maxCoeff(), 1e-11);
  }
}

TEST(AngleFeatures, OfSmallAnglesAreThePlainOnes) {
  const Problem angle(kernels::Kind::kSquaredExponential, true, 4, {{1, 1e-4}});
  const Problem plain(kernels::Kind::kSquaredExponential, true, 4, {});
  const Matrix A = features(angle.basis, angle.X);
  const Matrix B = features(plain.basis, angle.X);
  EXPECT_LT((A.leftCols(7) - B.leftCols(7)).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_LT(A.col(7).cwiseAbs().maxCoeff(), 1e-2);  // the cosine: half the square, times 1e-4
  EXPECT_EQ(A.col(8), B.col(7));                    // the constant
}

TEST(AngleRegression, PackedPosteriorAgreesWithTheBasis) {
  for (const Index inducing : {0, 9}) {
    const Problem p(kernels::Kind::kMatern52, true, inducing);
    Vector mean;
    Vector variance;
    p.basis.predict(p.q, p.X, mean, variance);
    Vector packed_mean(p.X.rows());
    Vector packed_variance(p.X.rows());
    PackedPosterior(p.basis, p.q).predict(p.X, packed_mean, packed_variance);
    EXPECT_LT((packed_mean - mean).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((packed_variance - variance).cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(AngleRegression, SlopesInAllInputsMatchCentralDifferences) {
  for (const bool linear : {false, true}) {
    const Problem p(kernels::Kind::kSquaredExponential, linear, 9);
    const Vector x = p.X.row(0).transpose();
    Vector mean;
    Vector variance;
    for (const Index columns : {1, 3}) {  // of the last inputs: one angle, all
      Matrix mean_slope(1, columns);
      Matrix variance_slope(1, columns);
      p.basis.predict(p.q, x.transpose(), mean, variance, mean_slope, variance_slope);
      const auto moment = [&](bool of_mean, const Vector& tail) {
        Matrix at = x.transpose();
        at.rightCols(columns) = tail.transpose();
        Vector m;
        Vector v;
        p.basis.predict(p.q, at, m, v);
        return of_mean ? m(0) : v(0);
      };
      const Vector tail = x.tail(columns);
      EXPECT_TRUE(test::gradient_matches([&](const Vector& at) { return moment(true, at); }, tail,
                                         mean_slope.row(0).transpose(), 1e-7));
      EXPECT_TRUE(test::gradient_matches([&](const Vector& at) { return moment(false, at); }, tail,
                                         variance_slope.row(0).transpose(), 1e-7));
    }
  }
}

TEST(AngleRegression, FunctionDrawsArePeriodicAndHaveThePosteriorsMoments) {
  const Problem p(kernels::Kind::kSquaredExponential, true, 6);
  constexpr Index kDraws = 4000;
  FunctionDraws draws(p.basis, p.q, kDraws, 11);
  const Matrix x = p.X.row(1);
  Vector values(kDraws);
  draws.evaluate(x.replicate(kDraws, 1), values);
  Vector again(kDraws);
  draws.evaluate(turned(x).replicate(kDraws, 1), again);
  EXPECT_LT((values - again).cwiseAbs().maxCoeff(), 1e-4);  // sines in single precision
  Vector mean;
  Vector variance;
  p.basis.predict(p.q, x, mean, variance);
  const double sd = std::sqrt(variance(0));
  EXPECT_NEAR(values.mean(), mean(0), 4.0 * sd / std::sqrt(static_cast<double>(kDraws)));
  const double sample = (values.array() - values.mean()).square().mean();
  EXPECT_NEAR(sample / variance(0), 1.0, 4.0 * std::sqrt(2.0 / static_cast<double>(kDraws)));
}

}  // namespace
}  // namespace gpilot::gp
