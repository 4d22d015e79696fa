#pragma once

#include <string>
#include <vector>

#include "gpilot/study/record.hpp"

namespace gpilot::study {

/// How many steps there are of each status, for those that some step has: "30 told", "1 unknown".
std::vector<std::string> step_counts(const std::vector<StepRecord>& steps);

}  // namespace gpilot::study
