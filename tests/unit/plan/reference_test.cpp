#include "gpilot/plan/reference.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/local.hpp"
#include "gpilot/plan/planner.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/dense_plan.hpp"
#include "support/random_context.hpp"

namespace gpilot::plan {
namespace {

using test::RandomContext;

TEST(Reference, PointsOfARegionFillIt) {
  const Box region{Vector{{-1.0, 2.0, 0.0}}, Vector{{1.0, 2.5, 10.0}}};
  const Matrix X = region_points(region, 200);
  ASSERT_EQ(X.rows(), 200);
  for (Index i = 0; i < 3; ++i) {
    const double width = region.high(i) - region.low(i);
    EXPECT_GT(X.col(i).minCoeff(), region.low(i));
    EXPECT_LT(X.col(i).maxCoeff(), region.high(i));
    EXPECT_LT(X.col(i).minCoeff(), region.low(i) + 0.03 * width);
    EXPECT_GT(X.col(i).maxCoeff(), region.high(i) - 0.03 * width);
    EXPECT_NEAR(X.col(i).mean(), 0.5 * (region.low(i) + region.high(i)), 0.02 * width);
  }
}

TEST(Reference, RollOutsStayWithinWhatTheScalesWereMadeFor) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RandomContext random({.states = 2, .controls = 2, .seed = seed});
    DecisionContext context = random.context();
    context.seed = seed;
    const Matrix X = roll_out_points(context, 96);
    ASSERT_GT(X.rows(), 0);
    ASSERT_LE(X.rows(), 96);
    EXPECT_LE(X.leftCols(2).cwiseAbs().maxCoeff(), 3.0) << "seed " << seed;
    for (Index p = 0; p < 2; ++p) {
      EXPECT_GE(X.col(2 + p).minCoeff(), random.box.low(p) - 1e-12) << "seed " << seed;
      EXPECT_LE(X.col(2 + p).maxCoeff(), random.box.high(p) + 1e-12) << "seed " << seed;
    }
    EXPECT_EQ(X, roll_out_points(context, 96)) << "seed " << seed;
    // The controls that are expected do not change from step to step, but from trial to trial.
    context.step = 7;
    EXPECT_EQ(X, roll_out_points(context, 96)) << "seed " << seed;
    context.trial = 1;
    const Matrix other = roll_out_points(context, 96);
    EXPECT_TRUE(other.rows() != X.rows() || other != X) << "seed " << seed;
  }
}

TEST(Reference, TakesTheDeclaredRegion) {
  RandomContext random({});
  DecisionContext context = random.context();
  context.history = nullptr;
  const Box region{Vector{{0.0, 0.0, -1.0}}, Vector{{0.5, 0.5, 1.0}}};
  context.region = &region;
  const auto uncertainty = function_uncertainty(context);
  const Reference reference = make_reference(context, uncertainty);
  EXPECT_EQ(reference.X, region_points(region, reference.X.rows()));
  double variance = 0.0;
  for (std::size_t g = 0; g < uncertainty.size(); ++g) {
    const Vector expected = test::dense_covariance(random.transition, g, reference.X).diagonal();
    EXPECT_LT((reference.sd[g].cwiseAbs2() - expected).cwiseAbs().maxCoeff(), 1e-10);
    variance += expected.mean() / static_cast<double>(uncertainty.size());
  }
  EXPECT_NEAR(reference.variance, variance, 1e-10);
}

/// A process in (x, c) that has been measured wherever c < 0: the point that teaches lies where c > 0.
TEST(Local, TheMostInformativePointIsWhereVarianceIsAndTheReference) {
  RandomContext random({.states = 1, .controls = 1, .linear_kernel = false});
  const DecisionContext context = random.context();
  const gp::AnchoredKernel kernel{.variance = 1.0,
                                  .angles = {},
                                  .length_scales = Vector::Constant(2, 0.4),
                                  .linear_sd = {},
                                  .anchors = region_points({Vector{{-1.0, -1.0}}, Vector{{1.0, 0.0}}}, 60)};
  const Matrix noisy = kernel.gram() + 0.01 * Matrix::Identity(60, 60);
  const std::vector<gp::PackedPosterior> uncertainty{gp::PackedPosterior(kernel, noisy.inverse())};
  Reference reference;
  reference.X = region_points({Vector::Constant(2, -1.0), Vector::Constant(2, 1.0)}, 96);
  reference.points.resize(1);
  uncertainty[0].project(reference.X, reference.points[0]);
  const Vector point = most_informative_point(context, uncertainty, reference);
  EXPECT_GT(point(1), 0.15);
  // Brute force over the same candidates, from the definition.
  const Matrix candidates =
      region_points({reference.X.colwise().minCoeff().transpose(), reference.X.colwise().maxCoeff().transpose()}, 128);
  const double q = std::exp(random.transition.parameters().log_q(0));
  Matrix both(96 + 1, 2);
  both.topRows(96) = reference.X;
  double best = -1.0;
  Vector expected;
  for (Index k = 0; k < candidates.rows(); ++k) {
    both.row(96) = candidates.row(k);
    gp::PackedPosterior::Points points;
    uncertainty[0].project(both, points);
    Matrix V;
    uncertainty[0].covariance(points, points, V);
    Matrix known = V.topLeftCorner(96, 96);
    known.diagonal().array() += q;
    const double given = test::conditioned(V.bottomRightCorner(1, 1), V.topRightCorner(96, 1), known)(0, 0);
    const double information = 0.5 * std::log((V(96, 96) + q) / (given + q));
    if (information > best) {
      best = information;
      expected = candidates.row(k).transpose();
    }
  }
  EXPECT_EQ(point, expected);
}

TEST(Local, PlansGoTowardsThePoint) {
  RandomContext random({.states = 1, .inducing = 0});
  ssm::Parameters p = random.transition.parameters();
  p.mean_weights.setZero();
  p.mean_weights(0, 0) = 0.8;
  p.mean_weights(1, 0) = 0.5;  // x' = 0.8 x + 0.5 c
  std::vector<gp::Weights> weights = random.transition.weights();
  for (gp::Weights& w : weights) {
    w.mu.setZero();
  }
  random.transition = ssm::Transition(random.transition.structure(), p, weights);
  random.belief.mean.setZero();
  DecisionContext context = random.context();
  context.history = nullptr;
  context.planning.horizon = 6;
  const auto uncertainty = function_uncertainty(context);
  for (const double side : {-1.0, 1.0}) {
    const Vector target{{1.5 * side, 0.6 * side}};  // where x stays under c
    TowardsPoint criterion(target);
    const Choice choice = search_plan({.context = context, .uncertainty = uncertainty, .criterion = criterion});
    double x = 0.0;
    double distance = 0.0;
    for (Index t = 0; t < 6; ++t) {
      distance += std::pow(x - target(0), 2) + std::pow(choice.plan(t, 0) - target(1), 2);
      x = 0.8 * x + 0.5 * choice.plan(t, 0);
    }
    EXPECT_NEAR(choice.criterion, -distance / 6.0, 1e-10);
    EXPECT_GT(side * x, 1.1);
  }
}

}  // namespace
}  // namespace gpilot::plan
