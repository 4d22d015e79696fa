#pragma once

#include <nlohmann/json.hpp>

#include "gpilot/study/study.hpp"

namespace gpilot::cli {

/// A study in words: what it is, where it stands, its newest steps and how well it learns.
void print_study(const study::Study& study, Index newest_steps);

/// Everything that happened, models apart.
nlohmann::ordered_json study_json(const study::Study& study);
/// The same as text. What a damaged record has that is no UTF-8 is replaced: it must not hide the rest.
std::string study_json_text(const study::Study& study);

/// The heading and a line for each step of a table on a terminal.
std::string step_heading(const study::StudyConfig& config);
std::string step_line(const study::StudyConfig& config, const study::StepRecord& step);
/// What to say of a control whose step may leave the limits of outputs with this probability (NaN = unknown).
std::string no_safe_plan(double violation);

}  // namespace gpilot::cli
