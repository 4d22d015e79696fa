/// Corrections of what was told, and of what a disk has changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/study.hpp"
#include "support/change_study.hpp"
#include "support/message_of.hpp"
#include "support/small_config.hpp"
#include "support/toy_study.hpp"

namespace gpilot::study {
namespace {

using test::advance;
using test::change;
using test::expect_contains;
using test::kToyConfig;
using test::message_of;
using test::Toy;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class CorrectionsTest : public test::StudyTest {
 protected:
  /// A toy study after `steps`, on the disk.
  Toy measured(const std::string& name, int steps) const {
    Study study = create(name);
    Toy toy;
    advance(study, toy, steps);
    study.update();
    return toy;
  }
};

/// What is learned from: the outputs of the first sequence.
double learned(const Study& study, Index row) {
  return study.data()[0].outputs(row, 0);
}

TEST_F(CorrectionsTest, AVoidedStepIsKeptAndNotLearnedFrom) {
  measured("toy.study", 6);
  Study study = Study::open(path());
  const StepRecord before = study.steps()[3];
  EXPECT_TRUE(study.void_step(4, "the sensor was loose"));
  EXPECT_FALSE(study.void_step(4, "again"));
  const StepRecord& now = study.steps()[3];
  EXPECT_TRUE(now.voided);
  EXPECT_EQ(now.void_reason, "the sensor was loose");
  EXPECT_EQ(now.outputs, before.outputs);
  EXPECT_EQ(study.told(), 6);
  EXPECT_TRUE(std::isnan(learned(study, 4)));
  EXPECT_EQ(study.data()[0].controls(3, 0), before.applied(0));  // what followed from it is still known
  EXPECT_FALSE(std::isnan(learned(study, 5)));
  ASSERT_EQ(study.corrections().size(), 1U);
  EXPECT_EQ(study.corrections()[0].outputs, before.outputs);
  EXPECT_TRUE(study.due_training().has_value());
  EXPECT_EQ(study.ask().choice.phase, plan::Phase::kChosen);
}

TEST_F(CorrectionsTest, ModelsThatKnewAVoidedStepDecideNoMore) {
  measured("toy.study", 8);  // trainings after steps 3, 5, 7
  Study study = Study::open(path());
  ASSERT_EQ(study.trainings().size(), 3U);
  const std::string after_3 = io::format_model(*study.model_at(3));
  study.void_step(4, "wrong");
  ASSERT_NE(study.model(), nullptr);
  EXPECT_EQ(io::format_model(*study.model()), after_3);
  const std::optional<explore::TrainingJob> job = study.due_training();
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(io::format_model(*job->previous), after_3);
  study.void_step(1, "wrong, too");
  EXPECT_EQ(study.model(), nullptr);
  ASSERT_TRUE(study.due_training().has_value());
  EXPECT_EQ(study.due_training()->previous, nullptr);
}

TEST_F(CorrectionsTest, TrainingBegunBeforeACorrectionIsNotAdopted) {
  Study study = create();
  Toy toy;
  advance(study, toy, 9);
  const std::optional<explore::TrainingJob> job = study.due_training();
  ASSERT_TRUE(job.has_value());
  const explore::TrainingResult result = explore::train(*job);
  ASSERT_NE(result.model, nullptr);
  study.void_step(4, "wrong");
  const std::string before = study.model() ? io::format_model(*study.model()) : "";
  const std::size_t trainings = study.trainings().size();
  const std::string message = message_of<InputError>([&] { study.adopt(result); });
  EXPECT_NE(message.find("began before correction 1 (wrong)"), std::string::npos) << message;
  EXPECT_EQ(study.trainings().size(), trainings);
  EXPECT_EQ(study.model() ? io::format_model(*study.model()) : "", before);
  study.adopt(explore::train(*study.due_training()));  // one that has seen the correction
  EXPECT_EQ(study.trainings().size(), trainings + 1);
  EXPECT_FALSE(study.due_training().has_value());
}

TEST_F(CorrectionsTest, TrainingIsAdoptedAfterACorrectionOfWhatItDoesNotKnow) {
  Study study = create();
  Toy toy;
  advance(study, toy, 9);
  ASSERT_TRUE(study.due_training().has_value());
  const explore::TrainingResult result = explore::train(*study.due_training());
  advance(study, toy, 1);
  study.void_step(10, "wrong");
  study.adopt(result);
  EXPECT_EQ(study.trainings().back().summary.after_step, 9);
}

TEST_F(CorrectionsTest, GoingOnAfterACorrectionIsTheSameAsNeverStopping) {
  for (const bool voids : {true, false}) {
    const auto correct = [voids](Study& study) {
      if (voids) {
        study.void_step(5, "wrong");
      } else {
        study.correct(5, Vector::Constant(1, 0.125), Vector::Constant(1, 0.25), "typed wrongly");
      }
    };
    const std::string name = voids ? "void" : "correct";
    Toy toy = measured(name + "1.study", 7);
    Toy same_toy = measured(name + "2.study", 7);
    Study straight = Study::open(path(name + "1.study"));
    correct(straight);
    advance(straight, toy, 4);
    for (int k = 0; k < 5; ++k) {
      Study again = Study::open(path(name + "2.study"));
      if (k == 0) {
        correct(again);
      } else {
        advance(again, same_toy, 1);
      }
    }
    const Study again = Study::open(path(name + "2.study"), Access::kRead);
    ASSERT_EQ(again.steps().size(), straight.steps().size());
    for (std::size_t k = 0; k < again.steps().size(); ++k) {
      EXPECT_EQ(again.steps()[k].choice.control, straight.steps()[k].choice.control) << name << " " << k;
      EXPECT_EQ(again.steps()[k].training, straight.steps()[k].training) << name << " " << k;
    }
    EXPECT_EQ(io::format_model(*again.model()), io::format_model(*straight.model()));
  }
}

TEST_F(CorrectionsTest, ACorrectionIsAsIfItHadBeenToldAtOnce) {
  Study wrong = create("wrong.study");
  Study right = create("right.study");
  for (int k = 0; k < 3; ++k) {
    wrong.tell(wrong.ask().id, Vector::Constant(1, k == 1 ? 0.5 : 0.1 * k));
    right.tell(right.ask().id, Vector::Constant(1, 0.1 * k));
  }
  wrong.correct(2, Vector::Constant(1, 0.1), {}, "");
  EXPECT_EQ(wrong.ask().choice.control, right.ask().choice.control);
  EXPECT_EQ(io::format_model(*wrong.model()), io::format_model(*right.model()));
}

TEST_F(CorrectionsTest, ACorrectedStepKeepsItsHistory) {
  Study study = create();
  study.tell(study.ask().id, Vector::Constant(1, 0.5), Vector::Constant(1, 0.1), 2.5);
  study.void_step(1, "first");
  EXPECT_TRUE(study.correct(1, Vector::Constant(1, 0.25), Vector::Constant(1, 0.2), "second"));
  EXPECT_FALSE(study.correct(1, Vector::Constant(1, 0.25), {}, "the same"));
  EXPECT_FALSE(study.steps()[0].voided);
  EXPECT_EQ(study.steps()[0].applied(0), 0.2);
  EXPECT_EQ(study.steps()[0].rig_time, 2.5);
  EXPECT_EQ(learned(study, 1), 0.25);
  const std::vector<CorrectionRecord>& list = study.corrections();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_TRUE(list[0].voids && !list[0].voided);
  EXPECT_TRUE(!list[1].voids && list[1].voided);
  EXPECT_EQ(list[1].outputs(0), 0.5);
  EXPECT_EQ(list[1].applied(0), 0.1);
  EXPECT_EQ(list[1].why, "second");
  EXPECT_EQ(study.tell(1, Vector::Constant(1, 0.25), Vector::Constant(1, 0.2)), Told::kRepeated);
}

TEST_F(CorrectionsTest, OnlyWhatWasToldCanBeCorrected) {
  Study study = create();
  expect_contains(message_of<InputError>([&] { study.void_step(1, ""); }), "step 1 was never asked");
  study.ask();
  expect_contains(message_of<InputError>([&] { study.void_step(1, ""); }), "waits for its outputs");
  study.fail(1, StepStatus::kUnsafe, "too hot");
  expect_contains(message_of<InputError>([&] { study.void_step(1, ""); }), "status is 'unsafe'");
  expect_contains(message_of<InputError>([&] { study.correct(1, Vector::Zero(1), {}, ""); }), "status is 'unsafe'");
  study.tell(study.ask().id, Vector::Zero(1));
  EXPECT_THROW(study.correct(2, Vector::Zero(2), {}, ""), InputError);
  EXPECT_THROW(study.correct(2, Vector::Zero(1), Vector::Constant(1, kNaN), ""), InputError);
  expect_contains(message_of<InputError>([&] { study.void_start(9, ""); }), "there is no sequence 9; it has 2");
  EXPECT_EQ(study.corrections().size(), 0U);
  Study reader = Study::open(path(), Access::kRead);
  expect_contains(message_of<InputError>([&] { reader.void_step(2, ""); }), "opened to read");
}

TEST_F(CorrectionsTest, TheFirstRowOfASequenceCanBeVoided) {
  Study study = create();
  study.new_sequence(SequenceOrigin::kReset, Vector::Constant(1, 0.7), "reset");
  study.tell(study.ask().id, Vector::Constant(1, 0.1));
  EXPECT_EQ(learned(study, 0), 0.7);
  EXPECT_TRUE(study.void_start(1, "read too early"));
  EXPECT_FALSE(study.void_start(1, "read too early"));
  EXPECT_TRUE(std::isnan(learned(study, 0)));
  EXPECT_FALSE(study.data()[0].broad_start);
  EXPECT_EQ(study.corrections()[0].outputs(0), 0.7);
}

TEST_F(CorrectionsTest, AStalePlanIsNotFollowed) {
  std::string text = kToyConfig;
  text.replace(text.find("\"totmi\""), 7, "\"imse\"");
  text += "[planning]\nhorizon = 4\ncommit = 3\nevaluations = 40\n";
  Study study = Study::create(path(), text, "toy.toml");
  Toy toy;
  advance(study, toy, 4);
  study.void_step(2, "wrong");
  EXPECT_EQ(study.ask().choice.evaluations, 40);
}

TEST_F(CorrectionsTest, ASpikeIsKeptFromTheModel) {
  Study study = create();
  Study clean = create("clean.study");
  Toy toy;
  Toy same_toy;
  advance(study, toy, 2);
  advance(clean, same_toy, 2);
  for (Study* each : {&study, &clean}) {  // ten times [-1, 1]
    each->tell(each->ask().id, Vector::Constant(1, each == &study ? 1e12 : kNaN));
  }
  EXPECT_EQ(study.steps()[2].outputs(0), 1e12);
  EXPECT_EQ(implausible_words(study.config(), study.steps()[2].outputs),
            "y = 1e+12 is not plausible (expected -10 to 10)");
  EXPECT_EQ(implausible_words(study.config(), Vector::Constant(1, 9.9)), "");
  EXPECT_EQ(implausible_words(study.config(), Vector::Constant(1, kNaN)), "");
  for (int k = 0; k < 3; ++k) {
    const Step step = study.ask();
    EXPECT_EQ(step.choice.phase, plan::Phase::kChosen);
    EXPECT_EQ(step.choice.control, clean.ask().choice.control);
    const Vector y = toy.apply(step);
    study.tell(step.id, y);
    clean.tell(step.id, y);
  }
  EXPECT_EQ(Study::open(path(), Access::kRead).data()[0].outputs(4, 0), study.steps()[3].outputs(0));
}

TEST_F(CorrectionsTest, AModelOfAnyStepCanBeHad) {
  std::string text = kToyConfig;
  text.insert(text.find("initial"), "keep_models = 1\n");
  std::vector<std::string> models;
  {
    Study study = Study::create(path(), text, "toy.toml");
    Toy toy;
    for (int k = 0; k < 9; ++k) {
      advance(study, toy, 1);
      study.update();
      models.push_back(study.model() ? io::format_model(*study.model()) : "");
    }
  }
  const Study study = Study::open(path(), Access::kRead);
  EXPECT_EQ(std::ranges::count(study.trainings(), true, &TrainingRecord::has_model), 1);
  EXPECT_EQ(study.model_at(2), nullptr);
  for (const Index step : {3, 4, 5, 8, 9}) {
    EXPECT_EQ(io::format_model(*study.model_at(step)), models[static_cast<std::size_t>(step - 1)]) << step;
  }
}

class DamageTest : public CorrectionsTest {
 protected:
  DamageTest() { measured("toy.study", 6); }
  std::string opened() const {
    return message_of<StoreError>([&] { Study::open(path(), Access::kRead); });
  }
};

TEST_F(DamageTest, AChangedMeasurementIsToldOnOpening) {
  change(path(), "UPDATE steps SET outputs = '[0.5]' WHERE id = 3");
  for (const Access access : {Access::kRead, Access::kWrite}) {
    const std::string message = message_of<StoreError>([&] { Study::open(path(), access); });
    expect_contains(message, path() + ": damaged: step 3:");
    expect_contains(message, "gpilot void " + path() + " --step 3");
  }
}

TEST_F(DamageTest, EveryColumnCounts) {
  for (const std::string set : {"applied = '[0.1]'", "asked = '[0.1]'", "rig_time = 1.0", "status = 'failed'",
                                "status = 'tolf'", "phase = 'safe'", "outputs = 'x'", "outputs = NULL",
                                "checksum = NULL", "voided = 1", "plan = '[1,2]'", "criterion = 4.5"}) {
    const std::string copy = path("copy.study");
    std::filesystem::copy_file(path(), copy, std::filesystem::copy_options::overwrite_existing);
    change(copy, "PRAGMA ignore_check_constraints = 1; UPDATE steps SET " + set + " WHERE id = 4");
    expect_contains(message_of<StoreError>([&] { Study::open(copy, Access::kRead); }), "damaged: step 4");
    Study study = Study::open(copy, Access::kRepair);
    expect_contains(message_of<StoreError>([&] { study.ask(); }), "damaged: step 4");
    EXPECT_TRUE(study.void_step(4, "damaged")) << set;
    EXPECT_TRUE(std::isnan(learned(study, 4)) || study.steps()[3].status != StepStatus::kTold) << set;
    study.ask();
    EXPECT_EQ(Study::open(copy, Access::kRead).steps().size(), 7U) << set;
  }
}

TEST_F(DamageTest, TheRightValuesMendAStep) {
  const StepRecord before = Study::open(path(), Access::kRead).steps()[1];
  change(path(), "UPDATE steps SET outputs = '[0.5]', applied = 'y' WHERE id = 2");
  Study study = Study::open(path(), Access::kRepair);
  EXPECT_TRUE(study.correct(2, before.outputs, before.applied, "from the log"));
  EXPECT_EQ(study.steps()[1].outputs, before.outputs);
  EXPECT_EQ(learned(study, 2), before.outputs(0));
}

TEST_F(DamageTest, OtherTablesAreChecked) {
  change(path(), "UPDATE sequences SET outputs = '[0.5]'");
  expect_contains(opened(), "damaged: the first row of sequence 1");
  Study::open(path(), Access::kRepair).void_start(1, "damaged");
  EXPECT_TRUE(Study::open(path(), Access::kRead).data()[0].broad_start);
  change(path(), "UPDATE study SET config = replace(config, 'low = -1', 'low = -2')");
  expect_contains(opened(), "damaged: the configuration");
}

TEST_F(DamageTest, ADamagedModelCostsATraining) {
  change(path(), "UPDATE trainings SET model = replace(model, '1', '2') WHERE id = 2");
  Study study = Study::open(path());
  ASSERT_EQ(study.warnings().size(), 1U);
  expect_contains(study.warnings()[0], "damaged: training 2");
  EXPECT_TRUE(study.due_training().has_value());
  EXPECT_EQ(study.ask().choice.phase, plan::Phase::kChosen);
}

TEST_F(DamageTest, AFileThatPretendsToBeOlderIsRefused) {
  change(path(), "PRAGMA user_version = 2");
  for (const Access access : {Access::kRead, Access::kWrite}) {
    expect_contains(message_of<StoreError>([&] { Study::open(path(), access); }), "not of schema version 2");
  }
}

}  // namespace
}  // namespace gpilot::study
