#include "gpilot/kernels/form.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/function_draws.hpp"
#include "gpilot/gp/inducing.hpp"
#include "gpilot/gp/packed_posterior.hpp"

/// What is known of a function holds in everything that is made of its kernel.
namespace gpilot::gp {
namespace {

constexpr Index kInputs = 3;  // x, y, c; c is the control

struct Problem {
  InducingBasis basis;
  Weights q;
};

Problem make_problem(const kernels::Form& form, const kernels::Angles& angles = {}, bool posterior = true) {
  RandomStream random(7, Purpose::kTest);
  Problem p;
  p.basis.update(kernels::Kind::kSquaredExponential, std::log(1.3), Vector::Constant(kInputs, std::log(0.9)),
                 Vector::Constant(kInputs + 1, std::log(0.4)), random.normal_matrix(5, kInputs), angles, form);
  const Index features = p.basis.features();
  p.q.mu = posterior ? Vector(random.normal_vector(features)) : Vector(Vector::Zero(features));
  const Matrix root = 0.3 * random.normal_matrix(features, features);
  p.q.Sigma = posterior ? Matrix(root * root.transpose() + 0.05 * Matrix::Identity(features, features))
                        : Matrix(Matrix::Identity(features, features));
  return p;
}

/// Values of every draw at the rows of X [draws x I].
Vector drawn(const Problem& p, const Matrix& X) {
  FunctionDraws draws(p.basis, p.q, X.rows(), 5);
  Vector values(X.rows());
  draws.evaluate(X, values);
  return values;
}

constexpr Index kDraws = 40;

TEST(Forms, DrawsDoNotSeeExcludedInputs) {
  for (const bool posterior : {false, true}) {
    const Problem p = make_problem({{1}, {}, false}, {}, posterior);
    Matrix X = RandomStream(1, Purpose::kTest).normal_matrix(kDraws, kInputs);
    const Vector before = drawn(p, X);
    X.col(1).array() += 3.7;
    EXPECT_EQ((drawn(p, X) - before).cwiseAbs().maxCoeff(), 0.0);
  }
}

TEST(Forms, DrawsAreOdd) {
  for (const bool posterior : {false, true}) {
    for (const kernels::Angles& angles : {kernels::Angles{}, kernels::Angles{{0, 0.9}}}) {
      const Problem p = make_problem({{}, {}, true}, angles, posterior);
      const Matrix X = RandomStream(2, Purpose::kTest).normal_matrix(kDraws, kInputs);
      const Vector right = drawn(p, X);
      EXPECT_GT(right.cwiseAbs().maxCoeff(), 0.5);
      EXPECT_LT((right + drawn(p, -X)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT(drawn(p, Matrix::Zero(kDraws, kInputs)).cwiseAbs().maxCoeff(), 1e-12);
    }
  }
}

TEST(Forms, DrawsAreAffineInTheControl) {
  for (const bool posterior : {false, true}) {
    for (const bool odd : {false, true}) {
      const Problem p = make_problem({{}, {2}, odd}, {}, posterior);
      const Matrix X = RandomStream(3, Purpose::kTest).normal_matrix(kDraws, kInputs);
      const auto at = [&](double c) {
        Matrix moved = X;
        moved.col(2).setConstant(c);
        return drawn(p, moved);
      };
      const Vector second = at(1.5) - 2.0 * at(0.25) + at(-1.0);
      EXPECT_GT((at(1.5) - at(-1.0)).cwiseAbs().maxCoeff(), 0.5);
      EXPECT_LT(second.cwiseAbs().maxCoeff(), 1e-5);  // draws have sines in single precision
    }
  }
}

TEST(Forms, DrawsHaveThePriorsCovariance) {
  const kernels::Form form{{}, {2}, true};
  const Problem p = make_problem(form, {}, false);
  const Matrix x{{0.4, -0.8, 0.7}};
  const Matrix y{{0.9, 0.1, -0.5}};
  constexpr Index kMany = 3000;
  const Vector a = drawn(p, x.replicate(kMany, 1));
  const Vector b = drawn(p, y.replicate(kMany, 1));
  const Matrix xs = x * p.basis.inverse_length_scales.asDiagonal();
  const Matrix ys = y * p.basis.inverse_length_scales.asDiagonal();
  Matrix k(1, 1);
  p.basis.formed().evaluate(xs, ys, k);
  const double linear = x.row(0).cwiseProduct(y.row(0)).dot(p.basis.linear_sd.head(kInputs).cwiseAbs2().transpose());
  const double spread = std::sqrt(a.squaredNorm() * b.squaredNorm()) / kMany;
  EXPECT_NEAR(a.dot(b) / kMany, k(0, 0) + linear, 5.0 * spread / std::sqrt(static_cast<double>(kMany)));
}

TEST(Forms, FoldedPosteriorAndSlopesAgree) {
  const Matrix X = RandomStream(4, Purpose::kTest).normal_matrix(6, kInputs);
  for (const kernels::Form& form : {kernels::Form{{0}, {}, false}, kernels::Form{{}, {2}, false},
                                    kernels::Form{{}, {}, true}, kernels::Form{{1}, {2}, true}}) {
    for (const kernels::Angles& angles : {kernels::Angles{}, kernels::Angles{{0, 0.9}}}) {
      const Problem p = make_problem(form, angles);
      Vector mean;
      Vector variance;
      p.basis.predict(p.q, X, mean, variance);
      const PackedPosterior packed(p.basis, p.q);
      Vector packed_mean(6);
      Vector packed_variance(6);
      packed.predict(X, packed_mean, packed_variance);
      EXPECT_LT((packed_mean - mean).cwiseAbs().maxCoeff(), 1e-11);
      EXPECT_LT((packed_variance - variance).cwiseAbs().maxCoeff(), 1e-11);
      PackedPosterior::Points points;
      Matrix slope;
      Matrix V;
      packed.predict(X, points, packed_mean, slope);
      packed.covariance(points, points, V);
      EXPECT_LT((V.diagonal() - variance).cwiseAbs().maxCoeff(), 1e-11);
      Matrix mean_slope(6, kInputs);
      Matrix variance_slope(6, kInputs);
      p.basis.predict(p.q, X, mean, variance, mean_slope, variance_slope);
      EXPECT_LT((slope - mean_slope).cwiseAbs().maxCoeff(), 1e-10);
      constexpr double kStep = 1e-6;
      for (Index i = 0; i < kInputs; ++i) {
        Vector right, left, right_variance, left_variance;
        Matrix moved = X;
        moved.col(i).array() += kStep;
        p.basis.predict(p.q, moved, right, right_variance);
        moved.col(i).array() -= 2.0 * kStep;
        p.basis.predict(p.q, moved, left, left_variance);
        EXPECT_LT((mean_slope.col(i) - (right - left) / (2.0 * kStep)).cwiseAbs().maxCoeff(), 1e-7);
        EXPECT_LT((variance_slope.col(i) - (right_variance - left_variance) / (2.0 * kStep)).cwiseAbs().maxCoeff(),
                  1e-6);
      }
    }
  }
}

/// With a weight of a standard normal prior beside the kernel: cov = k~(x, y) - k~(x, A) B k~(A, y).
TEST(Forms, ExtraFeaturesBelongToTheKernel) {
  RandomStream random(8, Purpose::kTest);
  const Matrix anchors = random.normal_matrix(4, 2);
  const Matrix X = random.normal_matrix(3, 2);
  const auto extra = [](MatrixRef points) {
    Matrix phi(points.rows(), 2);
    phi.col(0) = points.col(0).array().sin();
    phi.col(1) = points.col(0).array() * points.col(1).array();
    return phi;
  };
  AnchoredKernel kernel{.kind = kernels::Kind::kMatern52,
                        .variance = 0.6,
                        .length_scales = Vector::Constant(2, 1.2),
                        .linear_sd = Vector::Constant(3, 0.3),
                        .anchors = anchors};
  kernel.extra = extra;
  kernel.extra_at_anchors = extra(anchors);
  const Matrix root = 0.2 * random.normal_matrix(4, 4);
  const Matrix B = root * root.transpose();
  const PackedPosterior posterior(kernel, B);
  const auto whole = [&](const Matrix& a, const Matrix& b) {
    Matrix K = kernels::gram(kernel.kind, kernel.variance, kernel.length_scales, a, b);
    K += 0.09 * (a * b.transpose());
    K.array() += 0.09;
    return Matrix(K + extra(a) * extra(b).transpose());
  };
  EXPECT_LT((kernel.gram() - whole(anchors, anchors)).cwiseAbs().maxCoeff(), 1e-12);
  const Matrix expected = whole(X, X) - whole(X, anchors) * B * whole(anchors, X);
  PackedPosterior::Points points;
  Matrix V;
  posterior.project(X, points);
  posterior.covariance(points, points, V);
  EXPECT_LT((V - expected).cwiseAbs().maxCoeff(), 1e-11);
}

}  // namespace
}  // namespace gpilot::gp
