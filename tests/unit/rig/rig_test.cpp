#include "gpilot/rig/rig.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "support/example_rig.hpp"
#include "support/message_of.hpp"

namespace gpilot::rig {
namespace {

using test::kPendulumHello;
using test::message_of;
using test::patient;
using test::pendulum_rig;
using test::python_rig;
using test::RigTest;
using test::shell_rig;
using Kind = RigError::Kind;
using Words = std::vector<std::string>;

const Vector kSafe{{0.0}};

/// The kind and message of the RigError that the action throws.
template <class Action>
std::pair<Kind, std::string> error_of(Action action) {
  try {
    action();
  } catch (const RigError& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "expected a RigError";
  return {};
}

/// The outputs of steps 1 .. count with a control that varies, by one process or by a new one for each step.
std::vector<double> outputs_of(const std::string& command, Index count, bool restart) {
  std::vector<double> outputs;
  std::optional<Rig> rig;
  for (Index id = 1; id <= count; ++id) {
    if (restart || !rig) {
      rig.emplace(patient(command), kPendulumHello);
    }
    outputs.push_back((*rig->step(id, Vector{{0.4 * std::sin(0.7 * static_cast<double>(id))}}).outputs)(0));
  }
  return outputs;
}

TEST_F(RigTest, ExampleAnswersEveryRequest) {
  Rig rig(patient(pendulum_rig("--seed 3 --record " + path("record"))), kPendulumHello);
  EXPECT_TRUE(rig.traits().can_reset);
  EXPECT_FALSE(rig.traits().idempotent);
  EXPECT_TRUE(rig.running());
  EXPECT_GT(rig.process_id(), 0);

  const RigAnswer reset = rig.reset();
  EXPECT_EQ(reset.status, RigStatus::kOk);
  EXPECT_EQ(reset.outputs->size(), 1);

  const RigAnswer step = rig.step(1, Vector{{0.25}});
  EXPECT_EQ(step.status, RigStatus::kOk);
  EXPECT_LT(std::abs((*step.outputs)(0)), 1.0);
  EXPECT_EQ(*step.applied, Vector{{0.25}});
  EXPECT_EQ(*step.time, 0.1);
  // The motor's limit: what was applied counts.
  EXPECT_EQ(*rig.step(2, Vector{{7.0}}, 60.0).applied, Vector{{0.5}});
  EXPECT_EQ(rig.safe(kSafe).status, RigStatus::kOk);

  EXPECT_TRUE(rig.close(kSafe));
  EXPECT_TRUE(rig.close(kSafe));
  EXPECT_FALSE(rig.running());
  EXPECT_EQ(record(), (Words{"reset -1", "step 1", "step 2", "safe -2", "close -3"}));
  const auto [kind, message] = error_of([&] { rig.step(3, kSafe); });
  EXPECT_EQ(kind, Kind::kGivenUp);
  EXPECT_EQ(message, "step 3 to a rig that was closed");
}

TEST_F(RigTest, OutputsOfTheExampleDependOnSeedAndStepAlone) {
  const std::vector<double> once = outputs_of(pendulum_rig("--seed 3"), 12, false);
  EXPECT_EQ(outputs_of(pendulum_rig("--seed 3"), 12, false), once);
  EXPECT_EQ(outputs_of(pendulum_rig("--seed 3 --state " + path("a")), 12, true), once);
  EXPECT_NE(outputs_of(pendulum_rig("--seed 4"), 12, false), once);
  const std::vector<double> python = outputs_of(python_rig("--seed 3"), 4, false);
  EXPECT_EQ(outputs_of(python_rig("--seed 3 --state " + path("b")), 4, true), python);
}

TEST_F(RigTest, IdempotentExamplesApplyAStepOnce) {
  for (const std::string& command :
       {pendulum_rig("--state " + path("cpp") + " --record " + path("record")), python_rig("--state " + path("py"))}) {
    RigAnswer first;
    {
      Rig rig(patient(command), kPendulumHello);
      EXPECT_TRUE(rig.traits().idempotent);
      rig.reset();
      rig.step(1, Vector{{0.1}});
      first = rig.step(2, Vector{{0.2}});
      EXPECT_EQ(rig.step(2, Vector{{0.2}}).outputs, first.outputs);
    }
    Rig rig(patient(command), kPendulumHello);
    EXPECT_EQ(rig.step(2, Vector{{0.2}}).outputs, first.outputs);
    EXPECT_EQ(*rig.step(2, Vector{{0.2}}).time, *first.time);
    EXPECT_NE(rig.step(3, Vector{{0.2}}).outputs, first.outputs);
  }
  EXPECT_EQ(record(), (Words{"reset -1", "step 1", "step 2", "end", "step 3", "end"}));
}

TEST_F(RigTest, ExamplesAreTheSamePendulum) {
  // A torque held for 20 s: sin(th) = c / (m g l) but for a swing of 5 % and the noise.
  for (const std::string& command : {pendulum_rig(), python_rig()}) {
    Rig rig(patient(command), kPendulumHello);
    EXPECT_EQ(rig.reset().outputs->size(), 1);
    double last = 0.0;
    for (Index id = 1; id <= 200; ++id) {
      last = (*rig.step(id, Vector{{0.3}}).outputs)(0);
    }
    EXPECT_NEAR(last, std::asin(0.3 / 0.981), 0.2) << command;
    EXPECT_TRUE(rig.close(kSafe));
  }
}

TEST_F(RigTest, ExampleWithoutResetSaysSo) {
  Rig rig(patient(pendulum_rig("--no-reset")), kPendulumHello);
  EXPECT_FALSE(rig.traits().can_reset);
  const RigAnswer answer = rig.reset();
  EXPECT_EQ(answer.status, RigStatus::kFailed);
  EXPECT_EQ(answer.message, "this rig cannot be reset");
  EXPECT_EQ(rig.step(1, kSafe).status, RigStatus::kOk);
}

// ------------------------------------------------------------------------------------------------ misbehaviour

struct Case {
  const char* kind;
  Kind expected;
  const char* message;  ///< how it begins
  bool waits = false;   ///< the deadline has to pass
  bool alive = true;    ///< and the process lives on, so that it gets the safe control
};

std::ostream& operator<<(std::ostream& out, const Case& value) {
  return out << value.kind;
}

class RigMisbehaves : public RigTest, public testing::WithParamInterface<Case> {};

TEST_P(RigMisbehaves, IsFoundOutAndGetsTheSafeControl) {
  const Case& expected = GetParam();
  RigOptions options =
      patient(pendulum_rig(std::string("--misbehave ") + expected.kind + "@2 --record " + path("record")));
  options.log = path("log");
  Rig rig(options, kPendulumHello);
  EXPECT_EQ(rig.step(1, kSafe).status, RigStatus::kOk);
  const auto [kind, message] = error_of([&] { rig.step(2, kSafe, expected.waits ? 0.2 : 60.0); });
  EXPECT_EQ(kind, expected.expected) << message;
  EXPECT_EQ(message.substr(0, std::string(expected.message).size()), expected.message);

  // Nothing but close() after that; the first failure is not forgotten.
  const auto [again, reason] = error_of([&] { rig.step(3, kSafe); });
  EXPECT_EQ(again, Kind::kGivenUp);
  EXPECT_EQ(reason, "step 3 to a rig that was given up: " + message);
  EXPECT_EQ(error_of([&] { rig.safe(kSafe); }).first, Kind::kGivenUp);
  EXPECT_EQ(error_of([&] { rig.reset(); }).first, Kind::kGivenUp);

  EXPECT_EQ(rig.close(kSafe), expected.alive && std::string(expected.kind) != "closes-output");
  const Words applied{"step 1", "step 2", "close -3"};
  EXPECT_EQ(record(), expected.alive ? applied : (Words{"step 1", "step 2"}));
}

constexpr Case kCases[] = {
    {"late", Kind::kTimeout, "the rig did not answer step 2 within 0.2 s; its process is still running", true},
    {"die", Kind::kDied, "the rig ended before it answered step 2: exit code 3; its log ", false, false},
    {"die-midline", Kind::kDied,
     "the rig ended before it answered step 2: exit code 4 (after a part of a line: {\"v\":1,\"id\":2,", false, false},
    {"killed", Kind::kDied, "the rig ended before it answered step 2: signal 9 (Killed)", false, false},
    {"closes-output", Kind::kDied, "the rig closed its output before it answered step 2: still running"},
    {"garbage", Kind::kGarbage, "the rig's answer to step 2 is wrong: not JSON (byte 1): Torque ?? applied: 0.5 Nm"},
    {"empty-line", Kind::kGarbage, "the rig's answer to step 2 is wrong: an empty line"},
    {"long-line", Kind::kTooLong,
     "the rig's answer to step 2 is wrong: a line of more than 1048576 bytes: xxxxxxxxxxxxxxxxxxxx"},
    {"deep", Kind::kGarbage, "the rig's answer to step 2 is wrong: not a JSON object: [[[["},
    {"wrong-id", Kind::kWrongId,
     "the rig's answer to step 2 is wrong: an answer with the id 1002, expected 2: {\"v\":1,\"id\":1002,"},
    {"old-id", Kind::kWrongId, "the rig's answer to step 2 is wrong: an answer with the id 1, expected 2: "},
    {"wrong-version", Kind::kVersion,
     "the rig's answer to step 2 is wrong: the rig speaks version 2 of the protocol, expected 1: "},
    {"nan", Kind::kGarbage,
     "the rig's answer to step 2 is wrong: not JSON (byte 30); send null for a missing output: "},
    {"infinity", Kind::kGarbage,
     "the rig's answer to step 2 is wrong: not JSON (byte 31); send null for a missing output: "},
    {"overflow", Kind::kGarbage,
     "the rig's answer to step 2 is wrong: not JSON (byte 34, a number that no double holds); send null"},
    {"wrong-dimension", Kind::kWrongShape,
     "the rig's answer to step 2 is wrong: \"y\" has 2 value(s), expected 1 (angle): "},
    {"no-outputs", Kind::kWrongShape, "the rig's answer to step 2 is wrong: \"y\" is missing: "},
    {"done-garbage", Kind::kGarbage,
     "the rig's answer to step 2 is wrong: \"done\" is a text, expected true or false: "},
    {"done-number", Kind::kGarbage,
     "the rig's answer to step 2 is wrong: \"done\" is a number, expected true or false: "},
    {"done-without-outputs", Kind::kWrongShape, "the rig's answer to step 2 is wrong: \"y\" is missing: "},
    {"array", Kind::kGarbage, "the rig's answer to step 2 is wrong: not a JSON object: [{"},
    {"nulls", Kind::kGarbage, "the rig's answer to step 2 is wrong: a line with a zero byte: ????"},
    {"text-outputs", Kind::kWrongShape,
     "the rig's answer to step 2 is wrong: \"y\"[0] is a text, expected a number or null: "},
    {"applied-null", Kind::kWrongShape,
     "the rig's answer to step 2 is wrong: \"u_applied\" has a null, expected numbers: "},
    {"not-ok-number", Kind::kGarbage,
     "the rig's answer to step 2 is wrong: \"ok\" is a number, expected true or false: "},
};

INSTANTIATE_TEST_SUITE_P(Rig, RigMisbehaves, testing::ValuesIn(kCases), [](const auto& tested) {
  std::string name = tested.param.kind;
  std::erase(name, '-');
  return name;
});

TEST_F(RigTest, DeathTellsTheEndOfTheLog) {
  RigOptions options = patient(shell_rig("read -r line; echo one >&2; printf 'two\\033[1m\\n\\n' >&2; exit 7"));
  options.log = path("log");
  Rig rig(options, kPendulumHello);
  EXPECT_EQ(
      message_of<RigError>([&] { rig.step(9, kSafe); }),
      "the rig ended before it answered step 9: exit code 7; its log " + path("log") + " ends with: one | two?[1m");
  EXPECT_EQ(text_of("log"), "one\ntwo\033[1m\n\n");
}

struct Nonsense {
  const char* kind;
  const char* message;  ///< how it goes on after "the rig's answer to hello is wrong: "
};

std::ostream& operator<<(std::ostream& out, const Nonsense& value) {
  return out << value.kind;
}

class RigDeclares : public RigTest, public testing::WithParamInterface<Nonsense> {};

TEST_P(RigDeclares, NonsenseAndIsRefused) {
  const RigOptions options =
      patient(pendulum_rig(std::string("--misbehave ") + GetParam().kind + " --record " + path("record")));
  const std::string wanted = std::string("the rig's answer to hello is wrong: ") + GetParam().message;
  for (const auto& [kind, message] : {error_of([&] { const Rig rig(options, kPendulumHello); }),
                                      error_of([&] { static_cast<void>(Rig::describe(options)); })}) {
    EXPECT_EQ(kind, Kind::kWrongShape);
    EXPECT_EQ(message.substr(0, wanted.size()), wanted);
  }
  EXPECT_EQ(record(), (Words{"end", "end"}));  // its own safe control
}

constexpr Nonsense kNonsense[] = {
    {"range-reversed", "\"inputs[0]\": low 1 is not below high -1: "},
    {"range-text", "\"inputs[0].low\" is not a number: "},
    {"range-half", "\"inputs[0]\" has only one of low and high: "},
    {"safe-outside", "\"inputs[0]\": safe 2 is not from low -1 to high 1: "},
    {"channels-text", "\"inputs\" is not a list: "},
    {"channels-names", "\"inputs[0]\" is not an object with a name: "},
    {"same-names", "\"outputs[0]\" has a name that another has: torque: "},
    {"dt-negative", "\"dt\" is -0.1, expected a positive number of seconds: "},
};

INSTANTIATE_TEST_SUITE_P(Rig, RigDeclares, testing::ValuesIn(kNonsense), [](const auto& tested) {
  std::string name = tested.param.kind;
  std::erase(name, '-');
  return name;
});

TEST_F(RigTest, ExamplesDeclareThemselves) {
  for (const std::string& command : {pendulum_rig("--record " + path("record")), python_rig()}) {
    const RigTraits traits = Rig::describe(patient(command));
    EXPECT_TRUE(traits.can_reset);
    EXPECT_EQ(traits.dt, 0.1);
    ASSERT_EQ(traits.inputs.size(), 1U);
    EXPECT_EQ(traits.inputs[0],
              (DeclaredChannel{.name = "torque", .unit = "N m", .low = -0.5, .high = 0.5, .safe = 0.0}));
    EXPECT_EQ(traits.outputs,
              (std::vector<DeclaredChannel>{{.name = "angle", .unit = "rad", .low = -1.0, .high = 1.0}}));
  }
  EXPECT_EQ(record(), (Words{"end"}));  // nothing moved, and it has ended
}

TEST_F(RigTest, TheSameSeedGivesTheSameStart) {
  for (const std::string& command : {pendulum_rig("--seed 3"), python_rig("--seed 3")}) {
    Rig rig(patient(command), kPendulumHello);
    const RigAnswer first = rig.reset(5);
    EXPECT_NE((*rig.reset(6).outputs)(0), (*first.outputs)(0));
    EXPECT_EQ((*rig.reset(5).outputs)(0), (*first.outputs)(0));
  }
}

TEST_F(RigTest, AnEpisodeOfTheExamplesEndsWithAMeasurement) {
  for (const std::string& command : {pendulum_rig("--episode 2"), python_rig("--episode 2")}) {
    Rig rig(patient(command), kPendulumHello);
    rig.reset(1);
    EXPECT_FALSE(rig.step(1, kSafe).done);
    const RigAnswer last = rig.step(2, kSafe);
    EXPECT_TRUE(last.done);
    EXPECT_EQ(last.status, RigStatus::kOk);
    EXPECT_TRUE(last.outputs->allFinite());
    rig.reset(2);
    EXPECT_FALSE(rig.step(3, kSafe).done);
  }
}

TEST_F(RigTest, AnAnswerMayComeByteByByte) {
  Rig rig(patient(pendulum_rig("--misbehave slow-bytes")), kPendulumHello);
  EXPECT_EQ(rig.step(1, kSafe).status, RigStatus::kOk);
  EXPECT_EQ(rig.step(2, kSafe).status, RigStatus::kOk);
}

TEST_F(RigTest, AnAnswerThatComesTwiceIsNamed) {
  Rig rig(patient(pendulum_rig("--misbehave twice")), kPendulumHello);
  EXPECT_EQ(rig.step(1, kSafe).status, RigStatus::kOk);
  EXPECT_EQ(error_of([&] { rig.step(2, kSafe); }).first, Kind::kUnsolicited);
}

TEST_F(RigTest, HangingRigIsEnded) {
  RigOptions options = patient(pendulum_rig("--misbehave hang"));
  options.close_s = 0.2;
  Rig rig(options, kPendulumHello);
  EXPECT_EQ(error_of([&] { rig.step(1, kSafe, 0.2); }).first, Kind::kTimeout);
  EXPECT_TRUE(rig.running());
  EXPECT_FALSE(rig.close(kSafe));
  EXPECT_FALSE(rig.running());
}

TEST_F(RigTest, FailuresThatTheRigReportsAreAnswers) {
  for (const auto& [kind, status] : {std::pair{"fail", RigStatus::kFailed}, std::pair{"unsafe", RigStatus::kUnsafe}}) {
    Rig rig(patient(pendulum_rig(std::string("--misbehave ") + kind)), kPendulumHello);
    const RigAnswer answer = rig.step(1, kSafe);
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.message, "told to misbehave");
    EXPECT_EQ(rig.safe(kSafe).status, RigStatus::kOk);
    EXPECT_EQ(rig.step(2, kSafe).status, RigStatus::kOk);
  }
}

TEST_F(RigTest, MissingOutputIsNan) {
  Rig rig(patient(pendulum_rig("--misbehave missing")), kPendulumHello);
  EXPECT_TRUE(std::isnan((*rig.step(1, kSafe).outputs)(0)));
}

TEST_F(RigTest, LineThatNobodyAskedForIsNamed) {
  Rig rig(patient(pendulum_rig("--misbehave extra-line --record " + path("record"))), kPendulumHello);
  EXPECT_EQ(rig.step(1, kSafe).status, RigStatus::kOk);  // the answer stands
  const auto [kind, message] = error_of([&] { rig.step(2, kSafe); });
  EXPECT_EQ(kind, Kind::kUnsolicited);
  EXPECT_EQ(message, "before step 2 the rig sent a line that it was not asked for: and another thing");
  EXPECT_TRUE(rig.close(kSafe));
  EXPECT_EQ(record(), (Words{"step 1", "close -1"}));  // step 2 was not sent
}

TEST_F(RigTest, StartThatGoesWrong) {
  const auto start = [&](const std::string& command, double start_s) {
    return error_of([&] {
      RigOptions options = patient(command);
      options.start_s = start_s;
      options.close_s = 0.2;
      options.log = path("log");
      const Rig rig(options, kPendulumHello);
    });
  };
  const auto missing = start(path("no_such_rig"), 60.0);
  EXPECT_EQ(missing.first, Kind::kDied);
  EXPECT_NE(missing.second.find("the rig ended before it answered hello: exit code 127"), std::string::npos);
  EXPECT_NE(missing.second.find("not found"), std::string::npos) << missing.second;
  EXPECT_EQ(start(pendulum_rig("--misbehave no-hello"), 0.2).second,
            "the rig did not answer hello within 0.2 s; its process is still running");
  EXPECT_EQ(start(pendulum_rig("--misbehave refuses"), 60.0).second, "the rig refuses: the emergency stop is pressed");
  EXPECT_EQ(start(pendulum_rig("--dt 0.05"), 60.0).first, Kind::kRefused);
  EXPECT_EQ(start(pendulum_rig("--misbehave chatty-start"), 60.0).second,
            "the rig's answer to hello is wrong: not JSON (byte 1): Rig ready.");
  EXPECT_EQ(start("yes", 60.0).first, Kind::kGarbage);
  EXPECT_EQ(start("exec cat /dev/zero", 60.0).first, Kind::kTooLong);
  Rig slow(patient(pendulum_rig("--misbehave slow-start")), kPendulumHello);
  EXPECT_EQ(slow.step(1, kSafe).status, RigStatus::kOk);
}

TEST_F(RigTest, AnswerMayComeInPieces) {
  Rig rig(patient(shell_rig(R"(read -r line; printf '{"v":1,'; sleep 0.1; printf '"id":1,"ok":true,"y":[1'; sleep 0.1;
                               printf '.5]}\r\n'; read -r line; echo '{"v":1,"id":-1,"ok":true}')")),
          kPendulumHello);
  EXPECT_EQ(*rig.step(1, kSafe).outputs, Vector{{1.5}});
  EXPECT_TRUE(rig.close(kSafe));
}

TEST_F(RigTest, RequestThatIsNotReadTimesOut) {
  // More than a pipe holds, so that a part of it stays unsent: close() must not complete it.
  RigHello hello = kPendulumHello;
  hello.inputs.assign(20000, "u");
  RigOptions options = patient(shell_rig("sleep 1; cat >" + path("input")));
  Rig rig(options, hello);
  const Vector control = Vector::Constant(20000, 0.1234567890123);
  const auto [kind, message] = error_of([&] { rig.step(1, control, 0.3); });
  EXPECT_EQ(kind, Kind::kTimeout);
  EXPECT_EQ(
      message,
      "the rig did not answer step 1 within 0.3 s (the rig does not read its input); its process is still running");
  rig.close(Vector::Zero(20000));
  const std::string input = text_of("input");
  const std::size_t end = input.find('\n');
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(input.substr(0, 28), R"({"v":1,"id":1,"op":"step","u)");
  EXPECT_EQ(input.find("deadline_s"), std::string::npos);
  EXPECT_EQ(input.substr(end + 1, 28), R"({"v":1,"id":-1,"op":"close",)");
  EXPECT_EQ(input.back(), '\n');
}

TEST_F(RigTest, WrongArgumentsAreNotSent) {
  Rig rig(patient(pendulum_rig("--record " + path("record"))), kPendulumHello);
  EXPECT_EQ(message_of<InputError>([&] {
              rig.step(1, Vector{{0.0, 0.0}});
            }),
            "the rig has 1 input(s), but the control 2 value(s)");
  EXPECT_EQ(message_of<InputError>([&] { rig.safe(Vector()); }), "the rig has 1 input(s), but the control 0 value(s)");
  EXPECT_EQ(message_of<InputError>([&] { rig.step(0, kSafe); }), "the number of a step must be at least 1, not 0");
  EXPECT_THROW(rig.step(1, Vector{{std::nan("")}}), InputError);
  EXPECT_THROW(rig.step(1, kSafe, -1.0), InputError);
  EXPECT_EQ(rig.step(1, kSafe).status, RigStatus::kOk);  // no harm done
  EXPECT_FALSE(rig.close(Vector{{std::nan("")}}));       // then the rig's own safe control
  EXPECT_EQ(record(), (Words{"step 1", "end"}));
}

TEST_F(RigTest, WrongOptionsAreRefused) {
  const auto refused = [&](RigOptions options) {
    return message_of<InputError>([&] { const Rig rig(std::move(options), kPendulumHello); });
  };
  EXPECT_EQ(refused({.command = " \n"}), "the rig's command is empty");
  EXPECT_EQ(refused({.command = std::string("a\0b", 3)}), "the rig's command has a zero byte");
  EXPECT_EQ(refused({.command = "true", .start_s = 0.0}),
            "the rig's start_s must be a positive number of seconds, not 0");
  EXPECT_EQ(refused({.command = "true", .close_s = HUGE_VAL}),
            "the rig's close_s must be a positive number of seconds, not inf");
  EXPECT_EQ(refused({.command = "true", .log_bytes = 0}), "the rig's log_bytes must be positive, not 0");
  EXPECT_EQ(refused({.command = "true", .log = path("no/log")}),
            path("no/log") + ": cannot write the rig's log: No such file or directory");
  EXPECT_THROW(Rig({.command = "true"}, {}), InputError);
}

}  // namespace
}  // namespace gpilot::rig
