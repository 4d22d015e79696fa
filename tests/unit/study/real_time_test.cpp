/// A study that runs the example rig at a period, decisions in time and late.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "gpilot/study/rig_run.hpp"
#include "support/rig_run.hpp"

namespace gpilot::study {
namespace {

using Kind = RigRunEvent::Kind;
class RealTimeTest : public test::RigRunTest {};

Index safe_rows(const Study& study) {
  return std::ranges::count_if(study.steps(), [](const StepRecord& s) { return s.choice.phase == plan::Phase::kSafe; });
}

/// A rig whose every fourth answer to a step or to the safe control ends an episode: it does not matter how many
/// decisions come in time.
std::string episodes_rig(bool can_reset) {
  return std::string("n=0; while read -r line; do id=${line#*\\\"id\\\":}; id=${id%%,*}; more=; case $line in ") +
         R"(*hello*) more=',"can_reset":)" + (can_reset ? "true" : "false") + R"(';; *reset*) ;; )" +
         R"(*) n=$((n+1)); more=',"y":[0.1]'; [ $((n % 4)) = 0 ] && more="$more,\"done\":true";; esac; )" +
         R"(echo "{\"v\":1,\"id\":$id,\"ok\":true$more}"; case $line in *close*) exit;; esac; done)";
}

TEST_F(RealTimeTest, EpisodesEndInRealTimeToo) {
  Study study = create();
  RigRunOptions run = options("", 12);
  run.rig.command = episodes_rig(true);
  run.period_s = 0.02;
  const RigRunSummary summary = run_rig(study, run);
  EXPECT_EQ(study.told(), 12);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_GE(summary.episodes, 1);
  EXPECT_EQ(summary.over, "");
  EXPECT_GE(study.sequences().size(), 2U);
  EXPECT_EQ(study.sequences()[1].reason, "the rig says that its episode is over");
}

TEST_F(RealTimeTest, AnEpisodeEndsARunInRealTimeToo) {
  Study study = create();
  RigRunOptions run = options("", 12);
  run.rig.command = episodes_rig(false);
  run.period_s = 0.02;
  const RigRunSummary summary = run_rig(study, run);
  EXPECT_EQ(summary.told, 3);  // the first answer is to the safe control that begins a sequence
  EXPECT_EQ(study.told(), 3);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_EQ(summary.over, "the rig says that its episode is over, and it cannot be reset");
  EXPECT_EQ(study.pending(), nullptr);
}

TEST_F(RealTimeTest, PeriodsAreKeptAndTrainingGoesOnBesideThem) {
  Study study = create();
  RigRunOptions run = options("", 30);
  run.period_s = 0.02;
  const RigRunSummary summary = run_rig(study, run);
  EXPECT_EQ(summary.told, 30);
  EXPECT_EQ(study.told(), 30);
  EXPECT_EQ(study.pending(), nullptr);
  EXPECT_FALSE(study.trainings().empty());
  // Whatever was missed on a busy machine was filled with the safe control.
  EXPECT_LE(safe_rows(study), summary.missed);
  Index rows = 0;
  for (const ssm::Sequence& sequence : study.data()) {
    rows += sequence.rows() - 1;
  }
  EXPECT_EQ(rows, 30);
}

/// An answer is acknowledged by the thread that decides: holding it up there makes the decision late for certain.
TEST_F(RealTimeTest, AMissedDeadlineAppliesTheSafeControl) {
  Study study = create();
  RigRunOptions run = options("", 12);
  run.period_s = 0.02;
  run.on_event = [](const RigRunEvent& event) {
    if (event.kind == Kind::kTold && event.step->id == 3) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  };
  const RigRunSummary summary = run_rig(study, run);
  // Fifteen periods long; a busy machine may take several of them for one answer.
  EXPECT_GE(summary.missed, 1);
  EXPECT_GE(safe_rows(study), 1);
  EXPECT_GE(received("safe"), safe_rows(study));
  EXPECT_EQ(study.told(), 12);
  EXPECT_EQ(study.pending(), nullptr);
  for (const StepRecord& step : study.steps()) {
    EXPECT_TRUE(step.choice.phase != plan::Phase::kSafe || step.applied == study.config().explore.safe);
  }
}

TEST_F(RealTimeTest, WhatWasMeasuredInRealTimeIsKeptWhenTheRunFails) {
  Study study = create();
  RigRunOptions run = options("--misbehave die@6", 30);
  run.period_s = 0.02;
  run.failures = 1;
  EXPECT_THROW(run_rig(study, run), RigRunFailed);
  // On a busy machine the safe control may have filled some periods: those rows are kept beside the five.
  EXPECT_EQ(study.told() - safe_rows(study), 5);
  EXPECT_EQ(study.pending(), nullptr);
  const Study again = Study::open(path("a.study"), Access::kRead);
  EXPECT_EQ(again.told(), study.told());
  EXPECT_EQ(again.steps().back().status, StepStatus::kUnknown);
}

TEST_F(RealTimeTest, ARigThatFailsInRealTimeIsStartedAgain) {
  Study study = create();
  RigRunOptions run = options("--misbehave garbage@4", 10);
  run.period_s = 0.02;
  const RigRunSummary summary = run_rig(study, run);
  EXPECT_GE(summary.restarts, 1);
  EXPECT_EQ(study.told(), 10);
  expect_no_step_twice();
}

}  // namespace
}  // namespace gpilot::study
