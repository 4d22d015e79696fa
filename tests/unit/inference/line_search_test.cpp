/// Where a line search is tried hardest: a curved valley and the border of a domain.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpilot/inference/lbfgs.hpp"

namespace gpilot::inference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double rosenbrock(const Vector& x, Vector& gradient) {
  double value = 0.0;
  gradient.setZero();
  for (Index i = 0; i + 1 < x.size(); ++i) {
    const double a = x(i + 1) - x(i) * x(i);
    const double b = 1.0 - x(i);
    value += 100.0 * a * a + b * b;
    gradient(i) += -400.0 * a * x(i) - 2.0 * b;
    gradient(i + 1) += 200.0 * a;
  }
  return value;
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrock) {
  for (const Index n : {2, 3}) {  // from four dimensions on there is a second minimum
    Vector x = Vector::Constant(n, 1.0);
    x(0) = -1.2;
    const LbfgsResult result = minimize(rosenbrock, x, {.max_iterations = 500, .tolerance = 1e-14});
    EXPECT_TRUE(result.converged) << result.message;
    EXPECT_LT((x - Vector::Ones(n)).cwiseAbs().maxCoeff(), 1e-5) << n << " dimensions";
    EXPECT_LT(result.value, 1e-10);
    EXPECT_GE(result.evaluations, result.iterations);
  }
}

/// A minimum near the border of the domain (x = 0.905): the first step leaves the domain, where the value is infinite.
TEST(Lbfgs, ComesBackFromWhereTheFunctionIsNotDefined) {
  int outside = 0;
  const auto f = [&](const Vector& x, Vector& gradient) {
    if (std::abs(x(0)) >= 1.0) {
      ++outside;
      gradient.setConstant(std::nan(""));
      return kInfinity;
    }
    gradient(0) = -1.0 + 0.2 * x(0) / (1.0 - x(0) * x(0));
    return -x(0) - 0.1 * std::log(1.0 - x(0) * x(0));
  };
  Vector x = Vector::Constant(1, 0.3);
  const LbfgsResult result = minimize(f, x, {.max_iterations = 200, .tolerance = 1e-12});
  EXPECT_GT(outside, 0);
  Vector gradient(1);
  EXPECT_EQ(f(x, gradient), result.value);
  const double optimum = -0.1 + std::sqrt(1.01);  // 1 - x^2 = 0.2 x
  EXPECT_NEAR(x(0), optimum, 1e-5);
}

}  // namespace
}  // namespace gpilot::inference
