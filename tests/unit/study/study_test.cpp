#include "gpilot/study/study.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/explore/slew_box.hpp"
#include "gpilot/io/model_file.hpp"
#include "support/message_of.hpp"
#include "support/toy_study.hpp"

namespace gpilot::study {
namespace {

using test::advance;
using test::kToyConfig;
using test::message_of;
using test::StudyTest;
using test::Toy;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// All that must be the same bit for bit: everything but times.
void expect_same(const Study& a, const Study& b) {
  ASSERT_EQ(a.steps().size(), b.steps().size());
  for (std::size_t k = 0; k < a.steps().size(); ++k) {
    const StepRecord& x = a.steps()[k];
    const StepRecord& y = b.steps()[k];
    EXPECT_EQ(x.choice.control, y.choice.control) << "step " << x.id;
    EXPECT_EQ(x.applied, y.applied) << "step " << x.id;
    EXPECT_EQ(x.outputs, y.outputs) << "step " << x.id;
    EXPECT_EQ(x.status, y.status);
    EXPECT_EQ(x.choice.phase, y.choice.phase);
    EXPECT_EQ(x.sequence, y.sequence);
    EXPECT_EQ(x.training, y.training);
    EXPECT_TRUE(x.choice.criterion == y.choice.criterion ||
                (std::isnan(x.choice.criterion) && std::isnan(y.choice.criterion)));
  }
  ASSERT_EQ(a.trainings().size(), b.trainings().size());
  for (std::size_t k = 0; k < a.trainings().size(); ++k) {
    EXPECT_EQ(a.trainings()[k].summary.after_step, b.trainings()[k].summary.after_step);
    EXPECT_EQ(a.trainings()[k].summary.status, b.trainings()[k].summary.status);
  }
  ASSERT_TRUE(a.model() != nullptr && b.model() != nullptr);
  EXPECT_EQ(io::format_model(*a.model()), io::format_model(*b.model()));
}

TEST_F(StudyTest, AStepIsAskedOnceAndTold) {
  Study study = create();
  const Step first = study.ask();
  EXPECT_EQ(first.id, 1);
  EXPECT_EQ(first.sequence, 1);
  EXPECT_EQ(first.choice.phase, plan::Phase::kRandom);
  EXPECT_EQ(study.ask().choice.control, first.choice.control);
  EXPECT_EQ(study.steps().size(), 1U);
  EXPECT_EQ(study.tell(1, Vector::Constant(1, 0.25), Vector::Constant(1, 0.5), 0.1), Told::kAccepted);
  EXPECT_EQ(study.steps()[0].applied(0), 0.5);
  EXPECT_EQ(study.told(), 1);
  EXPECT_EQ(study.ask().id, 2);
}

TEST_F(StudyTest, TheFileHoldsEverything) {
  Vector asked;
  {
    Study study = create();
    Toy toy;
    advance(study, toy, 6);
    asked = study.ask().choice.control;
  }
  const Study study = Study::open(path(), Access::kRead);
  EXPECT_EQ(study.told(), 6);
  ASSERT_NE(study.pending(), nullptr);
  EXPECT_EQ(study.pending()->choice.control, asked);
  EXPECT_EQ(study.config_text(), kToyConfig);
  EXPECT_EQ(study.sessions().size(), 1U);
  EXPECT_FALSE(study.sessions()[0].ended_at.empty());
  ASSERT_EQ(study.data().size(), 1U);
  EXPECT_EQ(study.data()[0].rows(), 7);
  EXPECT_FALSE(study.data()[0].broad_start);
  EXPECT_NE(study.model(), nullptr);
}

TEST_F(StudyTest, GoingOnIsTheSameAsNeverStopping) {
  constexpr int kSteps = 9;
  Study straight = create("straight.study");
  Toy toy;
  advance(straight, toy, kSteps);
  straight.ask();
  EXPECT_GE(straight.trainings().size(), 3U);
  for (int k = 0; k <= kSteps; ++k) {
    const std::string name = std::to_string(k) + ".study";
    Toy same_toy;
    {
      Study before = create(name);
      advance(before, same_toy, k);
    }
    Study after = Study::open(path(name));
    advance(after, same_toy, kSteps - k);
    after.ask();
    SCOPED_TRACE("stopped after " + std::to_string(k));
    expect_same(straight, after);
  }
}

TEST_F(StudyTest, AProcessThatEndsBetweenTellAndTrainingLosesNothing) {
  Study straight = create("straight.study");
  Toy toy;
  advance(straight, toy, 3);
  straight.ask();
  Toy same_toy;
  {
    Study before = create();
    advance(before, same_toy, 3);  // told, and the training that is due has not begun
    EXPECT_TRUE(before.due_training().has_value());
    EXPECT_TRUE(before.trainings().empty());
  }
  Study after = Study::open(path());
  after.ask();
  expect_same(straight, after);
}

TEST_F(StudyTest, SuggestStoresNothing) {
  Study study = create();
  Toy toy;
  advance(study, toy, 4);
  const Step suggested = study.suggest();
  EXPECT_EQ(study.steps().size(), 4U);
  const Step asked = study.ask();
  EXPECT_EQ(suggested.choice.control, asked.choice.control);
  EXPECT_EQ(suggested.id, asked.id);
  Study reader = Study::open(path(), Access::kRead);
  EXPECT_EQ(reader.suggest().choice.control, asked.choice.control);
}

TEST_F(StudyTest, TellingTwiceCountsOnce) {
  Study study = create();
  study.ask();
  const Vector y = Vector::Constant(1, kNaN);
  EXPECT_EQ(study.tell(1, y), Told::kAccepted);
  EXPECT_EQ(study.tell(1, y), Told::kRepeated);
  EXPECT_EQ(study.told(), 1);
  EXPECT_NE(message_of<InputError>([&] { study.tell(1, Vector::Zero(1)); }).find("told already"), std::string::npos);
  EXPECT_NE(message_of<InputError>([&] { study.tell(1, y, Vector::Constant(1, 0.9)); }).find("told already"),
            std::string::npos);
  EXPECT_TRUE(std::isnan(study.steps()[0].outputs(0)));
}

TEST_F(StudyTest, WrongTellsAreRefusedAndChangeNothing) {
  Study study = create();
  EXPECT_NE(message_of<InputError>([&] { study.tell(1, Vector::Zero(1)); }).find("step 1 was never asked"),
            std::string::npos);
  study.ask();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_NE(message_of<InputError>([&] { study.tell(2, Vector::Zero(1)); }).find("the newest is 1"), std::string::npos);
  EXPECT_NE(message_of<InputError>([&] { study.tell(1, Vector::Zero(2)); }).find("2 value(s), expected 1: y"),
            std::string::npos);
  EXPECT_THROW(study.tell(1, Vector::Constant(1, inf)), InputError);
  EXPECT_THROW(study.tell(1, Vector::Zero(1), Vector::Constant(1, kNaN)), InputError);
  EXPECT_THROW(study.tell(1, Vector::Zero(1), Vector::Zero(2)), InputError);
  EXPECT_THROW(study.tell(1, Vector::Zero(1), {}, inf), InputError);
  EXPECT_EQ(study.told(), 0);
  EXPECT_NE(study.pending(), nullptr);
}

TEST_F(StudyTest, AFailedStepEndsItsSequence) {
  Study study = create();
  Toy toy;
  advance(study, toy, 2);
  const Step step = study.ask();
  study.fail(step.id, StepStatus::kUnsafe, "too hot");
  study.fail(step.id, StepStatus::kUnsafe, "too hot");  // said twice
  EXPECT_EQ(study.steps().back().reason, "too hot");
  EXPECT_EQ(study.current_sequence(), nullptr);
  EXPECT_THROW(study.fail(step.id, StepStatus::kFailed, ""), InputError);
  EXPECT_THROW(study.fail(1, StepStatus::kFailed, ""), InputError);  // told
  EXPECT_THROW(study.fail(step.id, StepStatus::kTold, ""), InputError);
  const Step next = study.ask();
  EXPECT_EQ(next.sequence, 2);
  EXPECT_TRUE(study.sequences()[1].broad);
  EXPECT_EQ(study.sequences()[1].origin, SequenceOrigin::kBroken);
  study.tell(next.id, Vector::Zero(1));
  ASSERT_EQ(study.data().size(), 2U);
  EXPECT_EQ(study.data()[0].rows(), 3);
  EXPECT_TRUE(study.data()[1].broad_start);
}

TEST_F(StudyTest, ALateTellIsKeptAndNotLearnedFrom) {
  Study study = create();
  const Step step = study.ask();
  study.fail(step.id, StepStatus::kUnknown, "crash");
  EXPECT_EQ(study.tell(step.id, Vector::Constant(1, 0.5)), Told::kLate);
  EXPECT_EQ(study.tell(step.id, Vector::Constant(1, 0.5)), Told::kLate);
  EXPECT_EQ(study.late_tells(), 1);
  EXPECT_EQ(study.told(), 0);
  EXPECT_EQ(study.steps()[0].status, StepStatus::kUnknown);
  EXPECT_TRUE(study.data().empty());
}

TEST_F(StudyTest, AWithdrawnStepDoesNotEndTheSequence) {
  Study study = create();
  Toy toy;
  advance(study, toy, 1);
  const Step never_sent = study.ask();
  study.withdraw(never_sent.id, "too late");
  study.add_safe_step(Vector::Zero(1), Vector::Constant(1, 0.125), "no decision");
  EXPECT_THROW(study.withdraw(never_sent.id, ""), InputError);
  const Step next = study.ask();
  EXPECT_EQ(next.sequence, 1);
  EXPECT_EQ(next.id, 4);
  study.tell(next.id, Vector::Zero(1));
  ASSERT_EQ(study.data().size(), 1U);
  EXPECT_EQ(study.data()[0].rows(), 4);
  EXPECT_EQ(study.data()[0].outputs(2, 0), 0.125);
}

TEST_F(StudyTest, ANewSequenceAfterAResetHasTheDeclaredPrior) {
  Study study = create();
  study.new_sequence(SequenceOrigin::kReset, Vector::Constant(1, 0.5), "reset");
  EXPECT_FALSE(study.current_sequence()->broad);
  EXPECT_EQ(study.ask().sequence, 1);
  EXPECT_NE(message_of<InputError>([&] { study.new_sequence(SequenceOrigin::kReset, {}, ""); }).find("step 1 waits"),
            std::string::npos);
  study.tell(1, Vector::Zero(1));
  study.new_sequence(SequenceOrigin::kBroken, {}, "pause");
  EXPECT_TRUE(study.current_sequence()->broad);
  EXPECT_THROW(study.new_sequence(SequenceOrigin::kImported, {}, ""), InputError);
  EXPECT_THROW(study.new_sequence(SequenceOrigin::kReset, Vector::Zero(2), ""), InputError);
  EXPECT_EQ(study.data()[0].outputs(0, 0), 0.5);
}

TEST_F(StudyTest, ImportedRowsCountAsMeasurements) {
  Study study = create();
  ssm::Sequence recording{Matrix(6, 1), Matrix(6, 1)};
  recording.controls << 0.1, -0.5, 0.9, 0.2, -0.9, kNaN;
  recording.outputs << 0.0, 0.04, kNaN, 0.3, 0.2, -0.1;
  recording.broad_start = true;
  EXPECT_EQ(study.import(recording), 5);
  EXPECT_EQ(study.told(), 5);
  const Step step = study.ask();
  EXPECT_EQ(step.choice.phase, plan::Phase::kChosen);
  EXPECT_EQ(step.sequence, 2);
  EXPECT_EQ(step.id, 6);
  EXPECT_THROW(study.import(recording), InputError);  // a step waits
  ASSERT_EQ(study.data().size(), 1U);
  EXPECT_EQ(study.data()[0].controls.topRows(5), recording.controls.topRows(5));
  EXPECT_TRUE(std::isnan(study.data()[0].outputs(2, 0)));
  EXPECT_TRUE(study.data()[0].broad_start);
}

TEST_F(StudyTest, ATrainingThatFailsCostsItsImprovementAlone) {
  Study study = create();
  for (int k = 0; k < 4; ++k) {  // nothing measured: no model can be learned
    const Step step = study.ask();
    study.tell(step.id, Vector::Constant(1, kNaN));
  }
  const Step step = study.ask();
  EXPECT_EQ(step.choice.phase, plan::Phase::kRandom);
  ASSERT_FALSE(study.trainings().empty());
  EXPECT_EQ(study.trainings().back().summary.status, ssm::FitStatus::kFailed);
  EXPECT_NE(study.trainings().back().summary.message.find("no value at all"), std::string::npos);
  EXPECT_EQ(study.model(), nullptr);
}

TEST_F(StudyTest, TogetherIsAllOrNothing) {
  Study study = create();
  study.ask();
  study.transaction([&] {
    study.tell(1, Vector::Constant(1, 0.25));
    study.ask();
  });
  EXPECT_EQ(study.told(), 1);
  EXPECT_EQ(Study::open(path(), Access::kRead).steps().size(), 2U);
  EXPECT_THROW(study.transaction([&] {
    study.tell(2, Vector::Constant(1, 0.5));
    study.ask();
    study.tell(99, Vector::Zero(1));
  }),
               InputError);
  EXPECT_EQ(study.told(), 1);
  EXPECT_EQ(study.steps().size(), 2U);
  ASSERT_NE(study.pending(), nullptr);
  EXPECT_EQ(study.pending()->id, 2);
  EXPECT_EQ(study.tell(2, Vector::Constant(1, 0.5)), Told::kAccepted);
}

TEST_F(StudyTest, ControlsStayInTheBoxAndWithinTheSlewLimits) {
  RandomStream random(5, Purpose::kTest);
  for (int configuration = 0; configuration < 12; ++configuration) {
    const double low = -random.uniform(0.0, 2.0);
    const double high = random.uniform(0.1, 3.0);
    const double slew = random.uniform(0.01, 1.5);
    const std::string text = std::string(kToyConfig) + "\n";
    std::string changed = text;
    changed.replace(changed.find("low = -1"), 8, "low = " + std::to_string(low));
    changed.replace(changed.find("high = 1"), 8, "high = " + std::to_string(high));
    changed.replace(changed.find("slew = 0.8"), 10, "slew = " + std::to_string(slew));
    changed.replace(changed.find("retrain_every = 2"), 17, "retrain_every = 50");
    Study study = Study::create(path(std::to_string(configuration)), changed, "random.toml");
    const StudyConfig& config = study.config();
    Vector previous = config.explore.safe;
    Toy toy;
    for (int k = 0; k < 25; ++k) {
      const Step step = study.ask();
      EXPECT_GE(step.choice.control(0), config.box.low(0));
      EXPECT_LE(step.choice.control(0), config.box.high(0));
      EXPECT_LE(std::abs(step.choice.control(0) - previous(0)), config.explore.slew(0));
      const double applied = step.choice.control(0) + (k % 3 == 0 ? 0.1 * slew * random.normal() : 0.0);
      previous(0) = std::clamp(applied, config.box.low(0), config.box.high(0));
      study.tell(step.id, toy.apply(step), previous);
      if (k == 12) {
        const Step failing = study.ask();
        study.fail(failing.id, StepStatus::kFailed, "test");
        previous = config.explore.safe;
      }
    }
  }
}

/// The toy's output kept inside.
std::string limited_config() {
  std::string text = kToyConfig;
  const std::string before = "[[state]]";
  return text.insert(text.find(before), "limit_low = -9\nlimit_high = 9\n\n");
}

TEST_F(StudyTest, WithLimitsAModelIsThereFromTheSecondMeasurementOn) {
  Study study = Study::create(path(), limited_config(), "toy.toml");
  Toy toy;
  advance(study, toy, 2);
  EXPECT_EQ(study.model(), nullptr);
  const Step third = study.ask();
  ASSERT_NE(study.model(), nullptr);
  EXPECT_EQ(third.choice.phase, plan::Phase::kRandom);  // still drawn, in view of the model
  EXPECT_EQ(study.steps().back().training, 1);
  EXPECT_TRUE(third.choice.safe);
  study.tell(third.id, toy.apply(third));
  EXPECT_EQ(study.ask().choice.phase, plan::Phase::kChosen);
  // Nothing to obey in the first two: they are those of the study without limits.
  Study free = create("free.study");
  Toy other;
  advance(free, other, 2);
  EXPECT_EQ(study.steps()[1].choice.control, free.steps()[1].choice.control);
}

TEST_F(StudyTest, WithLimitsGoingOnIsTheSameAsNeverStopping) {
  Study straight = Study::create(path("straight.study"), limited_config(), "toy.toml");
  Toy toy;
  advance(straight, toy, 6);
  straight.ask();
  Toy same_toy;
  for (int k = 0; k < 6; ++k) {
    Study part = k == 0 ? Study::create(path(), limited_config(), "toy.toml") : Study::open(path());
    advance(part, same_toy, 1);
  }
  Study after = Study::open(path());
  after.ask();
  expect_same(straight, after);
}

TEST(Reachable, HoldsInFloatingPoint) {
  RandomStream random(7, Purpose::kTest);
  for (int k = 0; k < 20'000; ++k) {
    const Box box{Vector::Constant(1, -random.uniform(0.0, 10.0)), Vector::Constant(1, random.uniform(0.0, 10.0))};
    const Vector slew = Vector::Constant(1, random.uniform(1e-9, 5.0));
    const Vector previous = Vector::Constant(1, random.uniform(box.low(0), box.high(0)));
    const Box reach = explore::slew_box(box, slew, previous);
    EXPECT_LE(reach.low(0), reach.high(0));
    for (const double end : {reach.low(0), reach.high(0)}) {
      EXPECT_LE(std::abs(end - previous(0)), slew(0));
      EXPECT_GE(end, box.low(0));
      EXPECT_LE(end, box.high(0));
    }
  }
}

TEST(Reachable, TheBoxHoldsWhereBothCannot) {
  const Box box{Vector::Constant(2, -1.0), Vector::Constant(2, 1.0)};
  const Box reach = explore::slew_box(box, Vector::Constant(2, 0.5), Vector{{3.0, -0.8}});
  EXPECT_EQ(reach.low(0), 1.0);
  EXPECT_EQ(reach.high(0), 1.0);
  EXPECT_EQ(reach.low(1), -1.0);
  EXPECT_EQ(reach.high(1), -0.8 + 0.5);
  const Box free = explore::slew_box(box, Vector::Constant(2, INFINITY), Vector::Zero(2));
  EXPECT_EQ(free.low, box.low);
  EXPECT_EQ(free.high, box.high);
}

}  // namespace
}  // namespace gpilot::study
