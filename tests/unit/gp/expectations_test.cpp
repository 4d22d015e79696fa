/// Closed forms of the squared exponential kernel under Gaussian inputs, the oracle of every rule of nodes.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/kernels/stationary.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"
#include "support/reference_kernels.hpp"

namespace gpilot::gp {
namespace {

using test::InputGaussian;
using test::se_psi1;
using test::se_psi2;

/// Two uncertain inputs and one that is known, as a control is.
struct Setting {
  Setting() {
    Matrix P(2, 2);
    P << 0.3, 0.1, 0.1, 0.2;
    x.mean = Eigen::Vector3d(0.2, -0.4, 0.6);
    x.covariance = Matrix::Zero(3, 3);
    x.covariance.topLeftCorner(2, 2) = P;
    Z = RandomStream(1, Purpose::kTest).normal_matrix(6, 3);
  }

  /// K(x_j, Z) at the nodes.
  Matrix kernel_at(const Nodes& nodes, double variance, const Vector& length_scales) const {
    const Matrix L = x.covariance.topLeftCorner(2, 2).llt().matrixL();
    Matrix X = x.mean.transpose().replicate(nodes.count(), 1);
    X.leftCols(2) += nodes.xi * L.transpose();
    return kernels::gram(kernels::Kind::kSquaredExponential, variance, length_scales, X, Z);
  }

  InputGaussian x;
  Matrix Z;
  Vector lengths_a = Eigen::Vector3d(0.9, 1.4, 2.0);
  Vector lengths_b = Eigen::Vector3d(1.6, 0.8, 1.1);
};

void expect_closed_forms(const Nodes& nodes, double tolerance) {
  const Setting s;
  const Matrix Ka = s.kernel_at(nodes, 1.3, s.lengths_a);
  const Matrix Kb = s.kernel_at(nodes, 0.7, s.lengths_b);
  const Vector psi1 = Ka.transpose() * nodes.w;
  const Matrix psi2 = Ka.transpose() * nodes.w.asDiagonal() * Ka;
  const Matrix cross = Ka.transpose() * nodes.w.asDiagonal() * Kb;
  EXPECT_LT((psi1 - se_psi1(1.3, s.lengths_a, s.x, s.Z)).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((psi2 - se_psi2(1.3, s.lengths_a, 1.3, s.lengths_a, s.x, s.Z)).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((cross - se_psi2(1.3, s.lengths_a, 0.7, s.lengths_b, s.x, s.Z)).cwiseAbs().maxCoeff(), tolerance);
}

TEST(PsiStatistics, OfManyNodesAreTheClosedForms) {
  expect_closed_forms(make_nodes(NodeRule::kGaussHermite, 2, 31), 1e-9);
}

TEST(PsiStatistics, OfManySamplesAreTheClosedForms) {
  expect_closed_forms(make_nodes(NodeRule::kSamples, 2, 200000, 1), 5e-3);
}

TEST(PsiStatistics, OfTheDefaultRuleAreClose) {
  expect_closed_forms(make_nodes(NodeRule::kAuto, 2), 3e-2);
  expect_closed_forms(make_nodes(NodeRule::kQuasiMonteCarlo, 2, 2000, 1), 5e-3);
}

TEST(PsiStatistics, WithoutUncertaintyAreTheKernel) {
  Setting s;
  s.x.covariance.setZero();
  const Matrix k =
      test::reference_gram(kernels::Kind::kSquaredExponential, 1.3, s.lengths_a, s.x.mean.transpose(), s.Z);
  EXPECT_LT((se_psi1(1.3, s.lengths_a, s.x, s.Z).transpose() - k).cwiseAbs().maxCoeff(), 1e-14);
  const Matrix psi2 = se_psi2(1.3, s.lengths_a, 1.3, s.lengths_a, s.x, s.Z);
  EXPECT_LT((psi2 - k.transpose() * k).cwiseAbs().maxCoeff(), 1e-14);
}

/// A transition of two states under one control with random q(u).
ssm::Transition random_transition(const Setting& s, ssm::MeanKind mean) {
  ssm::Structure structure;
  structure.states = 2;
  structure.controls = 1;
  structure.inducing = s.Z.rows();
  structure.linear_kernel = false;
  structure.mean = mean;
  structure.x0_mean = Vector::Zero(2);
  structure.x0_sd = Vector::Ones(2);
  ssm::Parameters p = ssm::default_parameters(structure);
  p.Z = s.Z;
  p.log_variance << std::log(1.3), std::log(0.7);
  p.log_length_scales << s.lengths_a.array().log(), s.lengths_b.array().log();
  p.log_q << std::log(0.04), std::log(0.09);
  RandomStream random(3, Purpose::kTest);
  std::vector<Weights> weights;
  for (int g = 0; g < 2; ++g) {
    const Matrix root = 0.2 * random.normal_matrix(6, 6);
    weights.push_back({random.normal_vector(6), root * root.transpose()});
  }
  return {structure, p, weights};
}

/// Moment matching by the corrected formulas (design.md, section 6).
ssm::StateBelief closed_form(const Setting& s, const ssm::Transition& transition, bool identity) {
  const Vector lengths[] = {s.lengths_a, s.lengths_b};
  const double variances[] = {1.3, 0.7};
  Vector M(2);
  Vector beta[2];
  Matrix reduced[2];  // K^-1 - K^-1 Sigma_u K^-1
  Matrix K(2, 2);     // Cov(x, g)
  for (int a = 0; a < 2; ++a) {
    const InducingBasis& basis = transition.bases()[static_cast<std::size_t>(a)];
    const Weights& q = transition.weights()[static_cast<std::size_t>(a)];
    const Matrix Linv = basis.L.inverse();
    beta[a] = Linv.transpose() * q.mu;
    reduced[a] = Linv.transpose() * (Matrix::Identity(6, 6) - q.Sigma) * Linv;
    const Vector l = se_psi1(variances[a], lengths[a], s.x, s.Z);
    M(a) = beta[a].dot(l);
    const Matrix Lambda = lengths[a].cwiseAbs2().asDiagonal();
    const Matrix nu = s.Z.rowwise() - s.x.mean.transpose();  // [M x I]
    const Vector sum = (s.x.covariance + Lambda).inverse() * (nu.transpose() * beta[a].cwiseProduct(l));
    K.col(a) = (s.x.covariance * sum).head(2);
  }
  Matrix V(2, 2);
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 2; ++b) {
      const Matrix Q = se_psi2(variances[a], lengths[a], variances[b], lengths[b], s.x, s.Z);
      V(a, b) = beta[a].dot(Q * beta[b]) - M(a) * M(b);
      if (a == b) {
        V(a, b) += variances[a] - (reduced[a] * Q).trace() + std::exp(transition.parameters().log_q(a));
      }
    }
  }
  if (identity) {
    M += s.x.mean.head(2);
    V += s.x.covariance.topLeftCorner(2, 2) + K + K.transpose();
  }
  return {M, V};
}

class MomentMatching : public testing::TestWithParam<bool> {};

TEST_P(MomentMatching, ByNodesIsTheClosedForm) {
  const Setting s;
  const bool identity = GetParam();
  const ssm::Transition transition = random_transition(s, identity ? ssm::MeanKind::kIdentity : ssm::MeanKind::kZero);
  const ssm::Filter filter(transition, make_nodes(NodeRule::kGaussHermite, 2, 15));
  const ssm::StateBelief belief{s.x.mean.head(2), s.x.covariance.topLeftCorner(2, 2)};
  const ssm::StateBelief by_nodes = filter.predict(belief, s.x.mean.tail(1));
  const ssm::StateBelief exact = closed_form(s, transition, identity);
  EXPECT_LT((by_nodes.mean - exact.mean).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((by_nodes.covariance - exact.covariance).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_GT(std::abs(exact.covariance(0, 1)), 1e-3) << "the off-diagonal is to be tested";
}

INSTANTIATE_TEST_SUITE_P(ZeroAndIdentityMean, MomentMatching, testing::Bool());

}  // namespace
}  // namespace gpilot::gp
