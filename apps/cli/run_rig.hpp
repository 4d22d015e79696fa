#pragma once

#include <optional>
#include <string>

#include "options.hpp"

namespace gpilot::cli {

/// What the user typed after `gpilot run FILE.toml`; an empty text was not given.
struct RunRigArguments {
  std::string config;
  std::string study;
  std::string rig;
  std::optional<Index> steps;
  double period = kNaN;  ///< NaN = not given
  bool resume = false;
  Format format = Format::kText;
};

/// Runs the study of a configuration on a rig.
void run_rig_study(const RunRigArguments& arguments);

}  // namespace gpilot::cli
