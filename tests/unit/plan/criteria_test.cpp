#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/plan/entropy.hpp"
#include "gpilot/plan/latest_information.hpp"
#include "gpilot/plan/total_information.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/gradient_check.hpp"
#include "support/message_of.hpp"
#include "support/random_context.hpp"

namespace gpilot::plan {
namespace {

using test::RandomContext;

struct Case {
  const char* name;
  RandomContext::Options options;
};

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

class EveryModel : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Criteria, EveryModel,
                         testing::Values(Case{"OneState", {.states = 1}}, Case{"TwoStates", {}},
                                         Case{"Kinematics", {.kinematics = true}}, Case{"TwoOutputs", {.outputs = 2}},
                                         Case{"TwoControls", {.controls = 2}},
                                         Case{"Matern32", {.controls = 2, .kernel = kernels::Kind::kMatern32}},
                                         Case{"NoLinearKernel", {.linear_kernel = false}},
                                         Case{"LinearModel", {.inducing = 0}},
                                         Case{"Angle", {.kinematics = true, .angle = true}},
                                         Case{"AngleWithoutKinematics", {.controls = 2, .angle = true}}),
                         case_name);

void expect_gradient(const Criterion& criterion, const RandomContext& problem) {
  ASSERT_TRUE(criterion.has_gradient());
  RandomStream random(5, Purpose::kTest);
  for (int k = 0; k < 5; ++k) {
    const Vector c = problem.random_control(random);
    Vector gradient;
    const double value = criterion.value(c, &gradient);
    EXPECT_NEAR(criterion.value(c, nullptr), value, 1e-12 * std::abs(value));
    EXPECT_TRUE(test::gradient_matches([&](const Vector& at) { return criterion.value(at, nullptr); }, c, gradient));
  }
}

TEST_P(EveryModel, GradientOfLatestInformation) {
  const RandomContext problem(GetParam().options);
  expect_gradient(*latest_information(problem.context()), problem);
  expect_gradient(*latest_information_from_x0(problem.context()), problem);
}

TEST_P(EveryModel, GradientOfTotalInformation) {
  const RandomContext problem(GetParam().options);
  expect_gradient(*total_information(problem.context()), problem);
}

TEST_P(EveryModel, GradientOfEntropy) {
  const RandomContext problem(GetParam().options);
  expect_gradient(*entropy(problem.context()), problem);
}

TEST_P(EveryModel, LatestInformationIsPositive) {
  const RandomContext problem(GetParam().options);
  const auto criterion = latest_information(problem.context());
  RandomStream random(6, Purpose::kTest);
  for (int k = 0; k < 50; ++k) {
    EXPECT_GT(criterion->value(problem.random_control(random), nullptr), 0.0);
  }
}

TEST_P(EveryModel, LatestInformationMatchesMonteCarlo) {
  // 1/2 log det cov(y) / det cov(y|f): the covariance of many samples of f. The nodes' own error is of third order in
  // the belief's spread, so the belief is narrow.
  RandomContext problem(GetParam().options);
  problem.narrow_belief(0.2);
  const auto criterion = latest_information(problem.context());
  RandomStream random(7, Purpose::kTest);
  const Vector c = problem.random_control(random);
  const Matrix f = problem.sample_function_values(c, 100'000, random);
  const Matrix centred = f.rowwise() - f.colwise().mean();
  const Matrix V = centred.transpose() * centred / static_cast<double>(f.rows());
  const ssm::Parameters& p = problem.transition.parameters();
  Matrix noise = p.C * problem.transition.process_covariance() * p.C.transpose();
  noise.diagonal() += p.log_r.array().exp().matrix();
  const Matrix total = noise + p.C * V * p.C.transpose();
  EXPECT_NEAR(criterion->value(c, nullptr), 0.5 * std::log(total.determinant() / noise.determinant()), 0.02);
}

TEST(LatestInformation, IsZeroWhenNothingIsLeftToLearn) {
  RandomContext problem({.kinematics = true});
  problem.narrow_belief(0.0);
  problem.know_the_function();
  const auto criterion = latest_information(problem.context());
  RandomStream random(8, Purpose::kTest);
  for (int k = 0; k < 10; ++k) {
    EXPECT_NEAR(criterion->value(problem.random_control(random), nullptr), 0.0, 1e-6);
  }
}

TEST(LatestInformation, FromX0ForgetsTheOutputs) {
  const RandomContext problem({});
  const auto filtered = latest_information(problem.context());
  const auto predicted = latest_information_from_x0(problem.context());
  // A state that was predicted over all rows without an output is known less well.
  EXPECT_GT(predicted->value(Vector::Zero(1), nullptr), filtered->value(Vector::Zero(1), nullptr));
}

TEST(LatestInformation, FromX0NeedsTheHistory) {
  const RandomContext problem({});
  DecisionContext context = problem.context();
  context.history = nullptr;
  EXPECT_NE(test::message_of<InputError>([&] { latest_information_from_x0(context); }).find("latmi-x0"),
            std::string::npos);
}

TEST_P(EveryModel, SampledTotalInformationConvergesToTheExactForm) {
  // Both differ by a constant: compare differences to a first control.
  RandomContext problem(GetParam().options);
  problem.narrow_belief(0.3);
  problem.end_history_at_belief();
  const DecisionContext context = problem.context();
  const auto exact = total_information(context);
  RandomStream random(9, Purpose::kTest);
  const Vector first = problem.random_control(random);
  const auto largest_error = [&](Index samples) {
    const SampledTotalInformation sampled(context, samples);
    RandomStream controls(10, Purpose::kTest);
    double worst = 0.0;
    for (int k = 0; k < 5; ++k) {
      const Vector c = problem.random_control(controls);
      const double difference = exact->value(c, nullptr) - exact->value(first, nullptr);
      const double estimate = sampled.value(c, nullptr) - sampled.value(first, nullptr);
      worst = std::max(worst, std::abs(estimate - difference) / (1.0 + std::abs(difference)));
    }
    return worst;
  };
  EXPECT_LT(largest_error(100'000), 0.02);
}

TEST_P(EveryModel, TotalInformationIsConstantForTheExactPosterior) {
  const RandomContext problem(GetParam().options);
  const SampledTotalInformation tight(problem.context(), 50, Anchor::kFunction);
  const SampledTotalInformation paper(problem.context(), 50, Anchor::kPreviousState);
  RandomStream random(11, Purpose::kTest);
  const Vector first = problem.random_control(random);
  double spread = 0.0;
  for (int k = 0; k < 10; ++k) {
    const Vector c = problem.random_control(random);
    EXPECT_NEAR(tight.value(c, nullptr), tight.value(first, nullptr), 1e-8 * std::abs(tight.value(first, nullptr)));
    spread = std::max(spread, std::abs(paper.value(c, nullptr) - paper.value(first, nullptr)));
  }
  EXPECT_GT(spread, 1e-3);  // the same test would notice a criterion that varies
}

TEST(TotalInformation, RewardsDisplacement) {
  // A linear model that is known: the value is a parabola in c, lowest where the system moves least.
  RandomContext problem({.states = 1, .inducing = 0});
  problem.know_the_function();
  problem.narrow_belief(0.0);
  const auto criterion = total_information(problem.context());
  const double at = criterion->value(Vector::Constant(1, 0.0), nullptr);
  const double right = criterion->value(Vector::Constant(1, 0.5), nullptr);
  const double left = criterion->value(Vector::Constant(1, -0.5), nullptr);
  EXPECT_GT(left + right, 2.0 * at);
}

TEST(TotalInformation, TheSampledFormNeedsTheHistory) {
  const RandomContext problem({});
  DecisionContext context = problem.context();
  context.q = nullptr;
  EXPECT_NE(test::message_of<InputError>([&] { sampled_total_information(context); }).find("totmi-sampled"),
            std::string::npos);
}

TEST(Entropy, IsTheInformationAboutTheFunctionAtAPoint) {
  const RandomContext problem({.kinematics = true});
  const auto criterion = entropy(problem.context());
  const Vector c = Vector::Constant(1, 0.3);
  Matrix x(1, 3);
  x << problem.belief.mean.transpose(), c;
  Matrix mean;
  Matrix variance;
  problem.transition.moments(x, mean, variance);
  const double q = std::exp(problem.transition.parameters().log_q(1));
  EXPECT_NEAR(criterion->value(c, nullptr), 0.5 * std::log(1.0 + variance(0, 1) / q), 1e-12);
}

}  // namespace
}  // namespace gpilot::plan
