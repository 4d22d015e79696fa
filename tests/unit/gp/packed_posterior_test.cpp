#include "gpilot/gp/packed_posterior.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gpilot/core/random.hpp"
#include "support/reference_kernels.hpp"

namespace gpilot::gp {
namespace {

struct Case {
  InducingBasis basis;
  Weights q;
};

/// `touched` of the weights have been learned, the others have their prior.
Case make_case(kernels::Kind kind, Index inducing, bool linear, Index touched) {
  constexpr Index kInputs = 3;
  RandomStream random(3, Purpose::kTest);
  Case c;
  const Vector log_linear_sd = linear ? Vector(0.3 * random.normal_vector(kInputs + 1)) : Vector();
  c.basis.update(kind, std::log(0.7), 0.2 * random.normal_vector(kInputs), log_linear_sd,
                 random.normal_matrix(inducing, kInputs));
  const Index features = c.basis.features();
  const Matrix directions = random.normal_matrix(features, touched);
  Statistics statistics{directions * directions.transpose(), random.normal_vector(features)};
  Matrix B;
  Matrix L_B;
  collapse(statistics, 0.1, B, L_B, c.q);
  return c;
}

void expect_same(const Case& c, Index rows) {
  RandomStream random(4, Purpose::kTest);
  const Matrix X = 1.5 * random.normal_matrix(rows, c.basis.inputs());
  Vector mean;
  Vector variance;
  c.basis.predict(c.q, X, mean, variance);
  Vector packed_mean(rows);
  Vector packed_variance(rows);
  PackedPosterior(c.basis, c.q).predict(X, packed_mean, packed_variance);
  EXPECT_LT((packed_mean - mean).cwiseAbs().maxCoeff(), 1e-11);
  EXPECT_LT((packed_variance - variance).cwiseAbs().maxCoeff(), 1e-11);
}

TEST(PackedPosterior, AgreesWithTheBasis) {
  for (const kernels::Kind kind : kernels::kKinds) {
    for (const bool linear : {false, true}) {
      expect_same(make_case(kind, 9, linear, 20), 300);  // more rows than a block holds
    }
  }
  expect_same(make_case(kernels::Kind::kSquaredExponential, 0, true, 2), 5);
}

TEST(PackedPosterior, LeavesOutDirectionsWithoutData) {
  const Case c = make_case(kernels::Kind::kMatern32, 20, false, 3);
  EXPECT_EQ(PackedPosterior(c.basis, c.q).directions(), 3);
  expect_same(c, 40);
}

TEST(PackedPosterior, SlopesAreThoseOfTheMean) {
  for (const kernels::Kind kind : {kernels::Kind::kSquaredExponential, kernels::Kind::kMatern52}) {
    for (const bool linear : {false, true}) {
      const Case c = make_case(kind, 9, linear, 20);
      const PackedPosterior packed(c.basis, c.q);
      const Index I = c.basis.inputs();
      RandomStream random(5, Purpose::kTest);
      const Matrix X = random.normal_matrix(7, I);
      PackedPosterior::Points points;
      Vector mean;
      Matrix slope;
      packed.predict(X, points, mean, slope);
      Vector basis_mean;
      Vector unused;
      c.basis.predict(c.q, X, basis_mean, unused);
      EXPECT_LT((mean - basis_mean).cwiseAbs().maxCoeff(), 1e-11);
      constexpr double kStep = 1e-5;
      for (Index i = 0; i < I; ++i) {
        Matrix shifted = X;
        shifted.col(i).array() += kStep;
        Vector above;
        c.basis.predict(c.q, shifted, above, unused);
        shifted.col(i).array() -= 2.0 * kStep;
        Vector below;
        c.basis.predict(c.q, shifted, below, unused);
        const Vector differences = (above - below) / (2.0 * kStep);
        EXPECT_LT((slope.col(i) - differences).cwiseAbs().maxCoeff(), 1e-7) << "input " << i << ", linear " << linear;
      }
    }
  }
  // Without inducing points there is the linear kernel alone.
  const Case c = make_case(kernels::Kind::kSquaredExponential, 0, true, 2);
  PackedPosterior::Points points;
  Vector mean;
  Matrix slope;
  PackedPosterior(c.basis, c.q).predict(Matrix::Identity(3, 3), points, mean, slope);
  const Vector weights = c.basis.linear_sd.cwiseProduct(c.q.mu);
  EXPECT_LT((slope.rowwise() - weights.head(3).transpose()).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((mean.array() - weights.head(3).array() - weights(3)).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(PackedPosterior, CovarianceHasTheVarianceOnItsDiagonal) {
  for (const kernels::Kind kind : kernels::kKinds) {
    for (const Index inducing : {0, 9}) {
      const Case c = make_case(kind, inducing, true, 3);
      const PackedPosterior packed(c.basis, c.q);
      RandomStream random(6, Purpose::kTest);
      const Matrix X = random.normal_matrix(11, c.basis.inputs());
      Vector mean;
      Vector variance;
      c.basis.predict(c.q, X, mean, variance);
      PackedPosterior::Points points;
      packed.project(X, points);
      Matrix V;
      packed.covariance(points, points, V);
      EXPECT_LT((V.diagonal() - variance).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_LT((V - V.transpose()).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(V).eigenvalues().minCoeff(), -1e-10);
    }
  }
}

/// k(x, z) with the linear kernel, entry by entry.
Matrix anchored_gram(const AnchoredKernel& kernel, const Matrix& X, const Matrix& Z) {
  Matrix K = test::reference_gram(kernel.kind, kernel.variance, kernel.length_scales, X, Z);
  for (Index a = 0; a < X.rows() && kernel.linear_sd.size() > 0; ++a) {
    for (Index b = 0; b < Z.rows(); ++b) {
      for (Index i = 0; i < X.cols(); ++i) {
        K(a, b) += kernel.linear_sd(i) * X(a, i) * kernel.linear_sd(i) * Z(b, i);
      }
      K(a, b) += kernel.linear_sd(X.cols()) * kernel.linear_sd(X.cols());
    }
  }
  return K;
}

TEST(PackedPosterior, OfAnchorsIsAProcessConditionedOnMeasurements) {
  constexpr Index kInputs = 3;
  constexpr Index kAnchors = 8;
  for (const kernels::Kind kind : {kernels::Kind::kSquaredExponential, kernels::Kind::kMatern32}) {
    for (const bool linear : {false, true}) {
      RandomStream random(7, Purpose::kTest);
      const AnchoredKernel kernel{.kind = kind,
                                  .variance = 0.6,
                                  .length_scales = Vector{{0.8, 1.5, 2.0}},
                                  .linear_sd = linear ? Vector{{0.3, 0.2, 0.5, 0.4}} : Vector(),
                                  .anchors = random.normal_matrix(kAnchors, kInputs)};
      const Matrix K = anchored_gram(kernel, kernel.anchors, kernel.anchors);
      EXPECT_LT((kernel.gram() - K).cwiseAbs().maxCoeff(), 1e-12);
      // Five measurements y = A f(anchors) + noise.
      const Matrix A = random.normal_matrix(5, kAnchors);
      const Matrix S = A * K * A.transpose() + 0.1 * Matrix::Identity(5, 5);
      const PackedPosterior packed(kernel, A.transpose() * S.inverse() * A);
      const Matrix X = random.normal_matrix(6, kInputs);
      const Matrix Y = random.normal_matrix(4, kInputs);
      PackedPosterior::Points x;
      PackedPosterior::Points y;
      packed.project(X, x);
      packed.project(Y, y);
      Matrix V;
      packed.covariance(x, y, V);
      const Matrix cov_X = anchored_gram(kernel, X, kernel.anchors) * A.transpose();
      const Matrix cov_Y = anchored_gram(kernel, Y, kernel.anchors) * A.transpose();
      const Matrix expected = anchored_gram(kernel, X, Y) - cov_X * S.inverse() * cov_Y.transpose();
      EXPECT_LT((V - expected).cwiseAbs().maxCoeff(), 1e-11) << "linear " << linear;
      Vector mean(X.rows());
      Vector variance(X.rows());
      packed.predict(X, mean, variance);
      const Matrix own = anchored_gram(kernel, X, X) - cov_X * S.inverse() * cov_X.transpose();
      EXPECT_LT((variance - own.diagonal()).cwiseAbs().maxCoeff(), 1e-11) << "linear " << linear;
      EXPECT_EQ(mean, Vector::Zero(X.rows()));
    }
  }
}

}  // namespace
}  // namespace gpilot::gp
