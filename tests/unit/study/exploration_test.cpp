#include "gpilot/study/exploration.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>

#include "gpilot/error.hpp"
#include "gpilot/random.hpp"
#include "support/message_of.hpp"
#include "support/probe_strategy.hpp"
#include "support/toy_data.hpp"

namespace gpilot::study {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Box toy_box() {
  return {Vector::Constant(1, -1.0), Vector::Constant(1, 1.5)};
}

ExplorationOptions toy_options(const std::string& strategy = "totmi") {
  return {.strategy = strategy, .fit = test::quick_options(), .seed = 3};
}

Exploration toy_exploration(const ExplorationOptions& options = toy_options()) {
  return {test::toy_spec(), toy_box(), test::toy_sequence(6), options};
}

/// What a rig would answer: any number will do for the bookkeeping.
Vector answer(VectorRef control) {
  return Vector::Constant(1, 0.3 * control(0) + 0.1);
}

TEST(Exploration, TrainsOnTheInitialRows) {
  const Exploration exploration = toy_exploration();
  ASSERT_EQ(exploration.steps().size(), 1U);
  EXPECT_TRUE(exploration.steps()[0].trained);
  EXPECT_FALSE(exploration.steps()[0].status.empty());
  EXPECT_EQ(exploration.data().rows(), 6);
  EXPECT_EQ(exploration.model().states.rows(), 6);
}

TEST(Exploration, AskingTwiceGivesTheSameControl) {
  Exploration exploration = toy_exploration(toy_options("random"));
  const Vector first = exploration.ask();
  EXPECT_EQ(exploration.ask(), first);
  exploration.observe(first, answer(first));
  EXPECT_NE(exploration.ask(), first);
}

TEST(Exploration, CommittedControlsAreThoseOfThePlan) {
  ExplorationOptions options = toy_options("imse");
  options.planning = {.horizon = 4, .commit = 3, .evaluations = 40};
  Exploration exploration = toy_exploration(options);
  std::vector<int> evaluations;
  for (int k = 0; k < 7; ++k) {
    const Vector control = exploration.ask();
    EXPECT_GE(control(0), toy_box().low(0));
    EXPECT_LE(control(0), toy_box().high(0));
    evaluations.push_back(exploration.observe(control, answer(control)).evaluations);
  }
  EXPECT_EQ(evaluations, (std::vector<int>{40, 0, 0, 40, 0, 0, 40}));
  // With the whole plan committed no other model comes between: the controls are those that were planned at once.
  options.planning.commit = 4;
  options.planning.hold = 4;
  Exploration held = toy_exploration(options);
  const Vector first = held.ask();
  for (int k = 0; k < 4; ++k) {
    EXPECT_EQ(held.ask(), first) << k;
    held.observe(first, answer(first));
  }
}

TEST(Exploration, ARegionMovesTheReference) {
  const auto reference_sd = [](const char* low, double from, double to) {
    ExplorationOptions options = toy_options("imse");
    options.planning.evaluations = 32;
    options.region = {{low, from, to}};
    Exploration exploration = toy_exploration(options);
    exploration.ask();
    return exploration.choice().reference_sd;
  };
  const std::string state = test::toy_spec().states.front();
  const double near = reference_sd(state.c_str(), -0.1, 0.1);
  const double far = reference_sd(state.c_str(), 5.0, 6.0);
  EXPECT_GT(near, 0.0);
  EXPECT_GT(far, near);
}

TEST(Exploration, RecordsWhatHappened) {
  ExplorationOptions options = toy_options();
  options.landscape = true;
  Exploration exploration = toy_exploration(options);
  const Vector asked = exploration.ask();
  const ExplorationStep& step = exploration.observe(asked, answer(asked));
  EXPECT_EQ(step.step, 1);
  EXPECT_EQ(step.asked, asked);
  EXPECT_EQ(step.applied, asked);
  EXPECT_TRUE(std::isfinite(step.criterion));
  EXPECT_GT(step.evaluations, 1);
  EXPECT_TRUE(step.trained);
  EXPECT_FALSE(step.chosen.empty());
  ASSERT_GT(step.landscape.rows(), 2);
  EXPECT_NEAR(step.landscape(0, 0), toy_box().low(0), 1e-12);
  EXPECT_NEAR(step.landscape(step.landscape.rows() - 1, 0), toy_box().high(0), 1e-12);
  EXPECT_LE(step.landscape.col(1).maxCoeff(), step.criterion + 1e-9 * std::abs(step.criterion));
  EXPECT_EQ(exploration.data().rows(), 7);
}

TEST(Exploration, WhatWasAppliedCounts) {
  for (const Index every : {1, 4}) {  // trained at once, or carried on by the filter
    ExplorationOptions options = toy_options();
    options.retrain_every = every;
    Exploration exploration = toy_exploration(options);
    const Vector other = Vector::Constant(1, 0.123);
    exploration.ask();
    const ExplorationStep& step = exploration.observe(other, answer(other));
    EXPECT_NE(step.asked, other);
    EXPECT_EQ(step.applied, other);
    EXPECT_EQ(exploration.data().controls(5, 0), 0.123);
    EXPECT_TRUE(exploration.ask().allFinite());
  }
}

TEST(Exploration, AMeasurementThatNobodyAskedForCountsToo) {
  Exploration exploration = toy_exploration();
  const ExplorationStep& step = exploration.observe(Vector::Constant(1, 0.5), Vector::Constant(1, 0.2));
  EXPECT_EQ(step.asked.size(), 0);
  EXPECT_TRUE(std::isnan(step.criterion));
  EXPECT_EQ(exploration.data().rows(), 7);
}

TEST(Exploration, AMeasurementThatCannotBeLearnedFromIsKept) {
  for (const Index every : {1, 4}) {
    ExplorationOptions options = toy_options();
    options.retrain_every = every;
    Exploration exploration = toy_exploration(options);
    const ExplorationStep& step = exploration.observe(exploration.ask(), Vector::Constant(1, 1e300));
    EXPECT_EQ(exploration.data().outputs(6, 0), 1e300);
    EXPECT_NE(step.status.find("failed"), std::string::npos) << step.status;
    EXPECT_FALSE(step.trained);
    EXPECT_EQ(exploration.steps().size(), 2U);
    EXPECT_TRUE(exploration.ask().allFinite());
  }
}

TEST(Exploration, AMissingOutputIsNoEnd) {
  for (const Index every : {1, 4}) {
    ExplorationOptions options = toy_options();
    options.retrain_every = every;
    Exploration exploration = toy_exploration(options);
    for (int k = 0; k < 3; ++k) {
      exploration.observe(exploration.ask(), Vector::Constant(1, kNaN));
    }
    EXPECT_EQ(exploration.data().rows(), 9);
    EXPECT_TRUE(std::isnan(exploration.data().outputs(8, 0)));
    EXPECT_TRUE(exploration.ask().allFinite());
  }
}

TEST(Exploration, TrainsAsOftenAsAsked) {
  ExplorationOptions options = toy_options();
  options.retrain_every = 3;
  Exploration exploration = toy_exploration(options);
  for (int k = 0; k < 7; ++k) {
    const Vector c = exploration.ask();
    exploration.observe(c, answer(c));
  }
  for (const ExplorationStep& step : exploration.steps()) {
    EXPECT_EQ(step.trained, step.step % 3 == 0) << step.step;
    EXPECT_EQ(step.train_seconds > 0.0, step.trained);
  }
}

TEST(Exploration, EveryStrategyGoesOnBetweenTrainings) {
  for (const acquisition::StrategyInfo& info : acquisition::strategies()) {
    ExplorationOptions options = toy_options(info.name);
    options.retrain_every = 5;
    Exploration exploration = toy_exploration(options);
    for (int k = 0; k < 3; ++k) {
      const Vector c = exploration.ask();
      EXPECT_TRUE(c(0) >= toy_box().low(0) && c(0) <= toy_box().high(0)) << info.name;
      exploration.observe(c, answer(c));
    }
  }
}

TEST(Exploration, SameSeedSameBits) {
  const auto controls = [](const std::string& strategy) {
    Exploration exploration = toy_exploration(toy_options(strategy));
    for (int k = 0; k < 4; ++k) {
      const Vector c = exploration.ask();
      exploration.observe(c, answer(c));
    }
    return Matrix(exploration.data().controls.topRows(9));
  };
  for (const char* strategy : {"random", "latmi", "totmi-sampled"}) {
    EXPECT_EQ(controls(strategy), controls(strategy)) << strategy;
  }
}

TEST(Exploration, ShowsLimitsToTheStrategyAndRecordsItsAnswer) {
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.violation = 0.25;
  probe->answer.safe = false;
  ExplorationOptions options = toy_options();
  options.retrain_every = 2;  // limits hold with a model that was trained and with one that is carried on
  options.limits = acquisition::make_limits({"y"}, std::vector<acquisition::NamedLimit>{{"y", -0.5, 2.0}}, 0.1);
  Exploration exploration(test::toy_spec(), toy_box(), test::toy_sequence(6), options,
                          std::make_unique<test::ProbeStrategy>(probe));
  for (int k = 0; k < 3; ++k) {
    const Vector c = exploration.ask();
    exploration.observe(c, answer(c));
  }
  ASSERT_EQ(probe->limits.size(), 3U);
  const ssm::Scaling& s = exploration.model().scaling;
  for (const auto& limits : probe->limits) {
    ASSERT_TRUE(limits);
    EXPECT_NEAR(s.output_offset(0) + s.output_scale(0) * limits->low(0), -0.5, 1e-12);
    EXPECT_NEAR(s.output_offset(0) + s.output_scale(0) * limits->high(0), 2.0, 1e-12);
    EXPECT_EQ(limits->delta, 0.1);
  }
  EXPECT_TRUE(exploration.steps()[0].safe);
  EXPECT_TRUE(std::isnan(exploration.steps()[0].violation));
  EXPECT_FALSE(exploration.steps()[2].safe);
  EXPECT_EQ(exploration.steps()[2].violation, 0.25);
}

TEST(Exploration, WithoutLimitsAStrategySeesNone) {
  const auto probe = std::make_shared<test::Probe>();
  Exploration exploration(test::toy_spec(), toy_box(), test::toy_sequence(6), toy_options(),
                          std::make_unique<test::ProbeStrategy>(probe));
  exploration.ask();
  ASSERT_EQ(probe->limits.size(), 1U);
  EXPECT_FALSE(probe->limits[0]);
}

TEST(Exploration, IsDoneWhenTheModelIsSureEnough) {
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.reference_sd = 0.2;
  probe->shrinking = 0.5;
  ExplorationOptions options = toy_options();
  options.until_sd = 0.06;
  Exploration exploration(test::toy_spec(), toy_box(), test::toy_sequence(6), options,
                          std::make_unique<test::ProbeStrategy>(probe));
  EXPECT_THROW(exploration.choice(), std::logic_error);
  for (const double sd : {0.2, 0.1}) {
    EXPECT_FALSE(exploration.sure_enough());
    EXPECT_EQ(exploration.choice().reference_sd, sd);
    const Vector c = exploration.ask();  // the same choice
    EXPECT_EQ(exploration.observe(c, answer(c)).reference_sd, sd);
  }
  EXPECT_TRUE(exploration.sure_enough());
  EXPECT_EQ(probe->limits.size(), 3U);
  EXPECT_EQ(sure_enough_words(0.0471, 0.05, 22),
            "the model's standard deviation on the reference is 0.0471, below 0.05: stopped after 22 step(s)");
}

TEST(Exploration, IsNeverDoneWithoutAGoalOrAnAnswer) {
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.reference_sd = 1e-9;
  Exploration no_goal(test::toy_spec(), toy_box(), test::toy_sequence(6), toy_options(),
                      std::make_unique<test::ProbeStrategy>(probe));
  EXPECT_FALSE(no_goal.sure_enough());
  probe->answer.reference_sd = kNaN;
  ExplorationOptions options = toy_options();
  options.until_sd = 1e9;
  Exploration no_answer(test::toy_spec(), toy_box(), test::toy_sequence(6), options,
                        std::make_unique<test::ProbeStrategy>(probe));
  EXPECT_FALSE(no_answer.sure_enough());
}

TEST(Exploration, BadArgumentsAreNamed) {
  const auto message = [](Box box, ssm::Sequence initial, ExplorationOptions options) {
    return test::message_of<InputError>(
        [&] { Exploration(test::toy_spec(), std::move(box), std::move(initial), std::move(options)); });
  };
  const ssm::Sequence rows = test::toy_sequence(6);
  EXPECT_NE(message(toy_box(), rows, toy_options("totmy")).find("'totmi'"), std::string::npos);
  EXPECT_NE(message({Vector::Constant(1, 1.0), Vector::Constant(1, 1.0)}, rows, toy_options()).find("[1, 1] of 'u'"),
            std::string::npos);
  EXPECT_NE(message({Vector::Zero(2), Vector::Ones(2)}, rows, toy_options()).find("expected 1"), std::string::npos);
  EXPECT_NE(message(toy_box(), {rows.controls.topRows(1), rows.outputs.topRows(1)}, toy_options()).find("at least 2"),
            std::string::npos);
  ExplorationOptions nowhere = toy_options();
  nowhere.limits = acquisition::OutputLimits{.low = Vector::Ones(1), .high = Vector::Zero(1)};
  EXPECT_NE(message(toy_box(), rows, nowhere).find("limits of 'y': [1, 0]"), std::string::npos);
  ExplorationOptions in_vain = toy_options("random");
  in_vain.until_sd = 0.1;
  EXPECT_NE(message(toy_box(), rows, in_vain).find("until-sd: the strategy 'random' does not look at how sure"),
            std::string::npos);
  ExplorationOptions negative = toy_options();
  negative.until_sd = -1.0;
  EXPECT_EQ(test::message_of<InputError>([&] { negative.validate(); }), "until-sd: -1, expected a positive number");
  ExplorationOptions never = toy_options();
  never.retrain_every = 0;
  EXPECT_NE(message(toy_box(), rows, never).find("retrain-every: 0"), std::string::npos);
}

TEST(Exploration, WrongAnswersChangeNothing) {
  Exploration exploration = toy_exploration();
  const Vector one = Vector::Constant(1, 0.5);
  EXPECT_THROW(exploration.observe(Vector::Constant(1, kNaN), one), InputError);
  EXPECT_THROW(exploration.observe(Vector::Zero(2), one), InputError);
  EXPECT_THROW(exploration.observe(one, Vector::Zero(2)), InputError);
  EXPECT_THROW(exploration.observe(one, Vector::Constant(1, std::numeric_limits<double>::infinity())), InputError);
  EXPECT_EQ(exploration.data().rows(), 6);
  EXPECT_EQ(exploration.steps().size(), 1U);
}

}  // namespace
}  // namespace gpilot::study
