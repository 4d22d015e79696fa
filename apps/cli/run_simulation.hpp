#pragma once

#include <string>
#include <vector>

#include "gpilot/explore/options.hpp"
#include "options.hpp"

namespace gpilot::cli {

/// What the user typed after `gpilot run`; an empty text was not given.
struct RunArguments {
  std::string target;
  explore::ExploreOptions explore{};
  std::string initial_controls;
  std::string box;
  bool paper = false;
  bool observe_states = false;
  std::vector<std::string> limits;
  bool angles = false;
  std::string rig;
  double period = kNaN;  ///< NaN = not given
  bool resume = false;
  std::string output;
  Format format = Format::kText;
};

/// Explores a simulated system.
void run_simulation(const RunArguments& arguments);

}  // namespace gpilot::cli
