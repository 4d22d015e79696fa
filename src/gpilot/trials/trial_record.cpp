#include "gpilot/trials/trial_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/io/checksum.hpp"
#include "gpilot/io/json_archive.hpp"
#include "gpilot/trials/trial.hpp"

namespace gpilot::trials {

namespace {

using io::Rule;

constexpr std::string_view kFormat = "gpilot-trial";
constexpr Index kFormatVersion = 2;
constexpr Index kFirstWithChecksums = 2;
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
    entry.optional("checksum", [&] { entry.text("checksum", step.checksum); });
  });
}

std::string checksum_of(const TrialRecord& record, std::size_t k) {
  const RecordedStep& s = record.steps[k];
  return io::checksum(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", fmt::join(record.metrics, ","), k,
                                  fmt::join(s.values, ","), s.criterion, fmt::join(s.control, ","), s.trained, s.status,
                                  s.chosen, s.choose_seconds, s.train_seconds, s.evaluate_seconds));
}

/// Old files have no checksums; one that is there, or should be, must be right.
void check_steps(const TrialRecord& record, Index version, const std::string& name) {
  for (std::size_t k = 0; k < record.steps.size(); ++k) {
    const RecordedStep& step = record.steps[k];
    if (step.values.size() != record.metrics.size() || record.metrics.empty()) {
      throw InputError(
          fmt::format("{}: a step has {} values of {} metrics", name, step.values.size(), record.metrics.size()));
    }
    const bool expected = version >= kFirstWithChecksums || !step.checksum.empty();
    if (expected && step.checksum != checksum_of(record, k)) {
      throw InputError(
          fmt::format("{}: damaged: step {}: the file does not hold what was stored (wrong checksum)", name, k));
    }
  }
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
  TrialRecord sealed = record;
  for (std::size_t k = 0; k < sealed.steps.size(); ++k) {
    sealed.steps[k].checksum = checksum_of(record, k);
  }
  describe_record(file, std::as_const(sealed), static_cast<Index>(record.steps.size()) - 1);
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
  if (header != Header{.version = header.version, .job = job} || header.version > kFormatVersion) {
    throw InputError(fmt::format("{}: expected version 1 to {} of the format {} for trial {} of {} on {}", name,
                                 kFormatVersion, kFormat, job.trial, job.strategy, job.system));
  }
  TrialRecord record;
  describe_record(file, record, steps);
  check_steps(record, header.version, name);
  return record;
}

}  // namespace gpilot::trials
