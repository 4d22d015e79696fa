#include "gpilot/ssm/residual_tests.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"

namespace gpilot::ssm {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Matrix noise(Index rows, std::uint32_t trial) {
  RandomStream stream(7, Purpose::kTest, trial, 0);
  Matrix values(rows, 1);
  for (Index t = 0; t < rows; ++t) {
    values(t, 0) = stream.normal();
  }
  return values;
}

/// An input that holds each value for five rows.
Matrix held(Index rows, std::uint32_t trial) {
  const Matrix values = noise(rows, trial);
  Matrix u(rows, 1);
  for (Index t = 0; t < rows; ++t) {
    u(t, 0) = values(t / 5, 0);
  }
  return u;
}

TEST(ResidualTests, LjungAndBoxByHand) {
  const Matrix e{{1.0}, {-2.0}, {0.5}, {3.0}, {-1.0}, {0.0}, {-2.5}, {1.0}};  // its mean is 0
  const Matrix u = Matrix::Zero(8, 1);
  const ResidualTests tests = test_residuals({{e, u}}, 2);
  const double squares = e.squaredNorm();
  double q = 0.0;
  for (const Index k : {1, 2}) {
    const double r = e.topRows(8 - k).col(0).dot(e.bottomRows(8 - k).col(0)) / squares;
    q += 8.0 * 10.0 * r * r / static_cast<double>(8 - k);
  }
  EXPECT_EQ(tests.count[0], 8);
  EXPECT_EQ(tests.whiteness[0].degrees, 2);
  EXPECT_NEAR(tests.whiteness[0].statistic, q, 1e-12);
  EXPECT_NEAR(tests.whiteness[0].p, std::exp(-0.5 * q), 1e-12);  // chi-squared with two degrees
  EXPECT_TRUE(std::isnan(tests.inputs[0][0].p)) << "an input that never changes says nothing";
}

TEST(ResidualTests, HaveTheSizeTheySay) {
  constexpr int kTrials = 400;
  int coloured = 0;
  int correlated = 0;
  for (std::uint32_t k = 0; k < kTrials; ++k) {
    Matrix e = noise(150, 2 * k);
    e(20, 0) = e(21, 0) = kNaN;
    const Matrix u = held(150, 2 * k + 1);
    const ResidualTests tests = test_residuals({{e, u}, {noise(60, 5000 + k), held(60, 9000 + k)}}, 10);
    coloured += tests.whiteness[0].p < 0.05 ? 1 : 0;
    correlated += tests.inputs[0][0].p < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(coloured) / kTrials, 0.05, 0.035);
  EXPECT_NEAR(static_cast<double>(correlated) / kTrials, 0.05, 0.035);
}

TEST(ResidualTests, FindWhatIsLeft) {
  const Matrix w = noise(300, 1);
  const Matrix u = held(300, 2);
  Matrix coloured = w;
  Matrix driven = w;
  for (Index t = 3; t < 300; ++t) {
    coloured(t, 0) += 0.5 * coloured(t - 1, 0);
    driven(t, 0) += 0.5 * u(t - 3, 0);
  }
  const ResidualTests first = test_residuals({{coloured, u}}, 20);
  EXPECT_LT(first.whiteness[0].p, 1e-6);
  EXPECT_NEAR(first.whiteness[0].correlation(0), 0.5, 0.15);
  EXPECT_GT(first.inputs[0][0].p, 1e-3);
  const ResidualTests second = test_residuals({{driven, u}}, 20);
  EXPECT_LT(second.inputs[0][0].p, 1e-6);
  Index lag = 0;
  second.inputs[0][0].correlation.maxCoeff(&lag);
  EXPECT_EQ(lag, 3);
}

TEST(ResidualTests, TooFewRowsAreNoTest) {
  const Matrix e = noise(7, 1);
  EXPECT_TRUE(std::isnan(test_residuals({{e, e}}, 20).whiteness[0].p));
  EXPECT_EQ(test_residuals({{noise(40, 1), noise(40, 2)}}, 20).whiteness[0].degrees, 10);
  EXPECT_THROW(test_residuals({}, 3), InputError);
}

}  // namespace
}  // namespace gpilot::ssm
