#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "gpilot/core/error.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/report/model_part.hpp"
#include "gpilot/report/record.hpp"
#include "gpilot/trials/comparison.hpp"
#include "gpilot/trials/statistics.hpp"

namespace gpilot::report {

namespace {

namespace fs = std::filesystem;
using trials::ComparisonJob;
using trials::ComparisonOptions;
using trials::TrialRecord;

constexpr int kTrialDigits = 4;

/// What a directory says that it compares: as much of it as a summary needs.
ComparisonOptions stored_options(const Json& stored, const std::string& file) {
  ComparisonOptions options;
  try {
    stored.at("systems").get_to(options.systems);
    stored.at("strategies").get_to(options.strategies);
    stored.at("trials").get_to(options.trials);
    stored.at("steps").get_to(options.explore.steps);
    stored.at("initial").get_to(options.explore.initial);
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("{}: not the description of a comparison: {}", file, error.what()));
  }
  if (options.systems.empty() || options.strategies.empty() || options.trials < 1 || options.explore.steps < 1) {
    throw InputError(fmt::format("{}: expected at least one system, strategy, trial and step", file));
  }
  return options;
}

Json read_description(const std::string& directory) {
  const std::string file = (fs::path(directory) / "comparison.json").string();
  if (std::error_code ignored; !fs::exists(file, ignored)) {
    throw InputError(
        fmt::format("{}: holds no comparison (no comparison.json); expected a directory that 'gpilot "
                    "compare' wrote",
                    directory));
  }
  Json stored = Json::parse(io::read_text(file, "the description of a comparison"), nullptr, false);
  if (!stored.is_object()) {
    throw InputError(fmt::format("{}: damaged: not a whole JSON object", file));
  }
  return stored;
}

/// The trials of a directory by strategy and number; those that are not there yet are left out.
class Trials {
 public:
  Trials(const std::string& directory, const ComparisonOptions& options) {
    for (const ComparisonJob& job : trials::comparison_jobs(options)) {
      const fs::path path =
          fs::path(directory) / "trials" / fmt::format("{}-{}-{:03}.json", job.system, job.strategy, job.trial);
      if (!fs::exists(path)) {
        continue;
      }
      try {
        const std::string name = path.string();
        records_.emplace(key(job),
                         trials::parse_trial_record(io::read_text(name, "a trial"), name, job, options.explore.steps));
      } catch (const InputError& error) {
        damaged_.emplace_back(error.what());
      }
    }
  }

  const TrialRecord* find(const ComparisonJob& job) const {
    const auto found = records_.find(key(job));
    return found == records_.end() ? nullptr : &found->second;
  }
  Index count() const { return static_cast<Index>(records_.size()); }
  const std::vector<std::string>& damaged() const { return damaged_; }

 private:
  static std::string key(const ComparisonJob& job) {
    return fmt::format("{}\n{}\n{}", job.system, job.strategy, job.trial);
  }
  std::map<std::string, TrialRecord> records_;
  std::vector<std::string> damaged_;
};

/// How many trials, from the first on, all strategies on all systems have: paired statistics need those.
Index complete_trials(const Trials& found, const ComparisonOptions& options) {
  for (Index trial = 0; trial < options.trials; ++trial) {
    for (const std::string& system : options.systems) {
      for (const std::string& strategy : options.strategies) {
        if (found.find({system, strategy, static_cast<std::uint32_t>(trial)}) == nullptr) {
          return trial;
        }
      }
    }
  }
  return options.trials;
}

/// Median over trials of what a step took, by step.
Json median_seconds(const std::vector<const TrialRecord*>& records, Index steps, double trials::RecordedStep::*part) {
  Vector medians = Vector::Constant(steps + 1, kNaN);
  for (Index k = 0; k <= steps; ++k) {
    std::vector<double> values;
    for (const TrialRecord* record : records) {
      if (!trials::is_failed(record->steps[static_cast<std::size_t>(k)])) {
        values.push_back(record->steps[static_cast<std::size_t>(k)].*part);
      }
    }
    medians(k) = trials::median(values);
  }
  return list(medians, 3);
}

/// {"name", "trials": numbers, "failed", "values": [metric][trial][step], "choose_s", "train_s"}.
Json strategy_json(const Trials& found, const ComparisonOptions& options, const std::string& system,
                   const std::string& strategy, const std::vector<std::string>& metrics) {
  std::vector<const TrialRecord*> records;
  Json numbers = Json::array();
  Index failed = 0;
  for (Index trial = 0; trial < options.trials; ++trial) {
    const TrialRecord* record = found.find({system, strategy, static_cast<std::uint32_t>(trial)});
    if (record != nullptr && record->metrics == metrics) {
      records.push_back(record);
      numbers.push_back(trial);
      failed += trials::failure_of(*record) ? 1 : 0;
    }
  }
  Json values = Json::array();
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    Json curves = Json::array();
    for (const TrialRecord* record : records) {
      Vector curve(options.explore.steps + 1);
      for (Index k = 0; k < curve.size(); ++k) {
        curve(k) = record->steps[static_cast<std::size_t>(k)].values[m];
      }
      curves.push_back(list(curve, kTrialDigits));
    }
    values.push_back(curves);
  }
  return {{"name", strategy},
          {"trials", numbers},
          {"failed", failed},
          {"values", values},
          {"choose_s", median_seconds(records, options.explore.steps, &trials::RecordedStep::choose_seconds)},
          {"train_s", median_seconds(records, options.explore.steps, &trials::RecordedStep::train_seconds)}};
}

Json system_json(const Trials& found, const ComparisonOptions& options, const std::string& system) {
  std::vector<std::string> metrics;
  for (const std::string& strategy : options.strategies) {
    for (Index trial = 0; trial < options.trials && metrics.empty(); ++trial) {
      if (const TrialRecord* record = found.find({system, strategy, static_cast<std::uint32_t>(trial)})) {
        metrics = record->metrics;
      }
    }
  }
  Json strategies = Json::array();
  for (const std::string& strategy : options.strategies) {
    strategies.push_back(strategy_json(found, options, system, strategy, metrics));
  }
  return {{"name", system}, {"metrics", metrics}, {"strategies", strategies}};
}

Json summary_of(const Trials& found, ComparisonOptions options, Index complete) {
  options.trials = complete;
  std::vector<TrialRecord> records;
  for (const ComparisonJob& job : trials::comparison_jobs(options)) {
    records.push_back(*found.find(job));
  }
  return Json::parse(trials::format_summary(trials::summarize(options, records)));
}

}  // namespace

Json comparison_record(const std::string& directory) {
  const Json stored = read_description(directory);
  const ComparisonOptions options = stored_options(stored, (fs::path(directory) / "comparison.json").string());
  const Trials found(directory, options);
  if (found.count() == 0) {
    throw InputError(fmt::format("{}: no trial is done yet, so there is nothing to show", directory));
  }
  const auto total = static_cast<Index>(trials::comparison_jobs(options).size());
  Json record = record_head("comparison", fmt::format("{}", fmt::join(options.systems, ", ")), directory);
  const Index complete = complete_trials(found, options);
  record["about"] = {{"systems", options.systems},
                     {"strategies", options.strategies},
                     {"trials", options.trials},
                     {"steps", options.explore.steps},
                     {"initial", options.explore.initial},
                     {"done", found.count()},
                     {"total", total},
                     {"complete", complete}};
  record["settings"] = stored;
  for (const std::string& why : found.damaged()) {
    record["notes"].push_back(fmt::format("A trial is left out, its file is damaged: {}", why));
  }
  if (found.count() < total) {
    record["notes"].push_back(
        fmt::format("Not finished: {} of {} trials are done. Tests are over the first {} trials, which all strategies "
                    "have; figures show what there is.",
                    found.count(), total, complete));
  }
  record["systems"] = Json::array();
  for (const std::string& system : options.systems) {
    record["systems"].push_back(system_json(found, options, system));
  }
  record["summary"] = complete > 0 ? summary_of(found, options, complete) : Json();
  return record;
}

}  // namespace gpilot::report
