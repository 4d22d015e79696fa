#include "gpilot/ssm/batch_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::RandomProblem;

Transition make_transition(const RandomProblem::Options& options) {
  const RandomProblem problem(options);
  RandomStream random(options.seed, Purpose::kTest, 1);
  const Index features = problem.structure.features();
  std::vector<gp::Weights> weights;
  for (std::size_t g = 0; g < problem.structure.gp_rows().size(); ++g) {
    const Matrix root = 0.2 * random.normal_matrix(features, features);
    weights.push_back({0.3 * random.normal_vector(features), root * root.transpose()});
  }
  return {problem.structure, problem.parameters, weights};
}

/// Runs both filters over random data, one of whose outputs is missing.
void expect_same_as_filter(const RandomProblem::Options& options) {
  constexpr Index kCount = 7;
  constexpr Index kRows = 5;
  const Transition transition = make_transition(options);
  const Structure& s = transition.structure();
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kAuto, s.states);
  const Filter filter(transition, nodes);
  const BatchFilter batch_filter(transition, nodes);
  BeliefBatch batch = batch_filter.initial(kCount);
  std::vector<StateBelief> beliefs(kCount, filter.initial());
  std::vector<bool> diverged(kCount, false);
  RandomStream random(8, Purpose::kTest);
  for (Index t = 0; t < kRows; ++t) {
    const Matrix controls = random.normal_matrix(s.controls, kCount);
    Matrix y = random.normal_matrix(s.outputs, kCount);
    y(0, t) = std::numeric_limits<double>::quiet_NaN();
    batch_filter.predict(batch, controls, diverged);
    batch_filter.update(batch, y);
    Matrix mean;
    Matrix variance;
    batch_filter.outputs(batch, mean, variance);
    for (Index n = 0; n < kCount; ++n) {
      StateBelief& belief = beliefs[static_cast<std::size_t>(n)];
      belief = filter.predict(belief, controls.col(n));
      filter.update(belief, y.col(n));
      EXPECT_LT((batch.mean.col(n) - belief.mean).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((batch.covariance.middleCols(n * s.states, s.states) - belief.covariance).cwiseAbs().maxCoeff(), 1e-12);
      Vector one_mean;
      Vector one_variance;
      filter.outputs(belief, one_mean, one_variance);
      const Vector noise = transition.parameters().log_r.array().exp();
      EXPECT_LT((mean.col(n) - one_mean).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT((variance.col(n) + noise - one_variance).cwiseAbs().maxCoeff(), 1e-12);
    }
  }
  EXPECT_EQ(std::count(diverged.begin(), diverged.end(), true), 0);
}

TEST(BatchFilter, BeginsAnywhereIfAsked) {
  const Transition transition = make_transition({.states = 3});
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kAuto, 3);
  for (const bool broad : {false, true}) {
    const StateBelief one = Filter(transition, nodes).initial(broad);
    const BeliefBatch batch = BatchFilter(transition, nodes).initial(2, broad);
    for (Index n = 0; n < 2; ++n) {
      EXPECT_EQ(Vector(batch.mean.col(n)), one.mean);
      EXPECT_EQ(Matrix(batch.covariance.middleCols(3 * n, 3)), one.covariance);
    }
  }
}

TEST(BatchFilter, IsTheFilterOfEachTrajectory) {
  for (const Index states : {1, 2, 3, 4}) {
    for (const Index inducing : {0, 4}) {
      expect_same_as_filter({.states = states, .inducing = inducing});
    }
  }
  expect_same_as_filter({.states = 4, .kinematics = true});
  expect_same_as_filter({.kernel = kernels::Kind::kMatern32, .linear_kernel = false, .mean = MeanKind::kZero});
}

TEST(BatchFilter, ABeliefThatDivergesStaysAndIsMarked) {
  const Transition transition = make_transition({.states = 2});
  const BatchFilter filter(transition, gp::make_nodes(gp::NodeRule::kAuto, 2));
  BeliefBatch beliefs = filter.initial(4);
  beliefs.mean.col(1).setConstant(std::numeric_limits<double>::infinity());
  beliefs.mean.col(2).setConstant(1e6);
  beliefs.covariance.middleCols(6, 2).setConstant(std::numeric_limits<double>::quiet_NaN());
  const BeliefBatch before = beliefs;
  std::vector<bool> diverged(4, false);
  filter.predict(beliefs, Matrix::Zero(transition.structure().controls, 4), diverged);
  EXPECT_EQ(diverged, (std::vector<bool>{false, true, true, true}));
  EXPECT_NE(beliefs.mean.col(0), before.mean.col(0));
  EXPECT_TRUE(beliefs.mean.col(0).allFinite());
  EXPECT_EQ(beliefs.mean.rightCols(3), before.mean.rightCols(3));
}

}  // namespace
}  // namespace gpilot::ssm
