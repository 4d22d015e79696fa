/// Sparse regression against the exact Gaussian process, written out with dense inverses.
#include "gpilot/gp/inducing.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "support/reference_kernels.hpp"

namespace gpilot::gp {
namespace {

struct Problem {
  explicit Problem(kernels::Kind k, bool linear) : kind(k) {
    RandomStream random(1, Purpose::kTest);
    X = 1.5 * random.normal_matrix(12, 2);
    y = random.normal_vector(12);
    X_new = 1.5 * random.normal_matrix(9, 2);
    log_length_scales = Eigen::Vector2d(-0.4, -0.1);
    if (linear) {
      log_linear_sd = Eigen::Vector3d(-0.3, 0.2, -0.7);
    }
  }

  /// The kernel the features stand for: stationary (if any) plus linear (if any).
  Matrix covariance(const Matrix& a, const Matrix& b, bool stationary) const {
    Matrix K = Matrix::Zero(a.rows(), b.rows());
    if (stationary) {
      K += test::reference_gram(kind, variance, log_length_scales.array().exp(), a, b);
    }
    if (log_linear_sd.size() > 0) {
      const Vector s2 = (2.0 * log_linear_sd.array()).exp();
      K += a * s2.head(2).asDiagonal() * b.transpose();
      K.array() += s2(2);
    }
    return K;
  }

  InducingBasis basis(const Matrix& Z) const {
    InducingBasis basis;
    basis.update(kind, std::log(variance), log_length_scales, log_linear_sd, Z);
    return basis;
  }

  kernels::Kind kind;
  Matrix X, X_new;
  Vector y, log_length_scales, log_linear_sd;
  double variance = 0.8;
  double noise = 0.1;
};

Matrix features(const InducingBasis& basis, const Matrix& X) {
  Matrix Xs(X.rows(), X.cols());
  Matrix K(X.rows(), basis.inducing());
  Matrix A(X.rows(), basis.features());
  basis.evaluate(X, Vector(), Xs, K, nullptr, A);
  return A;
}

struct SparseFit {
  SparseFit(const Problem& problem, const Matrix& Z) : basis(problem.basis(Z)) {
    const Matrix A = features(basis, problem.X);
    const Statistics s{A.transpose() * A, A.transpose() * problem.y};
    Matrix B;
    Matrix L_B;
    const double log_det_B = collapse(s, problem.noise, B, L_B, q);
    const double q_d = problem.noise;
    const auto N = static_cast<double>(problem.y.size());
    const double stationary =
        basis.inducing() > 0 ? N * problem.variance - s.G.diagonal().head(basis.inducing()).sum() : 0.0;
    // design.md, section 3: -(1/2q)[sum r^2 + sum k - tr G] + h^T B^-1 h / (2 q^2) - (1/2) log det B
    bound = -0.5 * N * std::log(2.0 * std::numbers::pi * q_d) - 0.5 / q_d * (problem.y.squaredNorm() + stationary) +
            0.5 * s.h.dot(q.mu) / q_d - 0.5 * log_det_B;
  }

  InducingBasis basis;
  Weights q;
  double bound = 0.0;
};

struct ExactFit {
  ExactFit(const Problem& problem, bool stationary) {
    const Index N = problem.y.size();
    const Matrix K = problem.covariance(problem.X, problem.X, stationary) + problem.noise * Matrix::Identity(N, N);
    const Matrix inverse = K.inverse();
    const Matrix cross = problem.covariance(problem.X_new, problem.X, stationary);
    mean = cross * inverse * problem.y;
    variance = problem.covariance(problem.X_new, problem.X_new, stationary).diagonal() -
               (cross * inverse * cross.transpose()).diagonal();
    log_evidence = -0.5 * (problem.y.dot(inverse * problem.y) + std::log(K.determinant()) +
                           static_cast<double>(N) * std::log(2.0 * std::numbers::pi));
  }

  Vector mean, variance;
  double log_evidence = 0.0;
};

struct Case {
  kernels::Kind kind;
  bool linear;
};

class SparseRegression : public testing::TestWithParam<Case> {};

TEST_P(SparseRegression, EqualsTheExactOneWithInducingPointsAtTheData) {
  const Problem problem(GetParam().kind, GetParam().linear);
  const SparseFit sparse(problem, problem.X);
  const ExactFit exact(problem, true);
  Vector mean;
  Vector variance;
  sparse.basis.predict(sparse.q, problem.X_new, mean, variance);
  EXPECT_EQ(sparse.basis.extra_jitter, 0.0);
  EXPECT_LT((mean - exact.mean).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((variance - exact.variance).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_NEAR(sparse.bound, exact.log_evidence, 1e-5);
  EXPECT_LE(sparse.bound, exact.log_evidence);
}

TEST_P(SparseRegression, IsBelowTheEvidenceAndRisesWithInducingPoints) {
  const Problem problem(GetParam().kind, GetParam().linear);
  const ExactFit exact(problem, true);
  double last = -1e300;
  for (Index M = 3; M <= 12; M += 3) {
    const double bound = SparseFit(problem, problem.X.topRows(M)).bound;
    EXPECT_GE(bound, last - 1e-6) << M << " inducing points";
    EXPECT_LE(bound, exact.log_evidence);
    last = bound;
  }
}

TEST_P(SparseRegression, PriorWeightsGiveThePrior) {
  const Problem problem(GetParam().kind, GetParam().linear);
  const InducingBasis basis = problem.basis(problem.X.topRows(5));
  const Weights prior{Vector::Zero(basis.features()), Matrix::Identity(basis.features(), basis.features())};
  Vector mean;
  Vector variance;
  basis.predict(prior, problem.X_new, mean, variance);
  EXPECT_EQ(mean, Vector::Zero(9));
  const Vector expected = problem.covariance(problem.X_new, problem.X_new, true).diagonal();
  EXPECT_LT((variance - expected).cwiseAbs().maxCoeff(), 1e-12);
}

TEST_P(SparseRegression, RowScaleMultipliesTheFeatures) {
  const Problem problem(GetParam().kind, GetParam().linear);
  const InducingBasis basis = problem.basis(problem.X.topRows(5));
  const Vector scale = Vector::LinSpaced(9, 0.1, 2.0);
  Matrix Xs(9, 2);
  Matrix K(9, 5);
  Matrix A(9, basis.features());
  basis.evaluate(problem.X_new, scale, Xs, K, nullptr, A);
  EXPECT_LT((A - scale.asDiagonal() * features(basis, problem.X_new)).cwiseAbs().maxCoeff(), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(All, SparseRegression,
                         testing::Values(Case{kernels::Kind::kSquaredExponential, false},
                                         Case{kernels::Kind::kSquaredExponential, true},
                                         Case{kernels::Kind::kMatern12, false}, Case{kernels::Kind::kMatern32, true},
                                         Case{kernels::Kind::kMatern52, false}));

TEST(LinearFeatures, AreTheExactLinearKernelWithoutInducingPoints) {
  const Problem problem(kernels::Kind::kSquaredExponential, true);
  const SparseFit sparse(problem, Matrix(0, 2));
  const ExactFit exact(problem, false);
  Vector mean;
  Vector variance;
  sparse.basis.predict(sparse.q, problem.X_new, mean, variance);
  EXPECT_LT((mean - exact.mean).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_LT((variance - exact.variance).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NEAR(sparse.bound, exact.log_evidence, 1e-9);
}

TEST(Inducing, DuplicatePointsAreCarriedByTheNugget) {
  const Problem problem(kernels::Kind::kSquaredExponential, false);
  Matrix Z(8, 2);
  Z << problem.X.topRows(4), problem.X.topRows(4);
  const SparseFit twice(problem, Z);
  const SparseFit once(problem, problem.X.topRows(4));
  EXPECT_NEAR(twice.bound, once.bound, 1e-5);
}

TEST(Collapse, IsTheRidgeRegression) {
  RandomStream random(2, Purpose::kTest);
  const Matrix A = random.normal_matrix(20, 6);
  const Vector r = random.normal_vector(20);
  const double q = 0.3;
  Weights weights;
  Matrix B;
  Matrix L_B;
  const double log_det = collapse({A.transpose() * A, A.transpose() * r}, q, B, L_B, weights);
  const Matrix precision = Matrix::Identity(6, 6) + A.transpose() * A / q;
  EXPECT_LT((weights.Sigma - precision.inverse()).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT((weights.mu - precision.inverse() * A.transpose() * r / q).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(log_det, std::log(precision.determinant()), 1e-11);
}

TEST(Divergence, IsZeroAtThePriorAndPositiveElsewhere) {
  EXPECT_NEAR(kl_to_standard_normal({Vector::Zero(4), Matrix::Identity(4, 4)}), 0.0, 1e-14);
  EXPECT_NEAR(kl_to_standard_normal({Vector::Constant(1, 2.0), Matrix::Constant(1, 1, 0.25)}),
              0.5 * (0.25 + 4.0 - 1.0 - std::log(0.25)), 1e-13);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, Purpose::kTest);
    const Matrix root = random.normal_matrix(4, 6);
    EXPECT_GT(kl_to_standard_normal({random.normal_vector(4), root * root.transpose() / 6.0}), 0.0);
  }
}

}  // namespace
}  // namespace gpilot::gp
