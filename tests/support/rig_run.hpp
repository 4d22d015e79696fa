#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gpilot/study/rig_run.hpp"
#include "support/example_rig.hpp"

namespace gpilot::test {

inline constexpr const char* kRigConfig = R"(
[study]
dt = 0.1
seed = 3
strategy = "totmi"
initial = 3
retrain_every = 3

[[input]]
name = "torque"
low = -0.5
high = 0.5
slew = 0.6
safe = 0.05

[[output]]
name = "angle"
low = -1
high = 1

[[state]]
name = "angle"
start = 0.0
start_sd = 0.1

[[state]]
name = "velocity"
derivative_of = "angle"
start = 0.0
start_sd = 0.1

[model]
inducing = 5

[training]
rounds = 2
polish = 5
)";

/// A study and a run of the example rig, which keeps a record of what it gets.
class RigRunTest : public RigTest {
 protected:
  study::Study create(const std::string& name = "a.study") const {
    return study::Study::create(path(name), kRigConfig, "rig.toml");
  }

  study::RigRunOptions options(const std::string& rig_arguments, Index steps) {
    study::RigRunOptions options;
    options.rig = patient(pendulum_rig("--seed 1 --record '" + path("record") + "' " + rig_arguments));
    options.rig.log = path("log");
    options.steps = steps;
    options.on_event = [this](const study::RigRunEvent& event) {
      if (event.kind == study::RigRunEvent::Kind::kFailed) {
        failures_.push_back(event.text);
      }
    };
    return options;
  }

  /// How many messages of this kind the rig has got.
  Index received(const std::string& op) const {
    const std::vector<std::string> entries = record();
    return std::ranges::count_if(entries, [&](const std::string& entry) { return entry.starts_with(op); });
  }

  void expect_no_step_twice() const {
    std::vector<std::string> steps = record();
    std::erase_if(steps, [](const std::string& entry) { return !entry.starts_with("step"); });
    std::ranges::sort(steps);
    EXPECT_EQ(std::ranges::adjacent_find(steps), steps.end());
  }

  std::vector<std::string> failures_;
};

}  // namespace gpilot::test
