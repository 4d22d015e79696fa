/// A study that runs the example rig, well behaved and not.
#include "gpilot/study/rig_run.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "support/change_study.hpp"
#include "support/message_of.hpp"
#include "support/rig_run.hpp"

namespace gpilot::study {
namespace {

using test::message_of;
using test::pendulum_rig;
using test::RigRunTest;
using Kind = RigRunEvent::Kind;

std::vector<StepStatus> statuses(const Study& study) {
  std::vector<StepStatus> all;
  for (const StepRecord& step : study.steps()) {
    all.push_back(step.status);
  }
  return all;
}

TEST_F(RigRunTest, MeasuresTrainsAndSendsTheSafeControl) {
  Study study = create();
  const RigRunSummary summary = run_rig(study, options("", 8));
  EXPECT_EQ(summary.told, 8);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_EQ(summary.restarts, 0);
  EXPECT_FALSE(summary.stopped);
  EXPECT_EQ(study.told(), 8);
  EXPECT_EQ(study.sequences().size(), 1U);
  EXPECT_EQ(study.sequences()[0].origin, SequenceOrigin::kReset);
  EXPECT_FALSE(std::isnan(study.sequences()[0].outputs(0)));  // the rig measured after its reset
  EXPECT_TRUE(study.steps()[0].rig_time.has_value());
  EXPECT_NE(study.model(), nullptr);
  EXPECT_EQ(received("step"), 8);
  EXPECT_EQ(received("close"), 1);
}

TEST_F(RigRunTest, CountsWhatWasOutsideTheLimits) {
  constexpr double kLimit = 0.1;
  std::string config = test::kRigConfig;
  config.insert(config.find("[[state]]"), "limit_low = -0.1\nlimit_high = 0.1\n");
  Study study = Study::create(path("a.study"), config, "rig.toml");
  const RigRunSummary summary = run_rig(study, options("", 12));
  Index outside = 0;
  Index no_plan = 0;
  for (const StepRecord& step : study.steps()) {
    ASSERT_EQ(step.status, StepStatus::kTold);
    outside += step.outputs(0) < -kLimit || step.outputs(0) > kLimit ? 1 : 0;
    no_plan += step.choice.safe ? 0 : 1;
  }
  EXPECT_EQ(summary.told, 12);
  EXPECT_EQ(summary.outside, outside);
  EXPECT_EQ(summary.no_plan, no_plan);
  EXPECT_GT(outside, 0);  // or the test would say nothing
  EXPECT_LT(outside, 12);
}

TEST_F(RigRunTest, ARigThatCannotBeResetBeginsAnywhere) {
  Study study = create();
  run_rig(study, options("--no-reset", 2));
  run_rig(study, options("--no-reset", 2));
  ASSERT_EQ(study.sequences().size(), 2U);
  for (const SequenceRecord& sequence : study.sequences()) {
    EXPECT_EQ(sequence.origin, SequenceOrigin::kBroken);
    EXPECT_TRUE(sequence.broad);
  }
}

TEST_F(RigRunTest, AnIdempotentRigGoesOnAsIfNothingHadHappened) {
  Study straight = create("straight.study");
  run_rig(straight, options("--state '" + path("one") + "'", 8));
  for (Index k = 0; k <= 8; k += 2) {
    const std::string name = std::to_string(k);
    {
      Study study = create(name);
      run_rig(study, options("--state '" + path("rig" + name) + "'", k));
    }
    Study study = Study::open(path(name));
    run_rig(study, options("--state '" + path("rig" + name) + "'", 8 - k));
    ASSERT_EQ(study.steps().size(), straight.steps().size());
    EXPECT_EQ(study.sequences().size(), 1U);
    for (std::size_t i = 0; i < study.steps().size(); ++i) {
      EXPECT_EQ(study.steps()[i].choice.control, straight.steps()[i].choice.control)
          << "step " << i + 1 << " after a stop at " << k;
      EXPECT_EQ(study.steps()[i].outputs, straight.steps()[i].outputs) << "step " << i + 1 << " after a stop at " << k;
    }
  }
}

TEST_F(RigRunTest, AStepThatWaitsIsSentAgainToAnIdempotentRigOnly) {
  const std::string state = "--state '" + path("state") + "'";
  {
    Study study = create("idempotent");
    run_rig(study, options(state, 2));
    study.ask();  // and the process dies
  }
  Study idempotent = Study::open(path("idempotent"));
  run_rig(idempotent, options(state, 2));
  EXPECT_EQ(statuses(idempotent), std::vector(4, StepStatus::kTold));
  {
    Study study = create("plain");
    run_rig(study, options("", 2));
    study.ask();
  }
  Study plain = Study::open(path("plain"));
  run_rig(plain, options("", 2));
  EXPECT_EQ(statuses(plain), (std::vector{StepStatus::kTold, StepStatus::kTold, StepStatus::kUnknown, StepStatus::kTold,
                                          StepStatus::kTold}));
  EXPECT_EQ(plain.steps()[3].sequence, plain.steps()[2].sequence + 1);
}

TEST_F(RigRunTest, StopsWhenAskedTo) {
  Study study = create();
  std::atomic<bool> stop{false};
  RigRunOptions run = options("", 8);
  run.stop = &stop;
  run.on_event = [&](const RigRunEvent& event) { stop = stop || (event.kind == Kind::kTold && event.step->id == 3); };
  const RigRunSummary summary = run_rig(study, run);
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(study.told(), 3);
  EXPECT_EQ(study.pending(), nullptr);
  EXPECT_EQ(received("close"), 1);
}

TEST_F(RigRunTest, EndsWhenTheModelIsSureEnough) {
  std::string text = test::kRigConfig;
  text.insert(text.find("dt"), "until_sd = 0.05\n");
  EXPECT_NE(message_of<InputError>([&] {
              explore::check_until_sd(parse_config(text, "rig.toml").explore);
            }).find("until-sd: the strategy 'totmi' does not look at how sure the model is"),
            std::string::npos);
  EXPECT_NO_THROW(explore::check_until_sd(parse_config(test::kRigConfig, "rig.toml").explore));
  {
    Study study = Study::create(path("a.study"), text, "rig.toml");
    EXPECT_EQ(run_rig(study, options("", 6)).sure_enough, "");
  }
  test::change_and_seal(path("a.study"), "UPDATE steps SET reference_sd = 0.01 WHERE id = 6");
  Study study = Study::open(path("a.study"));
  const RigRunSummary summary = run_rig(study, options("", 5));
  EXPECT_EQ(summary.told, 0);
  EXPECT_FALSE(summary.stopped);
  EXPECT_NE(summary.sure_enough.find("on the reference is 0.01, below 0.05"), std::string::npos);
}

TEST_F(RigRunTest, WrongOptionsAreRefused) {
  Study study = create();
  RigRunOptions run = options("", -1);
  EXPECT_THROW(run_rig(study, run), InputError);
  run = options("", 1);
  for (const double period : {0.0, -1.0, 1e12, std::nan("")}) {
    run.period_s = period;
    EXPECT_NE(message_of<InputError>([&] { run_rig(study, run); }).find("period: "), std::string::npos);
  }
}

/// What a rig does wrong in its third step, and what becomes of the step.
struct Misbehaviour {
  std::string kind;
  StepStatus status;
  std::string message;
  double deadline_s = 60.0;
};

void PrintTo(const Misbehaviour& m, std::ostream* out) {
  *out << m.kind;
}

class MisbehavingRigTest : public RigRunTest, public ::testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehavingRigTest, TheStudyStaysConsistentAndTheRigSafe) {
  Study study = create();
  RigRunOptions run = options("--misbehave " + GetParam().kind + "@3", 6);
  run.rig.deadline_s = GetParam().deadline_s;
  run.rig.close_s = 1.0;
  const RigRunSummary summary = run_rig(study, run);
  EXPECT_EQ(summary.told, 6);
  EXPECT_EQ(study.told(), 6);
  // The process is started again where it cannot be trusted any more, and then misbehaves again in its third step.
  EXPECT_GE(summary.failed, 1);
  EXPECT_EQ(study.steps()[2].status, GetParam().status);
  EXPECT_EQ(study.steps()[3].sequence, 2);
  ASSERT_FALSE(failures_.empty());
  EXPECT_NE(failures_[0].find(GetParam().message), std::string::npos) << failures_[0];
  EXPECT_NE(study.steps()[2].reason.find(GetParam().message), std::string::npos);
  expect_no_step_twice();
  // Each process was told to be safe before it got its next step or ended: by `safe`, by `close`, or, if it was deaf to
  // that, by the end of its input. One that has died or hangs writes nothing down.
  const std::string& kind = GetParam().kind;
  const Index dead = kind.starts_with("die") || kind == "hang" || kind == "killed" ? summary.restarts : 0;
  const Index wanted = summary.restarts > 0 ? summary.restarts + 1 : summary.failed + 1;
  EXPECT_GE(received("safe") + received("close") + received("end") + dead, wanted);
  EXPECT_EQ(Study::open(path("a.study"), Access::kRead).told(), 6);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MisbehavingRigTest,
                         ::testing::Values(Misbehaviour{"fail", StepStatus::kFailed, "told to misbehave"},
                                           Misbehaviour{"unsafe", StepStatus::kUnsafe, "told to misbehave"},
                                           Misbehaviour{"hang", StepStatus::kUnknown, "did not answer", 0.3},
                                           Misbehaviour{"late", StepStatus::kUnknown, "did not answer", 0.3},
                                           Misbehaviour{"die", StepStatus::kUnknown, "ended"},
                                           Misbehaviour{"die-midline", StepStatus::kUnknown, "ended"},
                                           Misbehaviour{"garbage", StepStatus::kUnknown, "JSON"},
                                           Misbehaviour{"long-line", StepStatus::kUnknown, "a line of more than"},
                                           Misbehaviour{"wrong-id", StepStatus::kUnknown, "id"},
                                           Misbehaviour{"old-id", StepStatus::kUnknown, "id"},
                                           Misbehaviour{"nan", StepStatus::kUnknown, "null"},
                                           Misbehaviour{"infinity", StepStatus::kUnknown, "null"},
                                           Misbehaviour{"wrong-dimension", StepStatus::kUnknown, "y"},
                                           Misbehaviour{"killed", StepStatus::kUnknown, "signal 9"},
                                           Misbehaviour{"closes-output", StepStatus::kUnknown, "closed its output"},
                                           Misbehaviour{"empty-line", StepStatus::kUnknown, "an empty line"},
                                           Misbehaviour{"deep", StepStatus::kUnknown, "not a JSON object"},
                                           Misbehaviour{"wrong-version", StepStatus::kUnknown, "version 2"},
                                           Misbehaviour{"overflow", StepStatus::kUnknown, "null"},
                                           Misbehaviour{"no-outputs", StepStatus::kUnknown, "y"},
                                           Misbehaviour{"done-garbage", StepStatus::kUnknown, "done"},
                                           Misbehaviour{"done-number", StepStatus::kUnknown, "done"},
                                           Misbehaviour{"done-without-outputs", StepStatus::kUnknown, "y"},
                                           Misbehaviour{"done-failed", StepStatus::kFailed, "told to misbehave"},
                                           Misbehaviour{"array", StepStatus::kUnknown, "not a JSON object"},
                                           Misbehaviour{"nulls", StepStatus::kUnknown, "zero byte"},
                                           Misbehaviour{"text-outputs", StepStatus::kUnknown, "a text"},
                                           Misbehaviour{"applied-null", StepStatus::kUnknown, "u_applied"},
                                           Misbehaviour{"not-ok-number", StepStatus::kUnknown, "ok"}),
                         [](const auto& test) {
                           std::string name = test.param.kind;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(RigRunTest, AnEpisodeThatIsOverIsFollowedByAnother) {
  for (const bool idempotent : {false, true}) {
    Study study = create(idempotent ? "a" : "b");
    RigRunOptions run = options(std::string("--episode 3") + (idempotent ? " --state '" + path("state") + "'" : ""), 8);
    run.rig.command = "tee -a '" + path("requests") + "' | { " + run.rig.command + "; }";
    const RigRunSummary summary = run_rig(study, run);
    EXPECT_EQ(summary.told, 8);
    EXPECT_EQ(summary.failed, 0);
    EXPECT_EQ(summary.restarts, 0);
    EXPECT_EQ(summary.episodes, 2);
    EXPECT_EQ(summary.over, "");
    EXPECT_TRUE(failures_.empty());
    ASSERT_EQ(study.sequences().size(), 3U);
    EXPECT_EQ(study.steps()[2].sequence, 1);
    EXPECT_EQ(study.steps()[3].sequence, 2);
    EXPECT_EQ(study.steps()[2].status, StepStatus::kTold);
    EXPECT_EQ(study.sequences()[1].origin, SequenceOrigin::kReset);
    EXPECT_EQ(study.sequences()[1].reason, "the rig says that its episode is over");
    for (Index sequence = 1; sequence <= 3; ++sequence) {
      EXPECT_NE(text_of("requests").find("\"seed\":" + std::to_string(rig::reset_seed(3, sequence)) + "}"),
                std::string::npos)
          << sequence;
    }
  }
}

TEST_F(RigRunTest, AnEpisodeThatIsOverEndsTheRunOfARigThatCannotBeReset) {
  Study study = create();
  const RigRunSummary summary = run_rig(study, options("--no-reset --episode 3", 8));
  EXPECT_EQ(summary.told, 3);
  EXPECT_EQ(summary.failed, 0);
  EXPECT_EQ(summary.episodes, 1);
  EXPECT_EQ(summary.over, "the rig says that its episode is over, and it cannot be reset");
  EXPECT_FALSE(summary.stopped);
  EXPECT_EQ(study.current_sequence(), nullptr);
  EXPECT_EQ(study.pending(), nullptr);
  EXPECT_EQ(study.told(), 3);
  EXPECT_EQ(received("close"), 1);
}

/// The run is killed right after the last measurement of an episode: the next one begins with a reset all the same.
TEST_F(RigRunTest, AnEpisodeThatIsOverStaysOverAfterACrash) {
  const std::string state = "--episode 3 --state '" + path("state") + "'";
  {
    Study study = create();
    RigRunOptions run = options(state, 8);
    run.on_event = [](const RigRunEvent& event) {
      if (event.kind == Kind::kTold && event.step->id == 3) {
        throw std::runtime_error("the process dies");
      }
    };
    EXPECT_THROW(run_rig(study, run), std::runtime_error);
  }
  Study study = Study::open(path("a.study"));
  EXPECT_EQ(study.current_sequence(), nullptr);
  run_rig(study, options(state, 1));
  EXPECT_EQ(study.steps()[3].sequence, 2);
  EXPECT_EQ(study.sequences()[1].origin, SequenceOrigin::kReset);
}

TEST_F(RigRunTest, AnEpisodeCannotBeOverAsItBegins) {
  Study study = create();
  RigRunOptions run = options("", 2);
  run.rig.command = R"(read -r line; echo '{"v":1,"id":0,"ok":true,"can_reset":true}';
      read -r line; echo '{"v":1,"id":-1,"ok":true,"done":true}'; read -r line)";
  run.failures = 1;
  EXPECT_NE(message_of<RigRunFailed>([&] { run_rig(study, run); }).find("in its answer to a reset"), std::string::npos);
}

TEST_F(RigRunTest, ARigThatDeclaresSomethingElseIsNotRun) {
  Study study = create();
  RigRunOptions run = options("", 2);
  run.rig.command = R"(read -r line; echo '{"v":1,"id":0,"ok":true,"inputs":[{"name":"torque","low":-0.2,"high":0.2}]}';
      read -r line; echo "$line" >')" +
                    path("next") + "'";
  EXPECT_EQ(
      message_of<InputError>([&] { run_rig(study, run); }),
      "the rig accepts torque from -0.2 to 0.2, the study would send -0.5 to 0.5: change the configuration, or the "
      "rig");
  EXPECT_TRUE(study.steps().empty());
  EXPECT_NE(text_of("next").find("\"close\""), std::string::npos);
}

TEST_F(RigRunTest, ARigOfOtherNamesOrAnotherStepIsNotStarted) {
  const StudyConfig config = parse_config(test::kRigConfig, "rig.toml");
  const auto refusal = [&](const std::string& declared) {
    const std::string rig = "read -r line; echo '{\"v\":1,\"id\":0,\"ok\":true," + declared +
                            "}'; read -r line; echo \"$line\" >'" + path("next") + "'";
    const std::string message = message_of<InputError>([&] { start_rig(test::patient(rig), config); });
    EXPECT_NE(text_of("next").find("\"close\",\"u\":[0.05]"), std::string::npos) << text_of("next");
    return message;
  };
  EXPECT_EQ(refusal(R"("inputs":[{"name":"force"}])"),
            "the rig declares the inputs force, the study has torque: change the configuration, or the rig");
  EXPECT_EQ(refusal(R"("outputs":[{"name":"pos"}])"),
            "the rig declares the outputs pos, the study has angle: change the configuration, or the rig");
  EXPECT_EQ(refusal(R"("dt":0.2)"),
            "the rig declares a step of 0.2 s, the study has 0.1 s: change the configuration, or the rig");
}

/// As `gpilot run` does it: a study is made once its rig has said hello, and goes on with the same process.
TEST_F(RigRunTest, AStudyIsMadeOnceItsRigHasSaidHello) {
  const StudyConfig config = parse_config(test::kRigConfig, "rig.toml");
  std::unique_ptr<rig::Rig> started;
  const auto make = [&](const RigRunOptions& run) {
    return Study::create(path("a.study"), test::kRigConfig, "rig.toml", [&] { started = first_start(run, config); });
  };
  RigRunOptions run = options("", 2);
  run.failures = 2;
  run.rig.command = "exit 3";
  const std::string message = message_of<RigRunFailed>([&] { make(run); });
  EXPECT_NE(message.find("the rig could not be started, 2 time(s) in a row, the limit is 2"), std::string::npos)
      << message;
  EXPECT_NE(message.find("no study was made"), std::string::npos) << message;
  EXPECT_EQ(failures_.size(), 2U);
  run.rig.command = R"(read -r line; echo '{"v":1,"id":0,"ok":true,"dt":0.2}'; read -r line)";
  EXPECT_THROW(make(run), InputError);
  EXPECT_FALSE(std::filesystem::exists(path("a.study")));
  EXPECT_FALSE(std::filesystem::exists(path("a.study.lock")));

  run = options("", 3);
  Study study = make(run);
  const int process = started->process_id();
  EXPECT_GT(process, 0);
  const RigRunSummary summary = run_rig(study, run, std::move(started));
  EXPECT_EQ(summary.told, 3);
  EXPECT_EQ(summary.restarts, 0);
  EXPECT_EQ(received("close"), 1);
  EXPECT_THROW(make(run), InputError);  // it is there, and its rig is not started again
  EXPECT_EQ(started, nullptr);
}

TEST_F(RigRunTest, ARunThatWasStoppedStartsNoRig) {
  const std::atomic<bool> stop{true};
  RigRunOptions run = options("", 2);
  run.stop = &stop;
  EXPECT_EQ(first_start(run, parse_config(test::kRigConfig, "rig.toml")), nullptr);
}

TEST_F(RigRunTest, AFloodOnStderrIsNoFailure) {
  Study study = create();
  EXPECT_EQ(run_rig(study, options("--misbehave flood-stderr@2", 4)).failed, 0);
  EXPECT_EQ(study.told(), 4);
}

TEST_F(RigRunTest, ARigThatFailsAgainAndAgainEndsTheRun) {
  Study study = create();
  RigRunOptions run = options("--misbehave die@1", 4);
  run.failures = 3;
  const std::string message = message_of<RigRunFailed>([&] { run_rig(study, run); });
  EXPECT_NE(message.find("3 time(s) in a row"), std::string::npos) << message;
  EXPECT_NE(message.find(path("a.study")), std::string::npos) << message;
  EXPECT_EQ(statuses(study), std::vector(3, StepStatus::kUnknown));
  EXPECT_EQ(study.pending(), nullptr);
}

TEST_F(RigRunTest, ARigThatCannotBeStartedLeavesTheStudyAlone) {
  Study study = create();
  RigRunOptions run = options("", 4);
  run.rig.command = "exit 3";
  run.failures = 2;
  EXPECT_THROW(run_rig(study, run), RigRunFailed);
  EXPECT_TRUE(study.steps().empty());
}

TEST_F(RigRunTest, ARigMayCorrectTheControl) {
  Study study = create();
  RigRunOptions run = options("", 2);
  run.rig.command = R"(read -r line; echo '{"v":1,"id":0,"ok":true}';
      read -r line; echo '{"v":1,"id":-1,"ok":true}';
      read -r line; echo '{"v":1,"id":1,"ok":true,"y":[0.5],"u_applied":[0.3]}';
      read -r line; echo '{"v":1,"id":2,"ok":true,"y":[null]}'; read -r line; echo '{"v":1,"id":-2,"ok":true}')";
  run_rig(study, run);
  EXPECT_EQ(study.steps()[0].applied(0), 0.3);
  EXPECT_LE(std::abs(study.steps()[1].choice.control(0) - 0.3), 0.6);
  EXPECT_TRUE(std::isnan(study.steps()[1].outputs(0)));
}

TEST_F(RigRunTest, TheSequenceOfARigThatGoesOnWithoutUsEnds) {
  Study study = create();
  run_rig(study, options("", 3));
  EXPECT_EQ(study.current_sequence(), nullptr);
  Study other = create("idempotent");
  run_rig(other, options("--state '" + path("state") + "'", 3));
  EXPECT_NE(other.current_sequence(), nullptr);
}

TEST_F(RigRunTest, ARigThatRefusesTheSafeControlIsGivenUp) {
  Study study = create();
  RigRunOptions run = options("", 2);
  run.rig.command = R"(read -r line; echo '{"v":1,"id":0,"ok":true,"can_reset":true}';
      read -r line; echo '{"v":1,"id":-1,"ok":true}';
      read -r line; echo '{"v":1,"id":1,"ok":false,"status":"unsafe","msg":"end stop","y":[0.7]}';
      read -r line; echo '{"v":1,"id":-2,"ok":false,"status":"failed","msg":"no brake"}'; read -r line)";
  run.failures = 1;
  EXPECT_NE(message_of<RigRunFailed>([&] { run_rig(study, run); }).find("no brake"), std::string::npos);
  EXPECT_EQ(study.steps()[0].status, StepStatus::kUnsafe);
  EXPECT_EQ(study.late_tells(), 1);  // the outputs that came with the failure
}

}  // namespace
}  // namespace gpilot::study
