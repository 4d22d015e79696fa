#include "gpilot/inference/bound_optimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "support/message_of.hpp"
#include "support/random_problem.hpp"

namespace gpilot::inference {
namespace {

using test::RandomProblem;

struct Case {
  Index states;
  kernels::Kind kernel;
  bool linear_kernel;
  ssm::MeanKind mean;
  bool kinematics;
};

void expect_rising(const std::vector<double>& trace) {
  for (std::size_t k = 1; k < trace.size(); ++k) {
    EXPECT_GE(trace[k], trace[k - 1]) << "step " << k;
  }
}

class Training : public testing::TestWithParam<Case> {};

TEST_P(Training, ObjectiveNeverFallsAndIsWhatItSays) {
  const Case c = GetParam();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const RandomProblem problem({.states = c.states,
                                 .inducing = 5,
                                 .rows = 10,
                                 .kernel = c.kernel,
                                 .linear_kernel = c.linear_kernel,
                                 .mean = c.mean,
                                 .kinematics = c.kinematics,
                                 .seed = seed});
    ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, c.states));
    Priors priors;
    priors.centre = problem.parameters;
    BoundOptimiser optimiser(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q);
    const double start = optimiser.objective();
    optimiser.rounds(3, 2, 4, 0.0);
    optimiser.finish(15);
    expect_rising(optimiser.trace());
    EXPECT_GT(optimiser.objective(), start) << "seed " << seed;
    EXPECT_EQ(optimiser.trace().back(), optimiser.objective());
    ssm::Elbo fresh(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, c.states));
    const double bound = fresh.value(optimiser.parameters(), optimiser.states());
    EXPECT_NEAR(bound, optimiser.bound(), 1e-9 * std::max(1.0, std::abs(bound)));
    EXPECT_NEAR(bound + priors.log_density(optimiser.parameters(), nullptr), optimiser.objective(),
                1e-9 * std::max(1.0, std::abs(bound)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Training,
    testing::Values(Case{1, kernels::Kind::kSquaredExponential, true, ssm::MeanKind::kIdentity, false},
                    Case{2, kernels::Kind::kMatern52, false, ssm::MeanKind::kLinear, true},
                    Case{2, kernels::Kind::kMatern12, true, ssm::MeanKind::kZero, false},
                    Case{3, kernels::Kind::kMatern32, true, ssm::MeanKind::kIdentity, true},
                    Case{5, kernels::Kind::kSquaredExponential, false, ssm::MeanKind::kIdentity, false}));

TEST(BoundOptimiser, FixedParametersStay) {
  const RandomProblem problem({});
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  ssm::Free free = ssm::Free::defaults(problem.structure);
  free.q(1) = 0.0;
  free.r.setZero();
  BoundOptimiser optimiser(elbo, priors, free, problem.parameters, problem.q);
  optimiser.rounds(2, 2, 5, 0.0);
  optimiser.polish(10);
  EXPECT_EQ(optimiser.parameters().log_q(1), problem.parameters.log_q(1));
  EXPECT_EQ(optimiser.parameters().log_r, problem.parameters.log_r);
  EXPECT_EQ(optimiser.parameters().C, problem.parameters.C);
  EXPECT_EQ(optimiser.parameters().mean_weights, problem.parameters.mean_weights);
  EXPECT_NE(optimiser.parameters().log_q(0), problem.parameters.log_q(0));
  EXPECT_NE(optimiser.parameters().Z, problem.parameters.Z);
}

TEST(BoundOptimiser, WeightsAreThoseOfTheFinalState) {
  const RandomProblem problem({});
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  BoundOptimiser optimiser(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q);
  optimiser.rounds(2, 2, 3, 0.0);
  const std::vector<gp::Weights> weights = optimiser.weights();
  EXPECT_NEAR(elbo.value(optimiser.parameters(), optimiser.states(), &weights), optimiser.bound(),
              1e-9 * std::abs(optimiser.bound()));
  EXPECT_GE(optimiser.e_step(1), 0.0);  // goes on as if nothing had been asked
}

TEST(BoundOptimiser, StartWithoutABoundIsAnError) {
  RandomProblem problem({});
  problem.q.S_chol(0, 0) = -1.0;
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  const std::string message = test::message_of<NumericalError>(
      [&] { BoundOptimiser(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q); });
  EXPECT_NE(message.find("S_chol of row 0"), std::string::npos) << message;
}

TEST(BoundOptimiser, AnErrorOfTheCallbackEndsTraining) {
  const RandomProblem problem({});
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  BoundOptimiser optimiser(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q);
  optimiser.on_evaluation([](double) -> bool { throw NumericalError("the disk is full"); });
  EXPECT_THROW(optimiser.m_step(5), NumericalError);
  EXPECT_THROW(optimiser.polish(5), NumericalError);
}

/// The prior pulls the kernel to where its variance overflows: steps beyond are infeasible, not fatal, and the
/// message keeps the cause.
TEST(BoundOptimiser, AnInfeasiblePointIsStepBackFromAndItsCauseKept) {
  const RandomProblem problem({});
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  priors.log_variance = {.mean = 1e4, .sd = 1.0};
  BoundOptimiser optimiser(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q);
  const double start = optimiser.objective();
  optimiser.polish(200, 0.0);
  EXPECT_FALSE(optimiser.converged());
  EXPECT_GT(optimiser.objective(), start);
  EXPECT_TRUE(std::isfinite(optimiser.objective()));
  EXPECT_NE(optimiser.message().find("the line search gave up: "), std::string::npos) << optimiser.message();
  EXPECT_NE(optimiser.message().find("could not be evaluated at a point it tried: "), std::string::npos)
      << optimiser.message();
}

TEST(Elbo, ABoundThatIsNotFiniteIsAnError) {
  RandomProblem problem({});
  problem.q.m(0, 1) = 1e200;
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  EXPECT_THROW(elbo.value(problem.parameters, problem.q), NumericalError);
}

}  // namespace
}  // namespace gpilot::inference
