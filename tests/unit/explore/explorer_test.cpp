#include "gpilot/explore/explorer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "support/message_of.hpp"
#include "support/probe_strategy.hpp"
#include "support/toy_data.hpp"

namespace gpilot::explore {
namespace {

using plan::Choice;
using plan::Phase;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Index kInitial = 5;

Box toy_box() {
  return {Vector::Constant(1, -1.0), Vector::Constant(1, 1.5)};
}

ExploreOptions toy_options(const std::string& strategy = "totmi") {
  return {.strategy = strategy, .initial = kInitial, .fit = test::quick_options(), .seed = 3};
}

/// Tells all rows of a recording as a sequence that goes on.
void tell_rows(Explorer& explorer, const ssm::Sequence& rows) {
  explorer.begin_sequence(rows.broad_start, rows.outputs.row(0).transpose());
  for (Index t = 1; t < rows.rows(); ++t) {
    explorer.tell(rows.controls.row(t - 1).transpose(), rows.outputs.row(t).transpose());
  }
}

/// After its initial rows.
Explorer toy_explorer(const ExploreOptions& options = toy_options(), std::unique_ptr<plan::Strategy> strategy = {}) {
  Explorer explorer = strategy ? Explorer(test::toy_spec(), toy_box(), options, std::move(strategy))
                               : Explorer(test::toy_spec(), toy_box(), options);
  tell_rows(explorer, test::toy_sequence(kInitial + 1));
  return explorer;
}

/// What a rig would answer: any number will do for the bookkeeping.
Vector answer(VectorRef control) {
  return Vector::Constant(1, 0.3 * control(0) + 0.1);
}

/// Asks and tells so many times; returns the choices.
std::vector<Choice> explore(Explorer& explorer, int steps) {
  std::vector<Choice> choices;
  for (int k = 0; k < steps; ++k) {
    choices.push_back(explorer.ask());
    explorer.tell(answer(choices.back().control));
  }
  return choices;
}

TEST(Explorer, TrainsOnTheInitialRows) {
  Explorer explorer = toy_explorer();
  EXPECT_EQ(explorer.model(), nullptr);
  const std::optional<TrainingSummary> training = explorer.update();
  ASSERT_TRUE(training);
  EXPECT_EQ(training->after_step, kInitial);
  EXPECT_NE(training->status, ssm::FitStatus::kNone);
  ASSERT_EQ(explorer.data().size(), 1U);
  EXPECT_EQ(explorer.data()[0].rows(), kInitial + 1);
  EXPECT_EQ(explorer.model()->states.rows(), kInitial + 1);
  EXPECT_FALSE(explorer.update());
}

TEST(Explorer, DrawsControlsUntilThereIsAModel) {
  Explorer explorer(test::toy_spec(), toy_box(), toy_options());
  const std::vector<Choice> choices = explore(explorer, kInitial + 1);
  for (Index k = 0; k < kInitial; ++k) {
    const Choice& choice = choices[static_cast<std::size_t>(k)];
    EXPECT_EQ(choice.phase, Phase::kRandom);
    EXPECT_EQ(choice.step, k + 1);
    EXPECT_TRUE(choice.control(0) >= toy_box().low(0) && choice.control(0) <= toy_box().high(0));
  }
  EXPECT_EQ(choices.back().phase, Phase::kChosen);
  EXPECT_TRUE(std::isfinite(choices.back().criterion));
}

TEST(Explorer, AskingTwiceGivesTheSameControl) {
  Explorer explorer = toy_explorer(toy_options("random"));
  const Vector first = explorer.ask().control;
  EXPECT_EQ(explorer.ask().control, first);
  explorer.tell(answer(first));
  EXPECT_NE(explorer.ask().control, first);
}

TEST(Explorer, CommittedControlsAreThoseOfThePlan) {
  ExploreOptions options = toy_options("imse");
  options.planning = {.horizon = 4, .commit = 3, .evaluations = 40};
  Explorer explorer = toy_explorer(options);
  std::vector<int> evaluations;
  for (const Choice& choice : explore(explorer, 7)) {
    EXPECT_TRUE(choice.control(0) >= toy_box().low(0) && choice.control(0) <= toy_box().high(0));
    evaluations.push_back(choice.evaluations);
  }
  EXPECT_EQ(evaluations, (std::vector<int>{40, 0, 0, 40, 0, 0, 40}));
  // With the whole plan committed no other model comes between: the controls are those that were planned at once.
  options.planning.commit = 4;
  options.planning.hold = 4;
  Explorer held = toy_explorer(options);
  const std::vector<Choice> choices = explore(held, 4);
  for (const Choice& choice : choices) {
    EXPECT_EQ(choice.control, choices.front().control);
  }
}

TEST(Explorer, APlanThatMayLeaveTheLimitsIsMadeAnewAtEveryStep) {
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.plan = Matrix::Constant(4, 1, 0.25);
  probe->answer.evaluations = 7;
  ExploreOptions options = toy_options();
  options.planning.commit = 3;
  for (const bool safe : {true, false}) {
    probe->answer.safe = safe;
    Explorer explorer = toy_explorer(options, std::make_unique<test::ProbeStrategy>(probe));
    const std::vector<Choice> choices = explore(explorer, 4);
    for (std::size_t k = 0; k < choices.size(); ++k) {
      EXPECT_EQ(choices[k].evaluations, !safe || k % 3 == 0 ? 7 : 0) << safe << ", step " << k;
      EXPECT_EQ(choices[k].safe, safe);
    }
  }
}

TEST(Explorer, ARegionMovesTheReference) {
  const auto reference_sd = [](double from, double to) {
    ExploreOptions options = toy_options("imse");
    options.planning.evaluations = 32;
    options.region = {{test::toy_spec().states.front(), from, to}};
    return toy_explorer(options).ask().reference_sd;
  };
  const double near = reference_sd(-0.1, 0.1);
  EXPECT_GT(near, 0.0);
  EXPECT_GT(reference_sd(5.0, 6.0), near);
}

TEST(Explorer, AChoiceSaysWhatWasKnown) {
  ExploreOptions options = toy_options();
  options.landscape = true;
  const Choice choice = toy_explorer(options).ask();
  EXPECT_EQ(choice.phase, Phase::kChosen);
  EXPECT_EQ(choice.step, kInitial + 1);
  EXPECT_TRUE(std::isfinite(choice.criterion));
  EXPECT_GT(choice.evaluations, 1);
  EXPECT_EQ(choice.note, "");
  ASSERT_GT(choice.landscape.rows(), 2);
  EXPECT_NEAR(choice.landscape(0, 0), toy_box().low(0), 1e-12);
  EXPECT_NEAR(choice.landscape(choice.landscape.rows() - 1, 0), toy_box().high(0), 1e-12);
  EXPECT_LE(choice.landscape.col(1).maxCoeff(), choice.criterion + 1e-9 * std::abs(choice.criterion));
  EXPECT_EQ(toy_explorer().ask().landscape.size(), 0);
}

TEST(Explorer, WhatWasAppliedCounts) {
  for (const Index every : {1, 4}) {  // trained at once, or carried on by the filter
    ExploreOptions options = toy_options();
    options.retrain_every = every;
    Explorer explorer = toy_explorer(options);
    const Vector other = Vector::Constant(1, 0.123);
    EXPECT_NE(explorer.ask().control, other);
    explorer.tell(other, answer(other));
    EXPECT_EQ(explorer.data()[0].controls(kInitial, 0), 0.123);
    EXPECT_TRUE(explorer.ask().control.allFinite());
  }
}

TEST(Explorer, AMeasurementThatCannotBeLearnedFromIsKept) {
  for (const Index every : {1, 4}) {
    ExploreOptions options = toy_options();
    options.retrain_every = every;
    Explorer explorer = toy_explorer(options);
    explorer.ask();
    explorer.tell(Vector::Constant(1, 1e140));
    EXPECT_EQ(explorer.data()[0].outputs(kInitial + 1, 0), 1e140);
    const Choice& next = explorer.ask();
    EXPECT_TRUE(next.control.allFinite());
    EXPECT_EQ(next.phase, Phase::kChosen);
    EXPECT_EQ(next.note.find("the filter failed") != std::string::npos, every == 4) << next.note;
  }
}

TEST(Explorer, WhatIsNotPlausibleIsMissing) {
  ExploreOptions options = toy_options();
  options.plausible = {Vector::Constant(1, -5.0), Vector::Constant(1, 5.0)};
  Explorer spiked = toy_explorer(options);
  Explorer missing = toy_explorer(options);
  for (const double spike : {1e9, -5.001, 1e300, 4.999}) {
    const Vector control = spiked.ask().control;
    EXPECT_EQ(control, missing.ask().control);
    EXPECT_EQ(spiked.ask().phase, Phase::kChosen);
    spiked.tell(Vector::Constant(1, spike));
    missing.tell(Vector::Constant(1, spike == 4.999 ? spike : kNaN));
  }
  EXPECT_TRUE(std::isnan(spiked.data()[0].outputs(kInitial + 1, 0)));
  EXPECT_EQ(spiked.data()[0].outputs(kInitial + 4, 0), 4.999);
  options.plausible.high.resize(2);
  EXPECT_THROW(options.validate(spiked.spec(), spiked.box()), InputError);
}

TEST(Explorer, WithoutAModelItSaysWhyControlsAreRandom) {
  ExploreOptions options = toy_options();
  options.initial = 2;
  Explorer explorer(test::toy_spec(), toy_box(), options);
  for (int k = 0; k < 4; ++k) {
    const Choice choice = explorer.ask();
    EXPECT_EQ(choice.fallback, k >= 2);
    EXPECT_EQ(choice.note.find("drawn, since the training failed: ") != std::string::npos, k >= 2) << choice.note;
    explorer.tell(Vector::Constant(1, kNaN));  // nothing to learn from
    if (const std::optional<TrainingSummary> training = explorer.update()) {
      EXPECT_EQ(training->status, ssm::FitStatus::kFailed);
      EXPECT_FALSE(explorer.update()) << "it is not repeated before there is more to learn from";
    }
  }
}

TEST(Explorer, AMissingOutputIsNoEnd) {
  for (const Index every : {1, 4}) {
    ExploreOptions options = toy_options();
    options.retrain_every = every;
    Explorer explorer = toy_explorer(options);
    for (int k = 0; k < 3; ++k) {
      explorer.ask();
      explorer.tell(Vector::Constant(1, kNaN));
    }
    EXPECT_EQ(explorer.data()[0].rows(), kInitial + 4);
    EXPECT_TRUE(std::isnan(explorer.data()[0].outputs(kInitial + 3, 0)));
    EXPECT_TRUE(explorer.ask().control.allFinite());
  }
}

TEST(Explorer, TrainsAsOftenAsAsked) {
  ExploreOptions options = toy_options();
  options.retrain_every = 3;
  Explorer explorer = toy_explorer(options);
  for (int k = 0; k < 7; ++k) {
    EXPECT_EQ(explorer.update().has_value(), k % 3 == 0) << k;
    explorer.ask();
    explorer.tell(Vector::Constant(1, 0.1));
  }
}

TEST(Explorer, EveryStrategyGoesOnBetweenTrainings) {
  for (const plan::StrategyInfo& info : plan::strategies()) {
    ExploreOptions options = toy_options(info.name);
    options.retrain_every = 5;
    Explorer explorer = toy_explorer(options);
    for (const Choice& choice : explore(explorer, 3)) {
      EXPECT_EQ(choice.phase, Phase::kChosen) << info.name;
      EXPECT_TRUE(choice.control(0) >= toy_box().low(0) && choice.control(0) <= toy_box().high(0)) << info.name;
    }
  }
}

TEST(Explorer, EveryStrategyBeginsASequence) {
  for (const plan::StrategyInfo& info : plan::strategies()) {
    Explorer explorer = toy_explorer(toy_options(info.name));
    explorer.update();
    explorer.end_sequence();
    const Choice& choice = explorer.ask();
    EXPECT_TRUE(choice.control(0) >= toy_box().low(0) && choice.control(0) <= toy_box().high(0)) << info.name;
    const bool looks_back = plan::make_strategy(info.name)->needs_history();
    EXPECT_EQ(choice.phase, looks_back ? Phase::kRandom : Phase::kChosen) << info.name;
    EXPECT_EQ(choice.note.find("the sequence so far, which is empty") != std::string::npos, looks_back) << info.name;
  }
}

/// A strategy that is used wrongly.
class Misused : public plan::Strategy {
 public:
  Choice choose(const plan::DecisionContext& /*context*/) const override { throw InputError("misused"); }
  std::unique_ptr<plan::Criterion> criterion(const plan::DecisionContext& /*context*/) const override { return {}; }
};

TEST(Explorer, AnErrorOfTheInputIsNoReasonToDrawAControl) {
  Explorer explorer = toy_explorer(toy_options(), std::make_unique<Misused>());
  EXPECT_THROW(explorer.ask(), InputError);
}

TEST(Explorer, ChangesBetweenControlsKeepTheSlewLimit) {
  ExploreOptions options = toy_options("randext");
  options.slew = Vector::Constant(1, 0.2);
  options.safe = Vector::Constant(1, 0.1);
  Explorer explorer(test::toy_spec(), toy_box(), options);
  Vector previous = options.safe;
  for (int k = 0; k < 12; ++k) {
    if (k == 8) {
      explorer.end_sequence();
      previous = options.safe;
    }
    const Vector control = explorer.ask().control;
    EXPECT_LE(std::abs(control(0) - previous(0)), 0.2);
    explorer.tell(answer(control));
    previous = control;
  }
}

TEST(Explorer, SameSeedSameBits) {
  const auto controls = [](const std::string& strategy) {
    Explorer explorer = toy_explorer(toy_options(strategy));
    explore(explorer, 4);
    return Matrix(explorer.data()[0].controls.topRows(kInitial + 4));
  };
  for (const char* strategy : {"random", "latmi", "totmi-sampled"}) {
    EXPECT_EQ(controls(strategy), controls(strategy)) << strategy;
  }
}

TEST(Explorer, IsRebuiltFromItsHistoryAlone) {
  ExploreOptions options = toy_options("imse");
  options.planning = {.horizon = 4, .commit = 2, .evaluations = 40};
  options.retrain_every = 2;
  for (const int asked : {1, 2, 3, 4}) {
    Explorer explorer = toy_explorer(options);
    const std::vector<Choice> choices = explore(explorer, asked);
    Explorer other = toy_explorer(options);
    for (const Choice& choice : choices) {
      other.tell(choice, choice.control, answer(choice.control));
    }
    // The model is the one at hand, trained after the initial rows or two more.
    const Index after = kInitial + 2 * ((asked - 1) / 2);
    other.adopt({.summary = {.after_step = after}, .model = explorer.model()});
    const Choice expected = explorer.ask();
    const Choice found = other.ask();
    EXPECT_EQ(found.control, expected.control) << asked;
    EXPECT_EQ(found.plan, expected.plan) << asked;
    EXPECT_EQ(found.evaluations, expected.evaluations) << asked;
  }
}

TEST(Explorer, ALostModelIsTrainedAgain) {
  Explorer explorer = toy_explorer();
  explorer.update();
  EXPECT_FALSE(explorer.due_training());
  explorer.lose_model();
  EXPECT_TRUE(explorer.due_training());
  explorer.update();
  EXPECT_FALSE(explorer.due_training());
}

TEST(Explorer, ShowsLimitsToTheStrategyAndRecordsItsAnswer) {
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.violation = 0.25;
  probe->answer.safe = false;
  ExploreOptions options = toy_options();
  options.retrain_every = 2;  // limits hold with a model that was trained and with one that is carried on
  options.limits = plan::make_limits({"y"}, std::vector<plan::NamedLimit>{{"y", -0.5, 2.0}}, 0.1);
  Explorer explorer = toy_explorer(options, std::make_unique<test::ProbeStrategy>(probe));
  const std::vector<Choice> choices = explore(explorer, 3);
  ASSERT_EQ(probe->limits.size(), 3U);
  const ssm::Scaling& s = explorer.model()->scaling;
  for (const auto& limits : probe->limits) {
    ASSERT_TRUE(limits);
    EXPECT_NEAR(s.output_offset(0) + s.output_scale(0) * limits->low(0), -0.5, 1e-12);
    EXPECT_NEAR(s.output_offset(0) + s.output_scale(0) * limits->high(0), 2.0, 1e-12);
    EXPECT_EQ(limits->delta, 0.1);
  }
  EXPECT_FALSE(choices[1].safe);
  EXPECT_EQ(choices[1].violation, 0.25);
}

TEST(Explorer, WithoutLimitsAStrategySeesNone) {
  const auto probe = std::make_shared<test::Probe>();
  Explorer explorer = toy_explorer(toy_options(), std::make_unique<test::ProbeStrategy>(probe));
  explorer.ask();
  ASSERT_EQ(probe->limits.size(), 1U);
  EXPECT_FALSE(probe->limits[0]);
}

TEST(Explorer, IsDoneWhenTheModelIsSureEnough) {
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.reference_sd = 0.2;
  probe->shrinking = 0.5;
  ExploreOptions options = toy_options();
  options.until_sd = 0.06;
  Explorer explorer = toy_explorer(options, std::make_unique<test::ProbeStrategy>(probe));
  for (const double sd : {0.2, 0.1}) {
    const Choice choice = explorer.ask();
    EXPECT_EQ(choice.reference_sd, sd);
    EXPECT_FALSE(explorer.sure_enough(choice));
    explorer.tell(answer(choice.control));
  }
  EXPECT_TRUE(explorer.sure_enough(explorer.ask()));
  EXPECT_EQ(probe->limits.size(), 3U);
  EXPECT_EQ(sure_enough_words(0.0471, 0.05, 22),
            "the model's standard deviation on the reference is 0.0471, below 0.05: stopped after 22 step(s)");
}

TEST(Explorer, IsNeverDoneWithoutAGoalOrAnAnswer) {
  Choice choice;
  choice.reference_sd = 1e-9;
  EXPECT_FALSE(toy_explorer().sure_enough(choice));
  ExploreOptions options = toy_options();
  options.until_sd = 1e9;
  EXPECT_TRUE(toy_explorer(options).sure_enough(choice));
  choice.reference_sd = kNaN;
  EXPECT_FALSE(toy_explorer(options).sure_enough(choice));
}

TEST(Explorer, BadArgumentsAreNamed) {
  const auto message = [](Box box, ExploreOptions options) {
    return test::message_of<InputError>([&] { Explorer(test::toy_spec(), std::move(box), std::move(options)); });
  };
  const auto changed = [](auto change) {
    ExploreOptions options = toy_options();
    change(options);
    return options;
  };
  EXPECT_NE(message(toy_box(), toy_options("totmy")).find("'totmi'"), std::string::npos);
  EXPECT_NE(message({Vector::Constant(1, 1.0), Vector::Constant(1, 1.0)}, toy_options()).find("[1, 1] of 'u'"),
            std::string::npos);
  EXPECT_NE(message({Vector::Zero(2), Vector::Ones(2)}, toy_options()).find("expected 1"), std::string::npos);
  EXPECT_EQ(message(toy_box(), changed([](auto& o) { o.initial = 1; })),
            "initial measurements: 1, expected at least 2");
  EXPECT_NE(message(toy_box(), changed([](auto& o) { o.limits = {.low = Vector::Ones(1), .high = Vector::Zero(1)}; }))
                .find("limits of 'y': [1, 0]"),
            std::string::npos);
  EXPECT_EQ(message(toy_box(), changed([](auto& o) { o.until_sd = -1.0; })),
            "until-sd: -1, expected a positive number");
  EXPECT_EQ(message(toy_box(), changed([](auto& o) { o.retrain_every = 0; })), "retrain-every: 0, expected at least 1");
  EXPECT_EQ(message(toy_box(), changed([](auto& o) { o.slew = Vector::Ones(2); })),
            "slew: 2 value(s), expected 1, one a control, or none");
  ExploreOptions in_vain = toy_options("random");
  in_vain.until_sd = 0.1;
  EXPECT_NE(test::message_of<InputError>([&] {
              check_until_sd(in_vain);
            }).find("until-sd: the strategy 'random' does not look at how sure"),
            std::string::npos);
}

TEST(Explorer, WrongAnswersChangeNothing) {
  Explorer explorer = toy_explorer();
  const Vector one = Vector::Constant(1, 0.5);
  EXPECT_THROW(explorer.tell(one), InputError) << "nothing was asked";
  EXPECT_THROW(explorer.tell(Vector::Constant(1, kNaN), one), InputError);
  EXPECT_THROW(explorer.tell(Vector::Zero(2), one), InputError);
  EXPECT_THROW(explorer.tell(one, Vector::Zero(2)), InputError);
  EXPECT_THROW(explorer.tell(one, Vector::Constant(1, std::numeric_limits<double>::infinity())), InputError);
  EXPECT_EQ(explorer.measurements(), kInitial);
}

TEST(Explorer, WhatIsStoppedIsAsIfItHadNotBeenCalled) {
  std::atomic<bool> stop{true};
  Explorer explorer = toy_explorer(toy_options("imse"));
  explorer.set_stop(&stop);
  EXPECT_THROW(explorer.ask(), Cancelled);  // the training
  EXPECT_EQ(explorer.model(), nullptr);
  explorer.set_stop(nullptr);
  explorer.update();
  explorer.set_stop(&stop);
  EXPECT_THROW(explorer.ask(), Cancelled);  // the search
  stop = false;
  Explorer undisturbed = toy_explorer(toy_options("imse"));
  EXPECT_EQ(explorer.ask().control, undisturbed.ask().control);
}

}  // namespace
}  // namespace gpilot::explore
