#include "gpilot/study/step_counts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpilot::study {

std::vector<std::string> step_counts(const std::vector<StepRecord>& steps) {
  std::vector<std::string> counts;
  for (const StepStatus status :
       {StepStatus::kTold, StepStatus::kAsked, StepStatus::kFailed, StepStatus::kUnsafe, StepStatus::kUnknown}) {
    if (const Index n = std::ranges::count(steps, status, &StepRecord::status); n > 0) {
      counts.push_back(fmt::format("{} {}", n, name(status)));
    }
  }
  return counts;
}

}  // namespace gpilot::study
