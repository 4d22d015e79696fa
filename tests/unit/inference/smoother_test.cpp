#include "gpilot/inference/smoother.hpp"

#include <gtest/gtest.h>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/bound_optimiser.hpp"
#include "gpilot/inference/whitening.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/flat_states.hpp"
#include "support/random_problem.hpp"

namespace gpilot::inference {
namespace {

using test::flatten;
using test::RandomProblem;

TEST(ChainPotentials, ComeBackAsTheChainTheyWereMadeOf) {
  for (const Index D : {1, 2, 4, 6}) {
    const RandomProblem problem({.states = D});
    ChainPotentials potentials;
    potentials_of(problem.q, problem.series, potentials);
    EXPECT_EQ(potentials.h, Matrix::Zero(D, problem.q.rows()));
    ssm::StatePosterior q = ssm::StatePosterior::zero(D, problem.q.rows());
    ASSERT_TRUE(posterior_of(potentials, problem.series, problem.q.m, q));
    EXPECT_LT((flatten(q, problem.series) - flatten(problem.q, problem.series)).cwiseAbs().maxCoeff(), 1e-10)
        << D << " states";
  }
}

/// The whole precision matrix, row by row of the chain, against one written from the potentials.
TEST(ChainPotentials, MeansSolveTheJointSystem) {
  const RandomProblem problem({.states = 2});
  const Index n = problem.q.rows();
  ChainPotentials potentials;
  potentials_of(problem.q, problem.series, potentials);
  potentials.h = Matrix::Random(2, n);
  Matrix J = Matrix::Zero(2 * n, 2 * n);
  for (Index t = 0; t < n; ++t) {
    J.block(2 * t, 2 * t, 2, 2) = potentials.J.middleCols(2 * t, 2);
    if (t > 0) {
      J.block(2 * t, 2 * t - 2, 2, 2) = potentials.J_off.middleCols(2 * t, 2);
      J.block(2 * t - 2, 2 * t, 2, 2) = potentials.J_off.middleCols(2 * t, 2).transpose();
    }
  }
  const Matrix covariance = J.inverse();
  const Vector mean = covariance * potentials.h.reshaped();
  ssm::StatePosterior q = ssm::StatePosterior::zero(2, n);
  ASSERT_TRUE(posterior_of(potentials, problem.series, Matrix::Zero(2, n), q));
  EXPECT_LT((q.m.reshaped() - mean).cwiseAbs().maxCoeff(), 1e-10);
  const Matrix P = ssm::marginal_covariances(q);
  for (Index t = 0; t < n; ++t) {
    EXPECT_LT((P.middleCols(2 * t, 2) - covariance.block(2 * t, 2 * t, 2, 2)).cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(ChainPotentialsThreads, SameBitsForAnyNumberOfThreads) {
  const RandomProblem problem({.states = 2, .rows = 400});
  const auto potentials = [&](int threads, ChainPotentials& current, ChainPotentials& target) {
    ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2), threads);
    ssm::Parameters p_bar;
    ssm::StatePosterior q_bar;
    elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
    potentials_of(problem.q, problem.series, current, threads);
    target_potentials(elbo, problem.parameters, problem.q, q_bar, target);
  };
  ChainPotentials current_1, current_3, target_1, target_3;
  potentials(1, current_1, target_1);
  potentials(3, current_3, target_3);
  EXPECT_EQ(current_1.J, current_3.J);
  EXPECT_EQ(current_1.J_off, current_3.J_off);
  EXPECT_EQ(target_1.J, target_3.J);
  EXPECT_EQ(target_1.J_off, target_3.J_off);
  EXPECT_EQ(target_1.h, target_3.h);
}

TEST(ChainPotentials, NotPositiveDefiniteIsSaid) {
  const RandomProblem problem({.states = 2});
  ChainPotentials potentials;
  potentials_of(problem.q, problem.series, potentials);
  potentials.J.middleCols(4, 2) -= 100.0 * Matrix::Identity(2, 2);
  ssm::StatePosterior q = problem.q;
  EXPECT_FALSE(posterior_of(potentials, problem.series, problem.q.m, q));
}

TEST(Smooth, ModelWithoutAPosteriorIsAnError) {
  const RandomProblem problem({.states = 1});
  const Matrix one = Matrix::Ones(1, 1);
  LinearGaussian model{one,
                       one,
                       Matrix::Zero(1, 2),
                       Vector::Constant(1, -1.0),
                       one,
                       Vector::Zero(1),
                       Vector::Ones(1),
                       {Vector::Zero(1), Vector::Ones(1)},
                       {Vector::Zero(1), Vector::Ones(1)}};
  EXPECT_THROW(smooth(model, problem.series), NumericalError);
}

struct Case {
  Index states;
  kernels::Kind kernel;
  bool kinematics;
  bool angles = false;
};

class EStep : public testing::TestWithParam<Case> {
 protected:
  EStep()
      : problem({.states = GetParam().states,
                 .inducing = 6,
                 .rows = 12,
                 .kernel = GetParam().kernel,
                 .kinematics = GetParam().kinematics,
                 .angles = GetParam().angles}),
        elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, problem.structure.states)) {
    priors.centre = problem.parameters;
  }

  BoundOptimiser optimiser() {
    return {elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q};
  }

  RandomProblem problem;
  ssm::Elbo elbo;
  Priors priors;
};

TEST_P(EStep, EveryAcceptedStepRaisesTheBound) {
  BoundOptimiser t = optimiser();
  const double gain = t.e_step(20, 0.0);
  EXPECT_GT(gain, 0.0);
  ASSERT_GT(t.trace().size(), 3U);
  for (std::size_t k = 1; k < t.trace().size(); ++k) {
    EXPECT_GT(t.trace()[k], t.trace()[k - 1]) << "step " << k;
  }
  EXPECT_NEAR(elbo.value(problem.parameters, t.states()), t.bound(), 1e-9);
}

/// The gradient in coordinates in which a unit is a standard deviation.
TEST_P(EStep, ItsFixedPointHasNoGradient) {
  BoundOptimiser t = optimiser();
  t.e_step(400, 0.0);
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  elbo.gradient(problem.parameters, t.states(), p_bar, q_bar);
  const StateWhitening whitening(t.states(), problem.series);
  Vector gradient(whitening.size());
  whitening.pull_back(Vector::Zero(whitening.size()), q_bar, gradient);
  EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, EStep,
                         testing::Values(Case{1, kernels::Kind::kSquaredExponential, false},
                                         Case{2, kernels::Kind::kSquaredExponential, true},
                                         Case{2, kernels::Kind::kMatern52, false},
                                         Case{3, kernels::Kind::kMatern32, true},
                                         Case{2, kernels::Kind::kSquaredExponential, true, true},
                                         Case{3, kernels::Kind::kMatern52, false, true}));

}  // namespace
}  // namespace gpilot::inference
