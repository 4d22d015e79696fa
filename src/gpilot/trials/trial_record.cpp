#include "gpilot/trials/trial_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/io/json_archive.hpp"
#include "gpilot/trials/trial.hpp"

namespace gpilot::trials {

namespace {

using io::Rule;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kFormat = "gpilot-trial";
constexpr Index kFormatVersion = 1;
constexpr std::string_view kFailed = "failed: ";

/// JSON has one word for what is not finite, so that a stored record and the one in memory agree.
double finite_or_nan(double value) {
  return std::isfinite(value) ? value : kNaN;
}

struct Header {
  std::string format{kFormat};
  Index version = kFormatVersion;
  ComparisonJob job;

  bool operator==(const Header&) const = default;
};

template <class Archive, class AnyHeader>
void describe_header(Archive& file, AnyHeader& header) {
  file.text("format", header.format);
  file.count("version", header.version, 1, std::numeric_limits<Index>::max());
  file.text("system", header.job.system);
  file.text("strategy", header.job.strategy);
  file.count("trial", header.job.trial, 0, std::numeric_limits<std::uint32_t>::max());
}

template <class Archive, class Record>
void describe_record(Archive& file, Record& record, Index steps) {
  file.texts("metrics", record.metrics);
  file.list("steps", record.steps, steps + 1, [](auto& entry, auto& step) {
    entry.numbers("values", step.values, Rule::kNullable);
    entry.number("criterion", step.criterion, Rule::kNullable);
    entry.numbers("control", step.control, Rule::kFinite);
    entry.flag("trained", step.trained);
    entry.text("status", step.status);
    entry.text("chosen", step.chosen);
    entry.number("choose_seconds", step.choose_seconds, Rule::kNotNegative);
    entry.number("train_seconds", step.train_seconds, Rule::kNotNegative);
    entry.number("evaluate_seconds", step.evaluate_seconds, Rule::kNotNegative);
  });
}

}  // namespace

RecordedStep record_of(const TrialStep& step) {
  RecordedStep kept;
  for (const Metric& metric : step.metrics) {
    kept.values.push_back(finite_or_nan(metric.value));
  }
  const explore::TrainingSummary& training = step.training;
  const bool failed = training.status == ssm::FitStatus::kFailed;
  kept.criterion = finite_or_nan(step.choice.criterion);
  kept.control.assign(step.choice.control.begin(), step.choice.control.end());
  kept.trained = step.trained;
  kept.status = failed ? fmt::format("training failed: {}", training.message) : std::string(name(training.status));
  kept.chosen = training.chosen;
  kept.choose_seconds = step.choose_seconds;
  kept.train_seconds = step.train_seconds;
  kept.evaluate_seconds = step.evaluate_seconds;
  return kept;
}

void record_failure(TrialRecord& record, Index last_step, std::string_view message) {
  RecordedStep failed;
  failed.values.assign(record.metrics.size(), kNaN);
  failed.status = fmt::format("{}{}", kFailed, message);
  record.steps.resize(static_cast<std::size_t>(last_step) + 1, failed);
}

std::optional<std::string> failure_of(const TrialRecord& record) {
  if (record.steps.empty() || !is_failed(record.steps.back())) {
    return std::nullopt;
  }
  return record.steps.back().status.substr(kFailed.size());
}

bool is_failed(const RecordedStep& step) {
  return step.status.starts_with(kFailed);
}

std::string format_trial_record(const ComparisonJob& job, const TrialRecord& record) {
  io::JsonWriter file;
  const Header header{.job = job};
  describe_header(file, header);
  describe_record(file, record, static_cast<Index>(record.steps.size()) - 1);
  return file.format();
}

TrialRecord parse_trial_record(std::string_view text, const std::string& name, const ComparisonJob& job, Index steps) {
  const io::JsonReader::Json json = io::JsonReader::Json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw InputError(fmt::format("{}: damaged file of a trial: not a whole JSON text", name));
  }
  io::JsonReader file(json, name, "");
  Header header;
  describe_header(file, header);
  if (header != Header{.job = job}) {
    throw InputError(fmt::format("{}: expected version {} of the format {} for trial {} of {} on {}", name,
                                 kFormatVersion, kFormat, job.trial, job.strategy, job.system));
  }
  TrialRecord record;
  describe_record(file, record, steps);
  for (const RecordedStep& step : record.steps) {
    if (step.values.size() != record.metrics.size() || record.metrics.empty()) {
      throw InputError(
          fmt::format("{}: a step has {} values of {} metrics", name, step.values.size(), record.metrics.size()));
    }
  }
  return record;
}

}  // namespace gpilot::trials
