#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/planner.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/random_context.hpp"

namespace gpilot::plan {
namespace {

using test::RandomContext;

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Outputs of a plan with a covariance of their own: two outputs, three rows.
PlannedOutputs correlated_outputs(RandomStream& random) {
  constexpr Index kSize = 6;
  const Matrix noise = 0.2 * random.normal_matrix(kSize, kSize);
  const Matrix signal = 0.2 * random.normal_matrix(kSize, 3);
  PlannedOutputs outputs;
  outputs.mean = 0.5 * random.normal_vector(kSize);
  outputs.noise = noise * noise.transpose() + 0.3 * Matrix::Identity(kSize, kSize);
  outputs.unplanned = Vector::Zero(kSize);
  outputs.signal = signal * signal.transpose();
  return outputs;
}

/// Share of draws of which any value lies outside, measurement noise apart.
double sampled_violation(const PlannedOutputs& outputs, const OutputLimits& limits, const Vector& output_variance,
                         Index draws) {
  const Index size = outputs.mean.size();
  const Index E = output_variance.size();
  Matrix covariance = outputs.noise + outputs.signal;
  covariance.diagonal() -= output_variance.replicate(size / E, 1);
  Matrix chol;
  linalg::cholesky(covariance, chol, "outputs");
  RandomStream random(3, Purpose::kTest, 40);
  Index outside = 0;
  for (Index n = 0; n < draws; ++n) {
    const Vector y = outputs.mean + chol * random.normal_vector(size);
    bool violated = false;
    for (Index k = 0; k < size; ++k) {
      violated = violated || y(k) < limits.low(k % E) || y(k) > limits.high(k % E);
    }
    outside += violated ? 1 : 0;
  }
  return static_cast<double>(outside) / static_cast<double>(draws);
}

TEST(PlanRisk, IsAboveTheProbabilityAndNearItWhereThatIsSmall) {
  constexpr Index kDraws = 100'000;
  const Vector output_variance{{0.1, 0.2}};
  int small = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    RandomStream random(seed, Purpose::kTest, 41);
    const PlannedOutputs outputs = correlated_outputs(random);
    for (const double half : {0.8, 1.5, 2.2}) {
      const OutputLimits limits{.low = Vector{{-half, -kNone}}, .high = Vector{{half, half}}};
      const double bound = plan_risk(outputs, limits, output_variance, 1).all;
      const double sampled = sampled_violation(outputs, limits, output_variance, kDraws);
      const double error = 4.0 * std::sqrt(sampled * (1.0 - sampled) / static_cast<double>(kDraws)) + 1e-4;
      EXPECT_GE(bound, sampled - error) << "seed " << seed << ", half width " << half;
      if (bound < 0.1) {
        ++small;
        EXPECT_LE(bound, 1.4 * sampled + error) << "seed " << seed << ", half width " << half;
      }
    }
  }
  EXPECT_GT(small, 2);
}

TEST(PlanRisk, IsTheProbabilityOfOneOutputInOneRow) {
  PlannedOutputs outputs;
  outputs.mean = Vector::Constant(1, 0.3);
  outputs.noise = Matrix::Constant(1, 1, 0.3);
  outputs.unplanned = Vector::Constant(1, 0.2);  // plans do not count on it, limits do
  outputs.signal = Matrix::Constant(1, 1, 0.6);
  const OutputLimits limits{.low = Vector::Constant(1, -kNone), .high = Vector::Constant(1, 1.3)};
  // One standard deviation of the output without its noise of variance 0.1.
  EXPECT_NEAR(plan_risk(outputs, limits, Vector::Constant(1, 0.1), 1).all, 0.15865525393145707, 1e-12);
}

/// x' = 0.5 x + c, seen with little noise: the output follows the control at once.
struct Follower {
  Follower() : random({.states = 1, .inducing = 0, .seed = 1}), context(random.context()) {
    ssm::Parameters p = random.transition.parameters();
    p.mean_weights.setZero();
    p.mean_weights(0, 0) = 0.5;
    p.mean_weights(1, 0) = 1.0;
    p.log_q.setConstant(std::log(1e-4));
    p.log_r.setConstant(std::log(1e-4));
    p.C.setOnes();
    p.d.setZero();
    std::vector<gp::Weights> weights = random.transition.weights();
    for (gp::Weights& w : weights) {
      w.mu.setZero();
      w.Sigma *= 1e-4;
    }
    random.transition = ssm::Transition(random.transition.structure(), p, weights);
    random.belief.mean.setZero();
    random.belief.covariance.setConstant(1e-4);
    context.history = nullptr;
    context.limits = &limits;
    context.planning.horizon = 4;
  }
  void set_process_sd(double sd) {
    ssm::Parameters p = random.transition.parameters();
    p.log_q.setConstant(2.0 * std::log(sd));
    random.transition = ssm::Transition(random.transition.structure(), p, random.transition.weights());
  }
  /// Whether limits are kept in every row by some plan that begins with a control; c in [-1.5, 1.2] can always return.
  bool can_begin_with(double control) const { return std::abs(control) < limits.high(0) - 0.1; }

  RandomContext random;
  OutputLimits limits{.low = Vector::Constant(1, -0.6), .high = Vector::Constant(1, 0.6)};
  DecisionContext context;
};

TEST(SafeChoice, KeepsTheLimitsWhereThatIsPossible) {
  int kept = 0;
  int moved = 0;
  for (const std::string name : {"random", "randext", "latmi", "imse"}) {
    const auto strategy = make_strategy(name);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Follower follower;
      follower.context.seed = seed;
      const Choice choice = strategy->choose(follower.context);
      EXPECT_TRUE(choice.safe) << name << ", seed " << seed;
      EXPECT_LE(choice.violation, follower.limits.delta) << name << ", seed " << seed;
      EXPECT_LT(std::abs(choice.control(0)), 0.6) << name << ", seed " << seed;
      if (name != "random" && name != "randext") {
        continue;
      }
      EXPECT_TRUE(std::isnan(choice.criterion));
      EXPECT_EQ(choice.plan.size(), 0);
      DecisionContext free = follower.context;
      free.limits = nullptr;
      const double drawn = strategy->choose(free).control(0);
      if (follower.can_begin_with(drawn)) {
        ++kept;
        EXPECT_NEAR(choice.control(0), drawn, 1e-12) << name << ", seed " << seed;
      } else if (std::abs(drawn) > 0.7) {
        ++moved;
        // As near as the limits allow, or almost.
        EXPECT_GT(choice.control(0) * drawn, 0.0) << name << ", seed " << seed;
        EXPECT_GT(std::abs(choice.control(0)), 0.4) << name << ", seed " << seed;
      }
    }
  }
  EXPECT_GT(kept, 1);
  EXPECT_GT(moved, 5);
}

TEST(PlanRisk, ExcessIsTheExpectedDistanceOutside) {
  RandomStream random(5, Purpose::kTest, 42);
  const Vector output_variance{{0.1, 0.2}};
  const PlannedOutputs outputs = correlated_outputs(random);
  const OutputLimits limits{.low = Vector{{-0.3, -kNone}}, .high = Vector{{0.4, 0.2}}};
  constexpr Index kDraws = 200'000;
  double sampled = 0.0;
  double next = 0.0;
  double mean_outside = 0.0;
  for (Index k = 0; k < outputs.mean.size(); ++k) {
    const Index e = k % 2;
    const auto beyond = [&](double y) { return std::max({limits.low(e) - y, y - limits.high(e), 0.0}); };
    const double sd = std::sqrt(outputs.noise(k, k) + outputs.signal(k, k) - output_variance(e));
    mean_outside += beyond(outputs.mean(k));
    for (Index n = 0; n < kDraws; ++n) {
      const double distance = beyond(outputs.mean(k) + sd * random.normal());
      sampled += distance / kDraws;
      next += k < 2 && distance > 0.0 ? 1.0 / kDraws : 0.0;
    }
  }
  const PlanRisk risk = plan_risk(outputs, limits, output_variance, 1);
  EXPECT_NEAR(risk.excess, sampled, 0.02 * sampled);
  EXPECT_NEAR(risk.next, next, 0.01);
  EXPECT_NEAR(risk.mean_outside, mean_outside, 1e-12);
}

/// A model that knows little beyond the next rows does not veto what keeps to the middle; it did when all rows counted.
TEST(SafeChoice, AModelThatIsUnsureOfTheFarFutureStillHasSafePlans) {
  Follower follower;
  follower.set_process_sd(0.26);  // an sd of 0.3 at last: 4.5 % a row in the middle, 45 % over all rows
  follower.limits.delta = 0.3;
  follower.context.planning.horizon = 10;
  for (const std::string name : {"random", "infogain"}) {
    const Choice choice = make_strategy(name)->choose(follower.context);
    EXPECT_TRUE(choice.safe) << name;
    EXPECT_LE(choice.violation, follower.limits.delta) << name;
    EXPECT_LT(std::abs(choice.control(0)), 0.4) << name;
  }
}

TEST(SafeChoice, LeadsBackInsideFromOutside) {
  for (const double start : {-1.5, 1.5}) {
    for (const std::string name : {"random", "latmi", "infogain"}) {
      Follower follower;
      follower.random.belief.mean.setConstant(start);  // far outside [-0.6, 0.6], where every row is lost for a while
      const Choice choice = make_strategy(name)->choose(follower.context);
      EXPECT_LT(choice.control(0) * start, 0.0) << name << " from " << start;
      EXPECT_LT(std::abs(0.5 * start + choice.control(0)), 0.6) << name << " from " << start;
    }
  }
}

TEST(SafeChoice, TakesTheSafestWhereNothingIsSafe) {
  for (const std::string name : {"random", "latmi", "infogain"}) {
    Follower follower;
    follower.limits = {.low = Vector::Constant(1, 3.0), .high = Vector::Constant(1, 4.0)};  // out of reach
    const Choice choice = make_strategy(name)->choose(follower.context);
    EXPECT_FALSE(choice.safe) << name;
    EXPECT_GT(choice.violation, 0.99) << name;
    follower.limits = {.low = Vector::Constant(1, 1.19), .high = Vector::Constant(1, 4.0)};  // the farthest is safest
    const Choice near = make_strategy(name)->choose(follower.context);
    EXPECT_FALSE(near.safe) << name;
    EXPECT_GT(near.control(0), 1.15) << name;
  }
}

}  // namespace
}  // namespace gpilot::plan
