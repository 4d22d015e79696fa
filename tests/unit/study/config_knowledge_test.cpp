#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "gpilot/core/error.hpp"
#include "gpilot/study/config.hpp"
#include "support/message_of.hpp"

namespace gpilot::study {
namespace {

const std::string kBase = R"([study]
dt = 0.1
[[input]]
name = "u"
unit = "N"
low = -1
high = 1
[[output]]
name = "y"
unit = "m"
low = -1
high = 1
state = "x"
[[state]]
name = "x"
)";

const std::string kVelocity = R"([[state]]
name = "v"
derivative_of = "x"
)";

TEST(ConfigKnowledge, ArrivesInTheModel) {
  const StudyConfig config =
      parse_config(kBase + "cyclic = true\ncentre = 0.5\n" + kVelocity +
                       "depends_on = [\"v\", \"u\"]\nsymmetry = \"odd\"\ncontrol_affine = true\n"
                       "[[state]]\nname = \"z\"\nlow = -3\nhigh = 3\ncoefficients = { z = 0.9 }\n",
                   "rig.toml");
  EXPECT_EQ(config.model.cyclic, (std::vector<std::string>{"x"}));
  ASSERT_EQ(config.model.depends_on.size(), 1u);
  EXPECT_EQ(config.model.depends_on[0].names, (std::vector<std::string>{"v", "u"}));
  EXPECT_EQ(config.model.odd, (std::vector<std::string>{"v"}));
  EXPECT_EQ(config.model.centres, (std::vector<ssm::Centre>{{"x", 0.5}}));
  EXPECT_EQ(config.model.control_affine, (std::vector<std::string>{"v"}));
  EXPECT_EQ(config.model.coefficients, (std::vector<ssm::Coefficient>{{"z", "z", 0.9}}));
  EXPECT_TRUE(std::ranges::any_of(config.model.ranges, [](const ssm::Range& r) { return r.name == "z"; }));
  EXPECT_TRUE(differences(config, config).empty());
  const StudyConfig plain = parse_config(kBase + kVelocity, "rig.toml");
  EXPECT_GE(differences(config, plain).size(), 6u);
}

TEST(ConfigKnowledge, PhysicsArrivesInTheModel) {
  const std::string physics = R"([physics]
v = "(u - b*v) / m"
integration = "trapezoid"
[physics.parameters]
b = { start = 0.1, sd = 0.1, unit = "N s/m" }
m = 2
)";
  const StudyConfig config = parse_config(kBase + kVelocity + physics, "rig.toml");
  ASSERT_EQ(config.model.physics.formulas.size(), 1u);
  EXPECT_EQ(config.model.physics.integration, ssm::Integration::kTrapezoid);
  ASSERT_EQ(config.model.physics.parameters.size(), 2u);
  EXPECT_DOUBLE_EQ(config.model.physics.parameters[0].sd, 0.1);
  EXPECT_TRUE(config.model.physics.parameters[1].known);
  EXPECT_FALSE(differences(config, parse_config(kBase + kVelocity, "rig.toml")).empty());
}

void expect_error(const std::string& text, const std::string& message) {
  const std::string found = test::message_of<InputError>([&] { parse_config(text, "rig.toml"); });
  EXPECT_NE(found.find(message), std::string::npos) << found;
}

TEST(ConfigKnowledge, ErrorsNameTheLine) {
  expect_error(kBase + "symmetry = \"even\"\n" + kVelocity, "rig.toml:16: state.x.symmetry: expected \"odd\"");
  expect_error(kBase + kVelocity + "depends_on = [\"w\"]\n", "rig.toml:19: state.v.depends_on: unknown state or input");
  expect_error(kBase + kVelocity + "depends_on = []\n", "rig.toml:19: state.v.depends_on: expected a list of names");
  expect_error(kBase + kVelocity + "coefficients = { u = \"a\" }\n", "state.v.coefficients: expected numbers");
  expect_error(kBase + "cyclic = true\n" + kVelocity +
                   "[physics]\nv = \"u*x*k\"\n[physics.parameters]\nk = { start = 1, sd = 1 }\n",
               "rig.toml:21: physics.v: the formula depends on 'x', which is declared cyclic");
  expect_error(kBase + kVelocity + "[physics]\nv = \"u*k\"\n[physics.parameters]\nk = { start = 1 }\n",
               "rig.toml:22: physics.parameters.k: nothing bounds it");
  expect_error(kBase + kVelocity + "[physics]\nv = \"u + \"\n", "rig.toml:20: physics.v: expected a number");
  expect_error(kBase + kVelocity + "[physics]\nv = \"u*k\"\n[physics.parameters]\nk = { begin = 1 }\n",
               "unknown key 'begin'");
  expect_error(
      kBase + kVelocity + "[physics]\nv = \"u*k\"\n[physics.parameters]\nk = { start = 1, sd = 1, unit = \"s\" }\n",
      "rig.toml:20: physics.v: the formula has the unit 'm kg s^-1', expected 'm s^-2'");
  expect_error(kBase + kVelocity + "[physics]\nintegration = \"euler\"\nv = \"u\"\n", "unknown integration 'euler'");
}

}  // namespace
}  // namespace gpilot::study
