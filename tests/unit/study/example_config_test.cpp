#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"
#include "support/message_of.hpp"
#include "support/small_config.hpp"

namespace gpilot::study {
namespace {

using ::gpilot::test::expect_contains;
using ::gpilot::test::message_of;
using ::gpilot::test::parsed;

TEST(ExampleConfig, ExamplesSayWhatModelSpecSays) {
  for (const std::string& name : systems::system_names()) {
    const auto system = systems::make_system(name);
    const ssm::ModelSpec expected = trials::model_spec(*system);
    const StudyConfig c = parse_config(example_config(name), name);
    EXPECT_EQ(c.name, name);
    EXPECT_EQ(c.model.dt, expected.dt);
    EXPECT_EQ(c.model.C, expected.C) << name;
    EXPECT_EQ(c.model.derivatives, expected.derivatives) << name;
    EXPECT_TRUE(c.model.x0_mean.isApprox(expected.x0_mean, 1e-4)) << name;
    EXPECT_TRUE(c.model.x0_sd.isApprox(expected.x0_sd, 1e-4)) << name;
    EXPECT_EQ(c.box.low, system->spec().control_box.low);
    EXPECT_EQ(c.box.high, system->spec().control_box.high);
    ASSERT_EQ(c.model.ranges.size(), expected.ranges.size()) << name;
    for (std::size_t i = 0; i < expected.ranges.size(); ++i) {
      EXPECT_NEAR(c.model.ranges[i].low, expected.ranges[i].low, 1e-4);
      EXPECT_NEAR(c.model.ranges[i].high, expected.ranges[i].high, 1e-4);
    }
  }
}

TEST(ExampleConfig, OfARigThatDeclaresAll) {
  rig::RigTraits traits{.dt = 0.02};
  traits.inputs = {{.name = "heater \"1\"", .unit = "%", .low = 0.0, .high = 100.0, .safe = 10.0, .slew = 5.0},
                   {.name = "fan", .low = -1.0, .high = 1.0}};
  traits.outputs = {{.name = "temperature", .unit = "C", .low = 15.0, .high = 90.0}, {.name = "flow"}};
  const std::string text = rig_config(traits, "exec ./rig --port \"COM 1\" \\x");
  EXPECT_EQ(text.find("TO FILL IN"), std::string::npos);
  const StudyConfig c = parsed(text);
  EXPECT_EQ(c.model.dt, 0.02);
  EXPECT_EQ(c.rig.command, "exec ./rig --port \"COM 1\" \\x");
  EXPECT_EQ(c.model.inputs, (std::vector<std::string>{"heater \"1\"", "fan"}));
  EXPECT_EQ(c.input_units, (std::vector<std::string>{"%", ""}));
  EXPECT_EQ(c.box.low, (Vector{{0.0, -1.0}}));
  EXPECT_EQ(c.box.high, (Vector{{100.0, 1.0}}));
  EXPECT_EQ(c.explore.safe, (Vector{{10.0, 0.0}}));
  EXPECT_EQ(c.explore.slew(0), 5.0);
  EXPECT_TRUE(std::isinf(c.explore.slew(1)));
  EXPECT_EQ(c.model.outputs, (std::vector<std::string>{"temperature", "flow"}));
  EXPECT_EQ(c.model.states, c.model.outputs);
  EXPECT_EQ(c.model.ranges.size(), 3U);
}

TEST(ExampleConfig, WhatARigDoesNotDeclareIsNotGuessed) {
  rig::RigTraits traits;
  traits.inputs = {{.name = "u", .low = -1.0, .high = 1.0}, {.name = "v"}};
  traits.outputs = {{.name = "y"}};
  const std::string text = rig_config(traits, "rig");
  expect_contains(text, "# dt =                      # TO FILL IN: seconds from one measurement to the next");
  expect_contains(text, "# low =                     # TO FILL IN: never less than this");
  expect_contains(message_of<InputError>([&] { parsed(text); }), "study.dt");
  traits.outputs.clear();
  expect_contains(message_of<InputError>([&] { rig_config(traits, "rig"); }), "the rig does not declare its outputs");
}

TEST(ExampleConfig, PendulumAndBlankExamples) {
  const StudyConfig c = parsed(example_config("pendulum"));
  EXPECT_EQ(c.model.dt, 0.1);
  EXPECT_EQ(c.model.inputs, std::vector<std::string>{"torque"});
  EXPECT_EQ(c.model.outputs, std::vector<std::string>{"angle"});
  EXPECT_EQ(c.model.states, (std::vector<std::string>{"angle", "velocity"}));
  EXPECT_EQ(c.box.high, Vector{{0.5}});
  EXPECT_NO_THROW(parsed(example_config("blank")));
  EXPECT_EQ(example_names().back(), "blank");
  expect_contains(message_of<InputError>([] { example_config("pendulun"); }), "did you mean 'pendulum'?");
}

/// Lines that are commented out hold TOML that can be used: uncommented, one at a time, each is read. Left out are keys
/// that go with others, and those whose examples name states and inputs of no rig in particular.
TEST(ExampleConfig, CommentedLinesOfExamplesAreValid) {
  const std::vector<std::string> apart{"derivative_of", "low", "high", "depends_on", "centre", "coefficients"};
  const std::string example = example_config("pendulum");
  int found = 0;
  for (std::size_t at = example.find("\n# "); at != std::string::npos; at = example.find("\n# ", at + 1)) {
    const std::string line = example.substr(at + 3, example.find('\n', at + 1) - at - 3);
    const std::size_t equals = line.find(" = ");
    if (equals == std::string::npos || line.find_first_of(" .") < equals ||
        std::ranges::find(apart, line.substr(0, equals)) != apart.end()) {
      continue;
    }
    std::string text = example;
    text.erase(at + 1, 2);
    EXPECT_NO_THROW(parsed(text)) << line;
    ++found;
  }
  EXPECT_GT(found, 20);
}

/// The pendulum's angle moves with its velocity: what can be said about a function is shown beside the velocity.
TEST(ExampleConfig, WhatIsKnownOfFunctionsStandsWhereThereIsOne) {
  const std::string example = example_config("pendulum");
  const std::size_t velocity = example.find("name = \"velocity\"");
  ASSERT_NE(velocity, std::string::npos);
  EXPECT_LT(example.find("# cyclic = true"), velocity);
  for (const char* key : {"# depends_on = ", "# symmetry = ", "# control_affine = ", "# coefficients = "}) {
    EXPECT_GT(example.find(key), velocity) << key;
    EXPECT_NE(example.find(key), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace gpilot::study
