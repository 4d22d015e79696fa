#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gpilot/core/random.hpp"
#include "gpilot/study/study.hpp"
#include "support/temporary_directory.hpp"

/// A small study, and a system for it.
namespace gpilot::test {

inline constexpr const char* kToyConfig = R"(
[study]
dt = 0.1
seed = 3
strategy = "totmi"
initial = 3
retrain_every = 2

[[input]]
name = "c"
low = -1
high = 1
slew = 0.8
safe = 0.0

[[output]]
name = "y"
low = -1
high = 1

[[state]]
name = "y"
start = 0.0
start_sd = 0.1

[model]
inducing = 5

[training]
rounds = 2
polish = 5
)";

/// A system with a memory, and noise that depends on the step alone.
class Toy {
 public:
  Vector apply(const study::Step& step) {
    x_ = 0.8 * std::sin(x_) + 0.4 * step.choice.control(0);
    return Vector::Constant(
        1, x_ + 0.01 * RandomStream(1, Purpose::kTest, 0, static_cast<std::uint32_t>(step.id)).normal());
  }

 private:
  double x_ = 0.0;
};

inline void advance(study::Study& study, Toy& toy, int steps) {
  for (int k = 0; k < steps; ++k) {
    const study::Step step = study.ask();
    study.tell(step.id, toy.apply(step));
  }
}

class StudyTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name = "toy.study") const { return directory_.file(name); }
  study::Study create(const std::string& name = "toy.study") const {
    return study::Study::create(path(name), kToyConfig, "toy.toml");
  }

  TemporaryDirectory directory_;
};

}  // namespace gpilot::test
