#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"

/// What a comparison keeps of a trial: a small JSON file that says whose it is.
namespace gpilot::trials {

/// One exploration of a comparison.
struct ComparisonJob {
  std::string system;
  std::string strategy;
  std::uint32_t trial = 0;

  bool operator==(const ComparisonJob&) const = default;
};

struct RecordedStep {
  std::vector<double> values;  ///< of the metrics; NaN for one that is not finite
  double criterion = kNaN;
  std::vector<double> control;  ///< the one applied; empty for step 0
  bool trained = false;
  std::string status;  ///< of the newest training; "failed: MESSAGE" where the trial has failed
  std::string chosen;
  double choose_seconds = 0.0;
  double train_seconds = 0.0;
  double evaluate_seconds = 0.0;
  std::string checksum{};  ///< of all that, and of the names of the metrics; "" in files of version 1
};

struct TrialRecord {
  std::vector<std::string> metrics;
  std::vector<RecordedStep> steps;  ///< from 0 on
};

/// Ends the record of a trial that could not go on: from the first step that it lacks up to the last no metric has a
/// value, and the status is "failed: MESSAGE".
void record_failure(TrialRecord& record, Index last_step, std::string_view message);

/// The message of a trial that failed; nothing for one that came to its end.
std::optional<std::string> failure_of(const TrialRecord& record);
/// True for a step that the trial did not come to.
bool is_failed(const RecordedStep& step);

std::string format_trial_record(const ComparisonJob& job, const TrialRecord& record);

/// Throws InputError unless the text is, whole and sound, the record of this job with steps 0..steps; `name` is the
/// file's, for the message.
TrialRecord parse_trial_record(std::string_view text, const std::string& name, const ComparisonJob& job, Index steps);

}  // namespace gpilot::trials
