#pragma once

#include <cstdint>
#include <string>

#include "options.hpp"

namespace gpilot::cli {

/// What the user typed after `gpilot run`; an empty text was not given.
struct RunArguments {
  std::string target;
  std::string strategy = "auto";
  std::string steps = "30";
  std::string initial;
  std::string retrain_every = "1";
  std::string initial_controls;
  std::string box;
  std::uint64_t seed = 0;
  bool paper = false;
  bool observe_states = false;
  LimitArguments limits;
  PlanningArguments planning;
  std::string region;
  std::string until_sd;
  bool angles = false;
  std::string rig;
  std::string period;
  bool resume = false;
  std::string output;
  Format format = Format::kText;
};

/// Explores a simulated system.
void run_simulation(const RunArguments& arguments);

}  // namespace gpilot::cli
