#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/study/config.hpp"
#include "support/message_of.hpp"
#include "support/small_config.hpp"

namespace gpilot::study {
namespace {

using ::gpilot::test::expect_contains;
using ::gpilot::test::kSmall;
using ::gpilot::test::kStates;
using ::gpilot::test::message_of;
using ::gpilot::test::parsed;
using ::gpilot::test::replaced;

TEST(ConfigSettings, SettingsAreWhatResultsDependOn) {
  const StudyConfig c = parsed(kSmall + kStates);
  const auto settings = settings_of(c);
  const auto value = [&](const std::string& key) {
    const auto found = std::ranges::find(settings, key, &std::pair<std::string, std::string>::first);
    return found == settings.end() ? "(absent)" : found->second;
  };
  EXPECT_EQ(value("study.dt"), "0.1");
  EXPECT_EQ(value("study.strategy"), "auto");
  EXPECT_EQ(value("inputs"), "torque");
  EXPECT_EQ(value("states"), "angle, velocity");
  EXPECT_EQ(value("input.torque.high"), "2.5");
  EXPECT_EQ(value("input.torque.slew"), "none");
  EXPECT_EQ(value("output.angle.state"), "angle");
  EXPECT_EQ(value("output.angle.limit_low"), "none");
  EXPECT_EQ(value("study.delta"), "0.05");
  EXPECT_EQ(value("state.velocity.derivative_of"), "angle");
  EXPECT_EQ(value("model.kernel"), "se");
  for (const char* key : {"study.name", "study.steps", "study.keep_models", "training.threads", "rig.command",
                          "rig.failures", "input.torque.unit", "input.torque.name"}) {
    EXPECT_EQ(value(key), "(absent)") << key;
  }
}

TEST(ConfigSettings, DifferencesAreWords) {
  const StudyConfig before = parsed(replaced(kSmall, "high = 2.5", "high = 2.5\nslew = 0.5"));
  EXPECT_TRUE(differences(before, before).empty());
  StudyConfig now = parsed(replaced(kSmall, "high = 2.5", "high = 2.5\nslew = 0.3"));
  EXPECT_EQ(differences(now, before), std::vector<std::string>{"input.torque.slew: 0.3, was 0.5"});
  EXPECT_EQ(differences(parsed(kSmall), before), std::vector<std::string>{"input.torque.slew: none, was 0.5"});
  now = before;
  now.explore.steps = 99;
  now.name = "other";
  now.keep_models = 1;
  now.explore.fit.threads = 2;
  now.rig.command = "x";
  EXPECT_TRUE(differences(now, before).empty());
  now.explore.seed = 4;
  EXPECT_EQ(differences(now, before), std::vector<std::string>{"study.seed: 4, was 0"});
  // A state more, and what only the library can set.
  const std::vector<std::string> more = differences(parsed(kSmall + kStates), parsed(kSmall));
  EXPECT_EQ(more.front(), "states: angle, velocity, was angle");
  EXPECT_EQ(more.back(), "state.velocity.derivative_of: angle, was none");
  EXPECT_EQ(differences(parsed(kSmall), parsed(kSmall + kStates)).back(),
            "state.velocity.derivative_of: none, was angle");
  now = before;
  now.model.C(0, 0) = 2.0;
  now.model.d = Vector{{0.5}};
  now.model.learn_C = now.model.learn_d = true;
  now.explore.fit.paper_start = {1.0, 2.0};
  const std::vector<std::string> library{
      "output.angle.state: none, was angle", "model.C: 2, was none",          "model.d: 0.5, was none",
      "model.learn_C: true, was none",       "model.learn_d: true, was none", "training.paper_start: 1, 2, was none"};
  EXPECT_EQ(differences(now, before), library);
}

/// What the library's user can get wrong, beyond what a file can.
TEST(ConfigSettings, ValidateNamesTheKey) {
  const StudyConfig good = parsed(kSmall + kStates);
  const auto message = [&](auto change) {
    StudyConfig c = good;
    change(c);
    return message_of<InputError>([&] { c.validate(); });
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NO_THROW(good.validate());
  expect_contains(message([](StudyConfig& c) { c.explore.slew = Vector{{kNaN}}; }),
                  "input.torque.slew: expected a positive");
  expect_contains(message([](StudyConfig& c) { c.explore.slew = Vector{{-1.0}}; }), "input.torque.slew: expected");
  expect_contains(message([](StudyConfig& c) { c.explore.safe = Vector{{kNaN}}; }),
                  "input.torque.safe: expected a finite");
  expect_contains(message([](StudyConfig& c) { c.explore.safe = Vector{{9.0}}; }),
                  "input.torque.safe: expected a value from");
  expect_contains(message([](StudyConfig& c) { c.explore.safe = Vector(); }), "safe: 0 value(s), expected 1");
  expect_contains(message([](StudyConfig& c) { c.explore.limits.low = Vector(); }),
                  "limits.low: 0 value(s), expected 1");
  expect_contains(message([](StudyConfig& c) { c.explore.limits.high = Vector{{kNaN}}; }),
                  "output.angle.limit_high: expected");
  expect_contains(message([](StudyConfig& c) { c.explore.limits.delta = kNaN; }), "study.delta: expected");
  expect_contains(message([](StudyConfig& c) { c.output_units.clear(); }), "output units: 0 value(s), expected 1");
  expect_contains(message([](StudyConfig& c) { c.box.low = Vector{{kNaN}}; }), "input.torque.low: expected");
  expect_contains(message([](StudyConfig& c) { c.box.low = Vector{{-2.0}}; }),
                  "input.torque.low: the model's range [-1, 2.5] is not the box [-2, 2.5]");
  expect_contains(message([](StudyConfig& c) { c.rig.deadline_s = kNaN; }), "rig.deadline_s: expected");
  expect_contains(message([](StudyConfig& c) { c.explore.strategy = "x"; }), "study.strategy: unknown strategy 'x'");
  expect_contains(message([](StudyConfig& c) { c.explore.initial = 1; }),
                  "study.initial: expected a whole number from 2");
  expect_contains(message([](StudyConfig& c) { c.model.inputs[0] = ""; }), "inputs: a name is empty");
  expect_contains(message([](StudyConfig& c) { c.model.states[1] = "a\nb"; }),
                  "state.a?b.name: expected a text of one");
}

}  // namespace
}  // namespace gpilot::study
