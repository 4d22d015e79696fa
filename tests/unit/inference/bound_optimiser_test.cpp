#include "gpilot/inference/trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/error.hpp"
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
    Trainer trainer(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q);
    const double start = trainer.objective();
    trainer.rounds(3, 2, 4, 0.0);
    trainer.finish(15);
    expect_rising(trainer.trace());
    EXPECT_GT(trainer.objective(), start) << "seed " << seed;
    EXPECT_EQ(trainer.trace().back(), trainer.objective());
    ssm::Elbo fresh(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, c.states));
    const double bound = fresh.value(trainer.parameters(), trainer.states());
    EXPECT_NEAR(bound, trainer.bound(), 1e-9 * std::max(1.0, std::abs(bound)));
    EXPECT_NEAR(bound + priors.log_density(trainer.parameters(), nullptr), trainer.objective(),
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

TEST(Trainer, FixedParametersStay) {
  const RandomProblem problem({});
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  ssm::Free free = ssm::Free::defaults(problem.structure);
  free.q(1) = 0.0;
  free.r.setZero();
  Trainer trainer(elbo, priors, free, problem.parameters, problem.q);
  trainer.rounds(2, 2, 5, 0.0);
  trainer.polish(10);
  EXPECT_EQ(trainer.parameters().log_q(1), problem.parameters.log_q(1));
  EXPECT_EQ(trainer.parameters().log_r, problem.parameters.log_r);
  EXPECT_EQ(trainer.parameters().C, problem.parameters.C);
  EXPECT_EQ(trainer.parameters().mean_weights, problem.parameters.mean_weights);
  EXPECT_NE(trainer.parameters().log_q(0), problem.parameters.log_q(0));
  EXPECT_NE(trainer.parameters().Z, problem.parameters.Z);
}

TEST(Trainer, WeightsAreThoseOfTheFinalState) {
  const RandomProblem problem({});
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  Trainer trainer(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q);
  trainer.rounds(2, 2, 3, 0.0);
  const std::vector<gp::Weights> weights = trainer.weights();
  EXPECT_NEAR(elbo.value(trainer.parameters(), trainer.states(), &weights), trainer.bound(),
              1e-9 * std::abs(trainer.bound()));
  EXPECT_GE(trainer.e_step(1), 0.0);  // goes on as if nothing had been asked
}

TEST(Trainer, StartWithoutABoundIsAnError) {
  RandomProblem problem({});
  problem.q.S_chol(0, 0) = -1.0;
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  Priors priors;
  priors.centre = problem.parameters;
  EXPECT_THROW(Trainer(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q),
               NumericalError);
}

TEST(Elbo, ABoundThatIsNotFiniteIsAnError) {
  RandomProblem problem({});
  problem.q.m(0, 1) = 1e200;
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2));
  EXPECT_THROW(elbo.value(problem.parameters, problem.q), NumericalError);
}

}  // namespace
}  // namespace gpilot::inference
