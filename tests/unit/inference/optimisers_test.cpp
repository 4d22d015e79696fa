#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/adam.hpp"
#include "gpilot/inference/lbfgs.hpp"
#include "support/random_problem.hpp"

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
    EXPECT_EQ(result.stop, LbfgsStop::kConverged) << result.message();
    EXPECT_EQ(result.message(), "");
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

TEST(Lbfgs, IterationLimitIsAStatus) {
  Vector x = Eigen::Vector2d(-1.2, 1.0);
  Vector gradient(2);
  const double start = rosenbrock(x, gradient);
  const LbfgsResult result = minimize(rosenbrock, x, {.max_iterations = 3});
  EXPECT_EQ(result.stop, LbfgsStop::kIterationLimit);
  EXPECT_EQ(result.message(), "iteration limit reached");
  EXPECT_LT(result.value, start);
  EXPECT_EQ(rosenbrock(x, gradient), result.value);
}

TEST(Lbfgs, KeepsTheBestPointOfAFunctionThatLies) {
  // The gradient points the wrong way: no step can succeed, and the start must come back.
  const auto f = [](const Vector& x, Vector& gradient) {
    gradient = -x;
    return 0.5 * x.squaredNorm();
  };
  Vector x = Eigen::Vector2d(1.0, 2.0);
  const LbfgsResult result = minimize(f, x, {});
  EXPECT_EQ(x, Vector(Eigen::Vector2d(1.0, 2.0)));
  EXPECT_EQ(result.value, 2.5);
  EXPECT_EQ(result.stop, LbfgsStop::kLineSearch);
  EXPECT_NE(result.message().find("the line search gave up: "), std::string::npos) << result.message();
}

/// Errors of the objective are not failures of the optimiser, even where they have the types that its library throws.
TEST(Lbfgs, WhatTheObjectiveThrowsPassesThrough) {
  for (const int fails_at : {1, 2, 5}) {
    const auto run = [fails_at]<class Error>(const Error& error) {
      int count = 0;
      const auto f = [&](const Vector& x, Vector& gradient) {
        if (++count == fails_at) {
          throw error;
        }
        return rosenbrock(x, gradient);
      };
      Vector x = Eigen::Vector2d(-1.2, 1.0);
      EXPECT_THROW(minimize(f, x, {}), Error) << "evaluation " << fails_at;
      EXPECT_EQ(count, fails_at);
    };
    run(NumericalError("no factor"));
    run(InputError("a wrong value"));
    run(std::logic_error("a defect"));
  }
}

TEST(Adam, FirstStepIsTheLearningRateInTheGradientsDirection) {
  Adam adam(3, 0.1);
  Vector x = Vector::Zero(3);
  adam.step(Eigen::Vector3d(5.0, -1e-3, 0.0), x);
  EXPECT_NEAR(x(0), 0.1, 1e-6);
  EXPECT_NEAR(x(1), -0.1, 1e-5);
  EXPECT_EQ(x(2), 0.0);
}

TEST(Adam, ClimbsAQuadratic) {
  const Vector top = Eigen::Vector3d(1.0, -2.0, 0.5);
  const Vector curvature = Eigen::Vector3d(1.0, 100.0, 0.1);
  Adam adam(3, 0.02);
  Vector x = Vector::Zero(3);
  for (int k = 0; k < 2000; ++k) {
    adam.step(curvature.cwiseProduct(top - x), x);
  }
  EXPECT_LT((x - top).cwiseAbs().maxCoeff(), 1e-3);
}

class SampledTraining : public testing::TestWithParam<bool> {};

TEST_P(SampledTraining, RaisesTheBoundAndIsReproducible) {
  const test::RandomProblem problem({.rows = 10});
  Priors priors;
  priors.centre = problem.parameters;
  const ssm::Free free = ssm::Free::defaults(problem.structure);
  const SampledOptions options{
      .epochs = 60, .learning_rate = 0.03, .samples = 20, .tied = GetParam(), .seed = 3, .on_epoch = {}};
  const auto train = [&] {
    ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kSamples, 2, 20));
    return train_sampled(elbo, priors, free, problem.parameters, problem.q, options);
  };
  const SampledResult result = train();
  ASSERT_EQ(result.trace.size(), 60U);
  EXPECT_GT(result.trace.back(), result.trace.front() + 1.0);
  ssm::Elbo exact(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kGaussHermite, 2, 7));
  const double given = exact.value(result.parameters, result.states, &result.weights);
  EXPECT_LE(given, exact.value(result.parameters, result.states)) << "q(v) cannot beat the optimal one";
  const SampledResult again = train();
  EXPECT_EQ(again.trace, result.trace);
  EXPECT_EQ(again.parameters.Z, result.parameters.Z);
  EXPECT_EQ(again.states.m, result.states.m);
}

INSTANTIATE_TEST_SUITE_P(FreeAndTied, SampledTraining, testing::Bool());

}  // namespace
}  // namespace gpilot::inference
