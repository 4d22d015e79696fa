/// A model without Gaussian processes is linear-Gaussian: smoother, E-step and bound must give what an independent
/// Kalman filter with Rauch-Tung-Striebel smoothing gives.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/bound_optimiser.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "support/kalman.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::kalman_rts;
using test::KalmanResult;
using test::linear_model;
using test::RandomProblem;

struct Case {
  Index states;
  bool kinematics;
  bool missing;  ///< a third of the outputs, and all of one row
  Index rows;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.states << " states, " << c.rows << " rows" << (c.kinematics ? ", kinematics" : "")
       << (c.missing ? ", missing outputs" : "");
}

RandomProblem linear_problem(const Case& c) {
  RandomProblem problem({.states = c.states,
                         .inducing = 0,
                         .rows = c.rows,
                         .linear_kernel = false,
                         .mean = MeanKind::kLinear,
                         .kinematics = c.kinematics});
  if (c.missing) {
    RandomStream random(3, Purpose::kTest);
    for (Index i = 0; i < problem.series.outputs.size(); ++i) {
      if (random.uniform() < 0.3) {
        problem.series.outputs.data()[i] = std::nan("");
      }
    }
    problem.series.outputs.col(2).setConstant(std::nan(""));
  }
  return problem;
}

Elbo elbo_of(const RandomProblem& problem) {
  return {problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, problem.structure.states)};
}

void expect_same(const StatePosterior& q, const KalmanResult& exact, double tolerance) {
  const Matrix P = marginal_covariances(q);
  EXPECT_LT((q.m - exact.mean).cwiseAbs().maxCoeff(), tolerance);
  EXPECT_LT((P - exact.covariance).cwiseAbs().maxCoeff(), tolerance);
  const Index D = q.states();
  for (Index t = 1; t < q.rows(); ++t) {
    const Matrix cross = q.A.middleCols(D * t, D) * P.middleCols(D * (t - 1), D);
    EXPECT_LT((cross - exact.cross.middleCols(D * t, D)).cwiseAbs().maxCoeff(), tolerance) << "row " << t;
  }
}

inference::BoundOptimiser trainer_of(Elbo& elbo, const RandomProblem& problem) {
  inference::Priors priors;
  priors.centre = problem.parameters;
  return {elbo, priors, Free::defaults(problem.structure), problem.parameters, problem.q};
}

class LinearGaussianModel : public testing::TestWithParam<Case> {};

TEST_P(LinearGaussianModel, SmootherEqualsKalmanRts) {
  const RandomProblem problem = linear_problem(GetParam());
  const inference::LinearGaussian model = linear_model(problem.structure, problem.parameters);
  expect_same(inference::smooth(model, problem.series), kalman_rts(model, problem.series), 1e-10);
}

TEST_P(LinearGaussianModel, BoundIsTheLogEvidenceAtTheExactPosterior) {
  const RandomProblem problem = linear_problem(GetParam());
  const inference::LinearGaussian model = linear_model(problem.structure, problem.parameters);
  const double evidence = kalman_rts(model, problem.series).log_evidence;
  Elbo elbo = elbo_of(problem);
  EXPECT_NEAR(elbo.value(problem.parameters, inference::smooth(model, problem.series)), evidence,
              1e-9 * std::abs(evidence));
}

TEST_P(LinearGaussianModel, BoundIsLowerElsewhere) {
  const RandomProblem problem = linear_problem(GetParam());
  const inference::LinearGaussian model = linear_model(problem.structure, problem.parameters);
  const StatePosterior exact = inference::smooth(model, problem.series);
  Elbo elbo = elbo_of(problem);
  const double evidence = elbo.value(problem.parameters, exact);
  const Index D = exact.states();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RandomStream random(seed, Purpose::kTest);
    const double by = std::pow(10.0, -static_cast<double>(seed));
    StatePosterior q = exact;
    q.m += by * random.normal_matrix(q.m.rows(), q.m.cols());
    q.A += by * random.normal_matrix(q.A.rows(), q.A.cols());
    for (const Index first : problem.series.start) {
      if (first < q.rows()) {
        q.A.middleCols(D * first, D).setZero();
      }
    }
    q.S_chol *= 1.0 + by;
    EXPECT_LT(elbo.value(problem.parameters, q), evidence) << "seed " << seed;
  }
}

TEST_P(LinearGaussianModel, OneEStepFromAnywhereIsExact) {
  const RandomProblem problem = linear_problem(GetParam());
  const KalmanResult exact = kalman_rts(linear_model(problem.structure, problem.parameters), problem.series);
  Elbo elbo = elbo_of(problem);
  inference::BoundOptimiser optimiser = trainer_of(elbo, problem);
  optimiser.e_step(1);
  expect_same(optimiser.states(), exact, 1e-8);
  EXPECT_NEAR(optimiser.bound(), exact.log_evidence, 1e-9 * std::abs(exact.log_evidence));
}

TEST_P(LinearGaussianModel, LinearKernelWithAVanishingPriorIsTheSameModel) {
  RandomProblem problem = linear_problem(GetParam());
  const inference::LinearGaussian model = linear_model(problem.structure, problem.parameters);
  problem.structure.linear_kernel = true;
  problem.parameters.log_linear_sd =
      Matrix::Constant(problem.structure.inputs() + 1, problem.parameters.mean_weights.cols(), -15.0);
  Elbo elbo = elbo_of(problem);
  const KalmanResult exact = kalman_rts(model, problem.series);
  inference::BoundOptimiser optimiser = trainer_of(elbo, problem);
  optimiser.e_step(3);
  expect_same(optimiser.states(), exact, 1e-6);
  EXPECT_NEAR(optimiser.bound(), exact.log_evidence, 1e-6 * std::abs(exact.log_evidence));
}

INSTANTIATE_TEST_SUITE_P(All, LinearGaussianModel,
                         testing::Values(Case{1, false, false, 9}, Case{2, false, true, 12}, Case{2, true, false, 9},
                                         Case{3, true, true, 10}, Case{4, true, true, 8}, Case{6, false, true, 8}));

}  // namespace
}  // namespace gpilot::ssm
