#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/study/record.hpp"

/// What the operations of a study check before they change anything.
namespace gpilot::study {

/// InputError unless there is a value for each name, and each is a number, or missing (NaN) where that is allowed.
void check_values(std::string_view what, VectorRef values, const std::vector<std::string>& names, bool missing_allowed);
/// Whether all values are the same, missing ones included.
bool same(const Vector& a, const Vector& b);
/// InputError if there is no such step.
StepRecord& asked_step(std::vector<StepRecord>& steps, Index id, const std::string& path);

}  // namespace gpilot::study
