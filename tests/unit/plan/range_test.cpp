/// Where outputs are meant to be.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/plan_criterion.hpp"
#include "gpilot/plan/planner.hpp"
#include "gpilot/plan/reference.hpp"
#include "gpilot/plan/roll_out.hpp"
#include "support/random_context.hpp"

namespace gpilot::plan {
namespace {

using test::RandomContext;

constexpr double kAnywhere = std::numeric_limits<double>::infinity();
constexpr Index kHorizon = 5;

class RangeTest : public ::testing::Test {
 protected:
  RangeTest() : random_({.seed = 3}), context_(random_.context()), uncertainty_(function_uncertainty(context_)) {
    context_.range = &range_;
  }

  /// The path of one plan.
  RollOut path() const {
    RollOut paths(context_, uncertainty_, kHorizon);
    paths.run(Matrix::Constant(kHorizon * context_.box.low.size(), 1, 0.1));
    return paths;
  }

  double value(RollOut& paths) const {
    const Reference reference = make_reference(context_, uncertainty_);
    ReferenceVariance criterion(reference);
    criterion.prepare(paths);
    return criterion.value(paths, 0, paths.outputs(0));
  }

  RandomContext random_;
  DecisionContext context_;
  std::vector<gp::PackedPosterior> uncertainty_;
  /// An output, from `low` to `high`, and two states that may be anywhere.
  static Box output_in(double low, double high) {
    return {Vector{{low, -kAnywhere, -kAnywhere}}, Vector{{high, kAnywhere, kAnywhere}}};
  }

  Box range_ = output_in(-kAnywhere, kAnywhere);
};

TEST_F(RangeTest, BeyondItIsTheDistanceOfTheFarthestOutput) {
  const Vector x{{0.3, -0.4}};
  const ssm::Parameters& p = context_.transition.parameters();
  const double y = (p.C * x + p.d)(0);
  range_ = output_in(y - 1.0, y + 1.0);
  EXPECT_EQ(context_.beyond_range(x), 0.0);
  range_ = output_in(y - 1.0, y - 0.5);
  EXPECT_NEAR(context_.beyond_range(x), 0.5, 1e-12);
  range_ = output_in(y + 3.0, y + 4.0);
  EXPECT_NEAR(context_.beyond_range(x), 3.0, 1e-12);
  range_.low(2) = 4.6;  // the second state
  EXPECT_NEAR(context_.beyond_range(x), 5.0, 1e-12);
  context_.range = nullptr;
  EXPECT_EQ(context_.beyond_range(1e9 * x), 0.0);
}

TEST_F(RangeTest, PointsOfAPathAreWorthLessBeyondItAndEarnNothingFarOut) {
  RollOut paths = path();
  EXPECT_EQ(paths.worth(0), Vector::Ones(kHorizon));
  const double everywhere = value(paths);
  EXPECT_GT(everywhere, 0.0);
  range_ = output_in(50.0, 51.0);  // nobody will ever be there
  EXPECT_LT(paths.worth(0).maxCoeff(), 1e-10);
  EXPECT_LT(value(paths), 1e-10 * everywhere);
}

TEST_F(RangeTest, InformationBeyondItEarnsNothing) {
  RollOut paths = path();
  InformationGain criterion;
  const double everywhere = criterion.value(paths, 0, paths.outputs(0));
  EXPECT_GT(everywhere, 0.0);
  range_ = output_in(50.0, 51.0);
  EXPECT_LT(criterion.value(paths, 0, paths.outputs(0)), 1e-10 * everywhere);
}

TEST_F(RangeTest, PlansCountOnLessProcessNoiseThanLimitsDo) {
  const Vector q = context_.transition.process_variance();
  EXPECT_EQ(context_.planned_process_variance(), q / 16.0);
  EXPECT_TRUE(path().outputs(0).unplanned.isZero(0.0));
  const OutputLimits limits{.low = Vector::Constant(1, -1.0), .high = Vector::Constant(1, 1.0)};
  context_.limits = &limits;
  EXPECT_EQ(context_.planned_process_variance(), q / 16.0);
  // One row ahead the noise reaches the outputs through C L^-1.
  const Matrix reach = context_.transition.parameters().C * context_.transition.left_inverse();
  EXPECT_NEAR(path().outputs(0).unplanned(0), 15.0 / 16.0 * reach.row(0).cwiseAbs2().dot(q.transpose()), 1e-12);
}

TEST_F(RangeTest, WhatWeRecommendIsInformationOrTheReferenceOfADeclaredRegion) {
  const Matrix plans = Matrix::Constant(kHorizon, 2, 0.5);
  const auto values = [&](const char* name) { return make_strategy(name)->plan_values(context_, plans); };
  EXPECT_EQ(values("auto"), values("infogain"));
  const Box region{Vector::Constant(3, -1.0), Vector::Constant(3, 1.0)};
  context_.region = &region;
  EXPECT_EQ(values("auto"), values("imse"));
  EXPECT_NE(values("auto"), values("infogain"));
}

TEST_F(RangeTest, TheStepThatLeavesItIsWorthLessToo) {
  RollOut paths = path();
  const Vector outputs = paths.outputs(0).mean;
  Index farthest = 0;
  const double most = outputs.cwiseAbs().maxCoeff(&farthest);
  range_ = output_in(-0.9 * most, 0.9 * most);
  const Vector worth = paths.worth(0);
  EXPECT_NEAR(worth(farthest), std::exp(-4.0 * 0.1 * most), 1e-12);
  if (farthest + 1 < kHorizon) {
    EXPECT_LT(worth(farthest + 1), 1.0);  // it begins out there
  }
}

TEST_F(RangeTest, TheReferenceStaysWithinIt) {
  const ssm::Parameters& p = context_.transition.parameters();
  const auto farthest = [&](const Matrix& X) {
    double most = 0.0;
    for (Index n = 0; n < X.rows(); ++n) {
      most = std::max(most, (p.C * X.row(n).head(2).transpose() + p.d).cwiseAbs().maxCoeff());
    }
    return most;
  };
  const double start = (p.C * context_.transition.structure().x0_mean + p.d).cwiseAbs().maxCoeff();
  const double free = farthest(roll_out_points(context_, 96));
  ASSERT_GT(free, start + 0.2);
  const double limit = 0.5 * (free + start);
  range_ = output_in(-limit, limit);
  EXPECT_LE(farthest(roll_out_points(context_, 96)), limit);
}

}  // namespace
}  // namespace gpilot::plan
