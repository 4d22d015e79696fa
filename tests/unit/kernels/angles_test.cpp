#include "gpilot/kernels/angles.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "support/gradient_check.hpp"
#include "support/reference_kernels.hpp"

namespace gpilot::kernels {
namespace {

constexpr double kPi = std::numbers::pi;
const Angles kTwo{{0, 0.7}, {2, 1.9}};

/// The kernel of the embedding; an angle's length scale counts for its sine and its cosine.
Matrix gram_of(Kind kind, const Angles& angles, const Vector& length_scales, const Matrix& X, const Matrix& Z) {
  Vector both(length_scales.size() + static_cast<Index>(angles.size()));
  for (Index i = 0; i < both.size(); ++i) {
    both(i) = length_scales(source_input(angles, length_scales.size(), i));
  }
  return gram(kind, 0.8, both, embedded(angles, X), embedded(angles, Z));
}

TEST(Angles, AreSineAndCosine) {
  RandomStream random(1, Purpose::kTest);
  const Matrix X = 3.0 * random.normal_matrix(20, 3);
  const Matrix E = embedded(kTwo, X);
  ASSERT_EQ(E.cols(), 5);
  EXPECT_EQ(E.col(1), X.col(1));
  for (Index n = 0; n < X.rows(); ++n) {
    EXPECT_NEAR(E(n, 0), std::sin(0.7 * X(n, 0)) / 0.7, 1e-14);
    EXPECT_NEAR(E(n, 3), (std::cos(0.7 * X(n, 0)) - 1.0) / 0.7, 1e-14);
    EXPECT_NEAR(E(n, 2), std::sin(1.9 * X(n, 2)) / 1.9, 1e-14);
    EXPECT_NEAR(E(n, 4), (std::cos(1.9 * X(n, 2)) - 1.0) / 1.9, 1e-14);
  }
  EXPECT_EQ(source_input(kTwo, 3, 1), 1);
  EXPECT_EQ(source_input(kTwo, 3, 4), 2);
}

TEST(Angles, KernelSeesTheChord) {
  RandomStream random(2, Purpose::kTest);
  const Matrix X = 4.0 * random.normal_matrix(6, 1);
  const Matrix K = gram_of(Kind::kMatern52, {{0, 0.6}}, Vector::Constant(1, 1.3), X, X);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const double chord = 2.0 * std::sin(0.5 * 0.6 * (X(i, 0) - X(j, 0))) / 0.6;
      EXPECT_NEAR(K(i, j),
                  test::reference_kernel(Kind::kMatern52, 0.8, Vector::Constant(1, 1.3), Vector::Constant(1, chord),
                                         Vector::Zero(1)),
                  1e-13);
    }
  }
}

TEST(Angles, KernelsArePositiveDefinite) {
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      RandomStream random(seed, Purpose::kTest);
      Matrix X = random.normal_matrix(30, 3);
      X.col(0) *= 20.0;  // turns apart: one is 9 units
      X.col(2) *= 10.0;  // 3.3 units
      const Matrix K = gram_of(kind, kTwo, random.normal_vector(3).array().exp(), X, X);
      const Vector eigenvalues = Eigen::SelfAdjointEigenSolver<Matrix>(K).eigenvalues();
      EXPECT_GT(eigenvalues.minCoeff(), -1e-13 * eigenvalues.maxCoeff()) << name(kind) << ", seed " << seed;
    }
  }
}

/// What the embedding is for: a kernel of wrapped differences is none. The same test notices it.
TEST(Angles, WrappedDifferencesAreNoKernel) {
  Matrix X(24, 1);
  X.col(0).setLinSpaced(0.0, 2.0 * kPi * 23.0 / 24.0);
  Matrix K(24, 24);
  for (Index i = 0; i < 24; ++i) {
    for (Index j = 0; j < 24; ++j) {
      K(i, j) = std::exp(-0.5 * std::pow(std::remainder(X(i, 0) - X(j, 0), 2.0 * kPi) / 2.0, 2));
    }
  }
  EXPECT_LT(Eigen::SelfAdjointEigenSolver<Matrix>(K).eigenvalues().minCoeff(), -1e-3);
}

TEST(Angles, KernelsArePeriodic) {
  RandomStream random(3, Purpose::kTest);
  const Matrix X = random.normal_matrix(8, 3);
  const Matrix Z = random.normal_matrix(5, 3);
  Matrix turned = X;
  turned.col(0).array() += 3.0 * 2.0 * kPi / 0.7;
  turned.col(2).array() -= 2.0 * kPi / 1.9;
  Matrix half = X;
  half.col(0).array() += kPi / 0.7;
  const Vector scales = Vector::Constant(3, 0.9);
  for (const Kind kind : kKinds) {
    const Matrix K = gram_of(kind, kTwo, scales, X, Z);
    EXPECT_LT((gram_of(kind, kTwo, scales, turned, Z) - K).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_GT((gram_of(kind, kTwo, scales, half, Z) - K).cwiseAbs().maxCoeff(), 1e-2);
  }
}

TEST(Angles, SmallOnesHaveThePlainKernel) {
  RandomStream random(4, Purpose::kTest);
  const Matrix X = random.normal_matrix(8, 2);
  const Vector scales = Vector::Constant(2, 0.9);
  double last = 1e300;
  for (const double omega : {1e-1, 1e-2, 1e-3}) {  // the chord is (x - z) (1 - (w (x - z))^2 / 24 + ..)
    const double error = (gram_of(Kind::kSquaredExponential, {{1, omega}}, scales, X, X) -
                          gram(Kind::kSquaredExponential, 0.8, scales, X, X))
                             .cwiseAbs()
                             .maxCoeff();
    EXPECT_LT(error, 0.02 * last);
    last = error;
  }
  EXPECT_LT(last, 1e-6);
}

TEST(Angles, GradientGoesBackThroughTheEmbedding) {
  RandomStream random(5, Purpose::kTest);
  const double omega = 1.4;
  const Vector weights_s = random.normal_vector(6);
  const Vector weights_c = random.normal_vector(6);
  const Vector x = 2.0 * random.normal_vector(6);
  const Matrix E = embedded({{0, omega}}, x);
  Vector gradient = weights_s;
  pull_back(omega, E.col(0), E.col(1), gradient, weights_c);
  const auto value = [&](const Vector& at) {
    const Matrix e = embedded({{0, omega}}, at);
    return weights_s.dot(e.col(0)) + weights_c.dot(e.col(1));
  };
  EXPECT_TRUE(test::gradient_matches(value, x, gradient, 1e-8));
}

}  // namespace
}  // namespace gpilot::kernels
