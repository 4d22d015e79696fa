/// The file of a study: who may write to it, what becomes of a damaged one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/study/record.hpp"
#include "gpilot/study/study.hpp"
#include "support/change_study.hpp"
#include "support/message_of.hpp"
#include "support/toy_study.hpp"

namespace gpilot::study {
namespace {

namespace fs = std::filesystem;
using test::advance;
using test::change;
using test::change_and_seal;
using test::kToyConfig;
using test::message_of;
using test::Toy;

class StudyFileTest : public test::StudyTest {};

TEST_F(StudyFileTest, OldModelsAreForgottenTheirRecordsAreNot) {
  {
    Study study = create();
    Toy toy;
    advance(study, toy, 14);
    study.update();
  }
  const Study study = Study::open(path(), Access::kRead);
  EXPECT_GE(study.trainings().size(), 5U);
  EXPECT_EQ(std::ranges::count(study.trainings(), true, &TrainingRecord::has_model), 3);
  EXPECT_TRUE(study.trainings().back().has_model);
}

TEST_F(StudyFileTest, OnlyOneWriterAtATime) {
  Study writer = create();
  const std::string refusal = message_of<StudyBusy>([&] { Study::open(path()); });
  EXPECT_NE(refusal.find("process " + std::to_string(::getpid())), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("since 20"), std::string::npos) << refusal;
  writer.ask();
  const Study reader = Study::open(path(), Access::kRead);
  EXPECT_EQ(reader.steps().size(), 1U);
  writer.tell(1, Vector::Zero(1));  // a reader does not block the writer
  EXPECT_EQ(Study::open(path(), Access::kRead).told(), 1);
  EXPECT_EQ(reader.told(), 0);  // it sees what there was
}

TEST_F(StudyFileTest, AnotherPathToTheSameFileIsTheSameStudy) {
  const Study writer = create();
  fs::create_symlink(path(), path("link.study"));
  EXPECT_THROW(Study::open(path("link.study")), StudyBusy);
}

TEST_F(StudyFileTest, AFileThatWasReplacedIsNotWrittenTo) {
  Study study = create();
  study.ask();
  fs::rename(path(), path("moved.study"));
  EXPECT_NE(message_of<StoreError>([&] { study.tell(1, Vector::Zero(1)); }).find("moved, replaced or removed"),
            std::string::npos);
  EXPECT_EQ(study.told(), 0);
}

TEST_F(StudyFileTest, NothingReplacesAStudy) {
  { Study study = create(); }
  EXPECT_NE(message_of<InputError>([&] { io::write_file_atomically(path(), "y\n1\n"); }).find("it is a study"),
            std::string::npos);
  EXPECT_EQ(Study::open(path(), Access::kRead).steps().size(), 0U);
}

TEST_F(StudyFileTest, WhatDoesNotChangeResultsMayChange) {
  Study study = create();
  std::string text = kToyConfig;
  text.replace(text.find("initial = 3"), 11, "initial = 3\nkeep_models = 1");
  study.reconfigure(text, "new.toml");
  EXPECT_EQ(study.config().keep_models, 1);
  EXPECT_EQ(Study::open(path(), Access::kRead).config().keep_models, 1);
  text.replace(text.find("seed = 3"), 8, "seed = 4");
  EXPECT_NE(message_of<InputError>([&] { study.reconfigure(text, "new.toml"); }).find("study.seed"), std::string::npos);
  EXPECT_EQ(study.config().explore.seed, 3U);
}

TEST_F(StudyFileTest, KeepsWhatAChoiceSaysOfLimitsAndItsPlan) {
  {
    Study study = create();
    Toy toy;
    advance(study, toy, 4);
  }
  EXPECT_TRUE(Study::open(path(), Access::kRead).steps()[3].choice.safe);
  change_and_seal(path(),
                  "UPDATE steps SET violation = 0.25, safe = 0, reference_sd = 0.5, plan = '[0.1,0.2]' WHERE id = 4");
  Study study = Study::open(path());
  EXPECT_EQ(study.steps()[3].choice.violation, 0.25);
  EXPECT_FALSE(study.steps()[3].choice.safe);
  EXPECT_EQ(study.steps()[3].choice.reference_sd, 0.5);
  EXPECT_EQ(study.steps()[3].choice.plan, (Matrix{{0.1}, {0.2}}));
  EXPECT_EQ(study.steps()[2].choice.plan.size(), 0);
  EXPECT_TRUE(std::isnan(study.steps()[2].choice.violation));
  study.ask();
  change_and_seal(path(), "UPDATE steps SET violation = 0.75, safe = 0 WHERE id = 5");
  const Step again = Study::open(path(), Access::kRead).suggest();
  EXPECT_EQ(again.choice.violation, 0.75);
  EXPECT_FALSE(again.choice.safe);
}

TEST_F(StudyFileTest, PlansAreKeptAndFollowed) {
  std::string text = kToyConfig;
  text.replace(text.find("\"totmi\""), 7, "\"imse\"");
  text += "[planning]\nhorizon = 4\ncommit = 2\nevaluations = 40\n";
  Toy toy;
  {
    Study study = Study::create(path(), text, "toy.toml");
    advance(study, toy, 4);
  }
  Study study = Study::open(path());  // what is left of the plan is in the file
  const std::vector<StepRecord>& steps = study.steps();
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[2].choice.plan.size(), 0);  // drawn
  EXPECT_EQ(steps[3].choice.evaluations, 40);
  EXPECT_EQ(steps[3].choice.plan.rows(), 4);
  EXPECT_EQ(steps[3].choice.plan(0, 0), steps[3].choice.control(0));
  advance(study, toy, 3);
  EXPECT_EQ(study.steps()[4].choice.evaluations, 0);
  EXPECT_EQ(study.steps()[4].choice.note, "by the plan of an earlier step");
  EXPECT_EQ(study.steps()[5].choice.evaluations, 40);
  EXPECT_EQ(study.steps()[6].choice.evaluations, 0);
  for (std::size_t k = 4; k < 7; ++k) {  // slew = 0.8
    EXPECT_LE(std::abs(study.steps()[k].choice.control(0) - study.steps()[k - 1].applied(0)), 0.8) << k;
  }
}

TEST_F(StudyFileTest, SaysWhenItsModelIsSureEnough) {
  std::string text = kToyConfig;
  text.insert(text.find("initial"), "until_sd = 0.05\n");
  {
    Study study = Study::create(path(), text, "toy.toml");
    Toy toy;
    advance(study, toy, 5);
    EXPECT_EQ(study.sure_enough(), "");  // its strategy says nothing of it
  }
  change_and_seal(path(), "UPDATE steps SET reference_sd = 0.01 WHERE id = 4");
  EXPECT_EQ(Study::open(path(), Access::kRead).sure_enough(), "");  // that was before the newest
  change_and_seal(path(), "UPDATE steps SET reference_sd = 0.05 WHERE id = 5");
  EXPECT_EQ(Study::open(path(), Access::kRead).sure_enough(), "");
  change_and_seal(path(), "UPDATE steps SET reference_sd = 0.047 WHERE id = 5");
  Study study = Study::open(path());
  const std::string words =
      "the model's standard deviation on the reference is 0.047, below 0.05: stopped after 2 step(s)";
  EXPECT_EQ(study.sure_enough(), words);
  study.ask();  // another choice, which says nothing of it
  EXPECT_EQ(study.sure_enough(), "");
}

TEST_F(StudyFileTest, AReaderCannotWrite) {
  create();
  Study reader = Study::open(path(), Access::kRead);
  EXPECT_NE(message_of<InputError>([&] { reader.ask(); }).find("opened to read"), std::string::npos);
}

TEST_F(StudyFileTest, TheLockOfADeadProcessIsRecognised) {
  create();
  EXPECT_FALSE(fs::exists(path() + ".lock"));
  std::ofstream(path() + ".lock") << "process 4711 on somewhere since 2026-01-01T00:00:00.000Z\n";
  const Study study = Study::open(path());
  EXPECT_EQ(study.taken_over_from(), "process 4711 on somewhere since 2026-01-01T00:00:00.000Z");
  EXPECT_NE(study.sessions().back().note.find("process 4711"), std::string::npos);
}

TEST_F(StudyFileTest, WrongFilesAreRefused) {
  EXPECT_NE(message_of<InputError>([&] { Study::open(path("none")); }).find("no such study"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("none.lock")));
  std::ofstream(path("text")) << "y,c\n1,2\n";
  EXPECT_NE(message_of<InputError>([&] { Study::open(path("text"), Access::kRead); }).find("no SQLite database"),
            std::string::npos);
  std::ofstream(path("empty")) << "";
  EXPECT_NE(message_of<InputError>([&] { Study::open(path("empty"), Access::kRead); }).find("not a study"),
            std::string::npos);
  create();
  EXPECT_NE(message_of<InputError>([&] { create(); }).find("exists already"), std::string::npos);
  EXPECT_THROW(Study::create(path("wrong.study"), "nonsense", "n.toml"), InputError);
  EXPECT_FALSE(fs::exists(path("wrong.study")));
}

TEST_F(StudyFileTest, WhatIsDoneBeforeAStudyIsMadeKeepsOthersAwayAndMayRefuseIt) {
  const auto fails = [&] {
    EXPECT_FALSE(fs::exists(path()));
    EXPECT_THROW(create(), StudyBusy);
    throw InputError("no rig");
  };
  EXPECT_EQ(message_of<InputError>([&] { Study::create(path(), kToyConfig, "toy.toml", fails); }), "no rig");
  EXPECT_FALSE(fs::exists(path()));
  EXPECT_FALSE(fs::exists(path() + ".lock"));
  create();
  bool called = false;
  EXPECT_THROW(Study::create(path(), kToyConfig, "toy.toml", [&] { called = true; }), InputError);
  EXPECT_FALSE(called);
  EXPECT_TRUE(fs::exists(path()));
}

TEST_F(StudyFileTest, ATruncatedFileIsAnErrorNotACrash) {
  {
    Study study = create();
    Toy toy;
    advance(study, toy, 4);
  }
  const auto size = fs::file_size(path());
  fs::resize_file(path(), size / 2);
  EXPECT_ANY_THROW({
    Study study = Study::open(path());
    study.ask();
  });
}

TEST_F(StudyFileTest, AFileThatContradictsItselfIsRefused) {
  {
    Study study = create();
    Toy toy;
    advance(study, toy, 4);
  }
  for (const auto& [sql, message] : std::vector<std::pair<std::string, std::string>>{
           {"UPDATE steps SET outputs = NULL WHERE id = 2", "step 2: wrong outputs"},
           {"UPDATE steps SET applied = '[]' WHERE id = 2", "step 2: wrong applied control"},
           {"UPDATE steps SET asked = '[0.1,0.2]' WHERE id = 2", "step 2: wrong control"},
           {"UPDATE sequences SET outputs = '[]'", "sequence 1: wrong number of outputs"},
           {"DELETE FROM steps WHERE id = 2", "step 3: the numbers have a gap"},
           {"UPDATE steps SET status = 'asked' WHERE id = 2", "step 2: it waits, and others followed"},
           {"UPDATE trainings SET after_step = 99", "training 1: it knows steps that are not there"}}) {
    const std::string copy = path("copy.study");
    fs::copy_file(path(), copy, fs::copy_options::overwrite_existing);
    change_and_seal(copy, sql);
    EXPECT_NE(message_of<StoreError>([&] { Study::open(copy, Access::kRead); }).find(message), std::string::npos)
        << sql;
  }
}

TEST_F(StudyFileTest, AModelThatCannotBeReadCostsATrainingOnly) {
  {
    Study study = create();
    Toy toy;
    advance(study, toy, 4);
    study.update();
  }
  change_and_seal(path(), "UPDATE trainings SET model = '{}'");
  Study study = Study::open(path());
  EXPECT_EQ(study.told(), 4);
  EXPECT_EQ(study.model(), nullptr);
  EXPECT_EQ(study.ask().choice.phase, plan::Phase::kChosen);
  EXPECT_NE(study.model(), nullptr);
}

}  // namespace
}  // namespace gpilot::study
