#include "gpilot/trials/comparison_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "gpilot/core/error.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/systems/system.hpp"

namespace gpilot::trials {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kConfiguration = "comparison.json";
constexpr const char* kResults = "results.csv";
constexpr const char* kTimings = "timings.csv";
constexpr const char* kSummary = "summary.json";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> to_list(const Vector& values) {
  return {values.begin(), values.end()};
}

/// The range of every system's controls, given or its own: a trial depends on it. Those of a rig are its settings.
Json boxes_of(const ComparisonOptions& options) {
  Json boxes = Json::object();
  if (options.rig) {
    return boxes;
  }
  for (const std::string& system : options.systems) {
    const Box box = compared_system(options, system)->spec().control_box;
    boxes[system] = {{"low", to_list(box.low)}, {"high", to_list(box.high)}};
  }
  return boxes;
}

Json limits_of(const ComparisonOptions& options) {
  Json limits = Json::object();
  for (const plan::NamedLimit& limit : options.limits) {
    limits["outputs"][limit.output] = {{"low", limit.low}, {"high", limit.high}};  // null = none
  }
  if (!options.limits.empty()) {
    limits["delta"] = options.delta;
  }
  return limits;
}

Json planning_of(const plan::PlanningOptions& planning) {
  Json json;
  for (const auto& [name, value] : planning.settings()) {
    json[name] = value;
  }
  return json;
}

/// A rig, its tests, and every setting that a trial on it depends on.
Json rig_of(const ComparisonOptions& options) {
  const ComparedRig& rig = *options.rig;
  study::StudyConfig config = rig.config;
  config.explore = options.explore;
  Json settings;
  for (const auto& [key, value] : study::settings_of(config)) {
    if (key != "study.strategy") {
      settings[key] = value;
    }
  }
  return {{"command", rig.command}, {"tests", rig.tests}, {"test_rig", rig.test_rig}, {"settings", settings}};
}

Json configuration_of(const ComparisonOptions& options) {
  Json json = {{"format", "gpilot-comparison"},
               {"version", 1},
               {"library_version", version()},
               {"systems", options.systems},
               {"strategies", options.strategies},
               {"trials", options.trials},
               {"steps", options.explore.steps},
               {"initial", options.explore.initial},
               {"retrain_every", options.explore.retrain_every},
               {"seed", options.explore.seed},
               {"paper", options.paper},
               {"angles", options.angles},
               {"knowledge", options.knowledge},
               {"observe_states", options.observe_states},
               {"wide_tests", options.wide_tests},
               {"limits", limits_of(options)},
               {"planning", planning_of(options.explore.planning)},
               {"boxes", boxes_of(options)}};
  if (options.rig) {
    json["rig"] = rig_of(options);
  }
  return json;
}

[[noreturn]] void refuse(const std::string& directory, const std::string& field, const Json& holds, const Json& wanted,
                         std::string_view relation = "not") {
  throw InputError(fmt::format("{}: holds another comparison: {} is {} there, {} {}; give another directory", directory,
                               field, holds.dump(), relation, wanted.dump()));
}

/// Every entry of `held` must be among the `wanted`: a comparison may grow.
void check_grown(const std::string& directory, const std::string& field, const Json& held, const Json& wanted) {
  for (const Json& entry : held) {
    if (std::ranges::find(wanted, entry) == wanted.end()) {
      refuse(directory, field, held, wanted, "this one leaves out some:");
    }
  }
}

/// What comparisons had that were stored before a field was.
Json earlier_value(const std::string& field) {
  if (field == "planning") {
    return planning_of({});
  }
  if (field == "wide_tests") {
    return true;
  }
  if (field == "knowledge") {
    return Json::array();
  }
  return field == "observe_states" || field == "angles" ? Json(false) : field == "limits" ? Json::object() : Json();
}

void check_same_rig(const std::string& directory, const Json& held, const Json& wanted) {
  for (const auto& [field, value] : wanted.items()) {
    if (field == "settings") {
      for (const auto& [key, setting] : value.items()) {
        if (const Json stored = held.value(field, Json::object()).value(key, Json()); stored != setting) {
          refuse(directory, key, stored, setting);
        }
      }
    } else if (held.value(field, Json()) != value) {
      refuse(directory, fmt::format("the rig's {}", field), held.value(field, Json()), value);
    }
  }
}

/// Throws InputError with the first field in which a stored comparison differs from the one wanted.
void check_same(const std::string& directory, const Json& held, const Json& wanted) {
  for (const auto& [field, value] : wanted.items()) {
    const Json stored = held.value(field, earlier_value(field));
    if (stored.type() != value.type() && !(stored.is_number_integer() && value.is_number_integer())) {
      refuse(directory, field, stored, value);
    }
    if (field == "systems" || field == "strategies") {
      check_grown(directory, field, stored, value);
    } else if (field == "trials") {
      if (stored > value) {
        refuse(directory, field, stored, value, "this one has fewer:");
      }
    } else if (field == "boxes") {
      for (const auto& [system, box] : stored.items()) {
        if (value.value(system, Json()) != box) {
          refuse(directory, fmt::format("the box of {}", system), box, value.value(system, Json()));
        }
      }
    } else if (field == "rig") {
      check_same_rig(directory, stored, value);
    } else if (stored != value) {
      refuse(directory, field, stored, value);
    }
  }
}

/// True if nothing but the rests of a write that was cut short is in the directory.
bool holds_nothing(const fs::path& directory) {
  return std::ranges::all_of(fs::directory_iterator(directory), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return name.starts_with('.') && name.ends_with(".tmp");
  });
}

/// Throws InputError if a directory that exists cannot take this comparison.
void check_directory(const fs::path& directory, const Json& wanted) {
  const std::string name = directory.string();
  if (!fs::is_directory(directory)) {
    throw InputError(fmt::format("{}: it is a file, expected a directory", name));
  }
  if (!fs::exists(directory / kConfiguration)) {
    if (!holds_nothing(directory)) {
      throw InputError(fmt::format("{}: the directory holds something else (no {}), expected an empty one or none",
                                   name, kConfiguration));
    }
    return;
  }
  const Json held = Json::parse(text_of(directory / kConfiguration), nullptr, false);
  if (!held.is_object()) {
    throw InputError(fmt::format("{}: its {} is damaged: not a whole JSON object", name, kConfiguration));
  }
  check_same(name, held, wanted);
}

/// What is written of a finished comparison would be taken for that of the one which it grows into.
void remove_results(const fs::path& directory) {
  for (const char* const name : {kResults, kTimings, kSummary}) {
    std::error_code error;
    fs::remove(directory / name, error);
    if (error) {
      throw InputError(fmt::format("{}: cannot remove it: {}", (directory / name).string(), error.message()));
    }
  }
}

/// A row of a CSV file; NaN is an empty field.
void append_row(std::string& text, const ComparisonJob& job, std::size_t step, std::string_view name, double value) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{},{},{},{},{},", job.system, job.strategy, job.trial, step, name);
  if (!std::isnan(value)) {
    fmt::format_to(out, "{}", value);
  }
  text += '\n';
}

}  // namespace

ComparisonStore::ComparisonStore(const ComparisonOptions& options, const std::string& directory)
    : directory_(directory), steps_(options.explore.steps) {
  const Json configuration = configuration_of(options);
  if (fs::exists(directory_)) {
    check_directory(directory_, configuration);
  }
  io::make_directory(directory_.string());
  const std::string path = (directory_ / kConfiguration).string();
  if (const std::string text = configuration.dump(2) + '\n'; text_of(path) != text) {
    remove_results(directory_);
    io::write_file_atomically(path, text);
  }
  io::make_directory((directory_ / "trials").string());
  io::check_writable((directory_ / "trials" / "new.json").string());
}

bool ComparisonStore::is_there(const std::string& directory) {
  return fs::exists(fs::path(directory) / kConfiguration);
}

std::string ComparisonStore::path_of(const ComparisonJob& job) const {
  return (directory_ / "trials" / fmt::format("{}-{}-{:03}.json", job.system, job.strategy, job.trial)).string();
}

bool ComparisonStore::has(const ComparisonJob& job) const {
  return fs::exists(path_of(job));
}

std::optional<TrialRecord> ComparisonStore::load(const ComparisonJob& job, std::string& why) const {
  const std::string path = path_of(job);
  try {
    return parse_trial_record(text_of(path), path, job, steps_);
  } catch (const InputError& error) {
    why = error.what();
    return std::nullopt;
  }
}

void ComparisonStore::store(const ComparisonJob& job, const TrialRecord& record) const {
  io::write_file_atomically(path_of(job), format_trial_record(job, record));
}

void ComparisonStore::write_results(std::span<const ComparisonJob> jobs, std::span<const TrialRecord> records,
                                    const ComparisonSummary& summary) const {
  std::string results = "system,strategy,trial,step,metric,value\n";
  std::string timings = "system,strategy,trial,step,part,seconds\n";
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (std::size_t k = 0; k < records[j].steps.size(); ++k) {
      const RecordedStep& step = records[j].steps[k];
      for (std::size_t m = 0; m < step.values.size(); ++m) {
        append_row(results, jobs[j], k, records[j].metrics[m], step.values[m]);
      }
      append_row(results, jobs[j], k, "criterion", step.criterion);
      append_row(timings, jobs[j], k, "choose", step.choose_seconds);
      append_row(timings, jobs[j], k, "train", step.train_seconds);
      append_row(timings, jobs[j], k, "evaluate", step.evaluate_seconds);
    }
  }
  io::write_file_atomically((directory_ / kResults).string(), results);
  io::write_file_atomically((directory_ / kTimings).string(), timings);
  io::write_file_atomically((directory_ / kSummary).string(), format_summary(summary));
}

}  // namespace gpilot::trials
