#include "gpilot/ssm/sensible.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Sensible, EachThresholdIsFartherOutThanTheOneBefore) {
  EXPECT_LT(kFarthestReference, kFarthestPath);
  EXPECT_LT(kFarthestPath, kFarthestPrediction);
  EXPECT_LT(kFarthestPrediction, kFarthestState);
}

TEST(Sensible, AnAngleMayTurnForEver) {
  Structure structure;
  structure.states = 2;
  structure.angles = {{.input = 1, .omega = 1.0}};
  const Vector limits = prediction_limits(structure);
  const Matrix P = Matrix::Identity(2, 2);
  EXPECT_TRUE(is_within(Vector(Eigen::Vector2d(0.9 * kFarthestPrediction, 1e9)), P, limits));
  EXPECT_FALSE(is_within(Vector(Eigen::Vector2d(-1.1 * kFarthestPrediction, 0.0)), P, limits));
}

TEST(Sensible, WhatIsNoDistributionIsNot) {
  const Vector limits = Vector::Constant(2, kFarthestPrediction);
  const Vector mean = Vector::Zero(2);
  Matrix P = Matrix::Identity(2, 2);
  EXPECT_TRUE(is_within(mean, P, limits));
  EXPECT_TRUE(is_sensible({mean, P}));
  EXPECT_FALSE(is_within(Vector(Eigen::Vector2d(kNaN, 0.0)), P, limits));
  EXPECT_FALSE(is_sensible({Eigen::Vector2d(kNaN, 0.0), P}));
  EXPECT_FALSE(is_sensible({Eigen::Vector2d(0.0, -2.0 * kFarthestState), P}));
  P(1, 1) = 1.1 * kFarthestPrediction * kFarthestPrediction;
  EXPECT_FALSE(is_within(mean, P, limits));
  P(1, 1) = kNaN;
  EXPECT_FALSE(is_within(mean, P, limits));
  EXPECT_FALSE(is_sensible({mean, P}));
}

}  // namespace
}  // namespace gpilot::ssm
