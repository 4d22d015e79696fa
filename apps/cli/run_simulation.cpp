#include "run_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "controls_file.hpp"
#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/error.hpp"
#include "gpilot/study/line_file.hpp"
#include "gpilot/study/model_file.hpp"
#include "gpilot/study/region.hpp"
#include "gpilot/study/system_model.hpp"
#include "gpilot/study/table.hpp"
#include "gpilot/study/trial.hpp"
#include "gpilot/study/writable.hpp"
#include "gpilot/systems/registry.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/version.hpp"
#include "interrupt.hpp"

namespace gpilot::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using study::TrialOptions;
using study::TrialStep;
using systems::System;

TrialOptions options_from(const RunArguments& arguments, const System& system) {
  TrialOptions options{.strategy = arguments.strategy,
                       .steps = parse_count("--steps", arguments.steps, 1),
                       .retrain_every = parse_count("--retrain-every", arguments.retrain_every, 1),
                       .seed = arguments.seed,
                       .paper = arguments.paper,
                       .angles = arguments.angles,
                       .landscape = true,
                       .initial_controls = {}};
  if (!arguments.initial.empty()) {
    options.initial = parse_count("--initial", arguments.initial, 2);
  }
  if (!arguments.initial_controls.empty()) {
    if (!arguments.initial.empty()) {
      throw InputError("--initial: the rows of --controls-initial say how many measurements come first; give one");
    }
    options.initial_controls = read_controls(system, arguments.initial_controls);
    options.initial = options.initial_controls->rows();
    systems::check_in_control_box(system, *options.initial_controls);
  }
  if (const std::vector<acquisition::NamedLimit> limits = arguments.limits.parsed(); !limits.empty()) {
    options.limits = acquisition::make_limits(systems::channel_names(system.spec().outputs), limits,
                                              arguments.limits.parsed_delta());
  } else {
    arguments.limits.parsed_delta();  // throws if it is given alone
  }
  if (!arguments.until_sd.empty()) {
    options.until_sd = parse_number("--until-sd", arguments.until_sd);
    if (!(options.until_sd > 0.0)) {
      throw InputError(fmt::format("--until-sd: expected a positive number, not '{}'", arguments.until_sd));
    }
  }
  options.planning = arguments.planning.parsed();
  options.region = study::parse_region(arguments.region);
  study::check_region(study::model_spec(system), options.region);
  acquisition::make_strategy(options.strategy);  // throws for an unknown name
  options.validate();
  return options;
}

/// The values by name, or null if there are none. A value that is missing is null.
Json by_name(const std::vector<systems::Channel>& channels, const Vector& values) {
  Json object;
  for (Index i = 0; i < values.size(); ++i) {
    object[channels[static_cast<std::size_t>(i)].name] = values(i);
  }
  return object;
}

Json rows_of(const Matrix& values) {
  Json rows = Json::array();
  for (Index r = 0; r < values.rows(); ++r) {
    rows.push_back(std::vector<double>(values.row(r).begin(), values.row(r).end()));
  }
  return rows;
}

Json configuration(const System& system, const TrialOptions& options) {
  const systems::SystemSpec& spec = system.spec();
  Json box;
  for (std::size_t i = 0; i < spec.controls.size(); ++i) {
    const auto p = static_cast<Index>(i);
    box[spec.controls[i].name] = {spec.control_box.low(p), spec.control_box.high(p)};
  }
  Json json = {{"format", "gpilot-run"},
               {"version", 1},
               {"library_version", version()},
               {"system", spec.name},
               {"dt", spec.dt},
               {"box", box},
               {"outputs", systems::channel_names(spec.outputs)},
               {"strategy", options.strategy},
               {"steps", options.steps},
               {"initial", options.initial},
               {"retrain_every", options.retrain_every},
               {"seed", options.seed},
               {"paper", options.paper},
               {"angles", options.angles},
               {"observe_states", !spec.added_outputs.empty()}};
  if (options.initial_controls) {
    json["initial_controls"] = rows_of(*options.initial_controls);
  }
  if (!std::isnan(options.until_sd)) {
    json["until_sd"] = options.until_sd;
  }
  for (const auto& [name, value] : options.planning.settings()) {
    json["planning"][name] = value;
  }
  for (const ssm::Range& range : options.region) {
    json["region"][range.name] = {range.low, range.high};
  }
  if (options.limits) {
    json["limits"] = {{"low", by_name(spec.outputs, options.limits->low)},
                      {"high", by_name(spec.outputs, options.limits->high)},
                      {"delta", options.limits->delta}};
  }
  return json;
}

/// `measured` holds all rows up to the step.
Json step_json(const System& system, const TrialStep& step, const ssm::Sequence& measured) {
  const study::ExplorationStep& e = step.exploration;
  Json metrics;
  for (const study::Metric& metric : step.metrics) {
    metrics[metric.name] = metric.value;
  }
  Json line = {{"step", e.step}};
  if (e.step == 0) {
    line["initial"] = {{"controls", rows_of(measured.controls)}, {"outputs", rows_of(measured.outputs)}};
  }
  const Json rest = {
      {"asked", by_name(system.spec().controls, e.asked)},
      {"applied", by_name(system.spec().controls, e.applied)},
      {"outputs", by_name(system.spec().outputs, e.outputs)},
      {"criterion", e.criterion},
      {"evaluations", e.evaluations},
      {"landscape", rows_of(e.landscape)},
      {"trained", e.trained},
      {"status", e.status},
      {"chosen", e.chosen},
      {"violation", e.violation},
      {"safe", e.safe},
      {"reference_sd", e.reference_sd},
      {"seconds", {{"choose", e.choose_seconds}, {"train", e.train_seconds}, {"evaluate", step.evaluate_seconds}}},
      {"metrics", metrics}};
  line.update(rest);
  return line;
}

/// What a run leaves behind. The directory is made when there is something to keep: by then all that can be wrong with
/// the input has been found.
class Record {
 public:
  Record(std::string directory, Json configuration)
      : directory_(std::move(directory)), configuration_(std::move(configuration)) {
    std::error_code ignored;
    if (fs::exists(directory_, ignored) && !fs::is_directory(directory_, ignored)) {
      throw InputError(fmt::format("{}: expected a directory, this is a file", directory_));
    }
    if (fs::is_directory(directory_, ignored) && !fs::is_empty(directory_)) {
      throw InputError(
          fmt::format("{}: the directory holds files already; a run needs a new or empty one", directory_));
    }
    study::check_writable(fs::is_directory(directory_, ignored) ? path("run.json")
                                                                : fs::path(directory_ + "/").parent_path().string());
  }

  void add(const Json& step) {
    open();
    if (!steps_) {
      steps_.emplace(path("steps.jsonl"));
    }
    steps_->append(step.dump());
  }

  /// Writes all measurements and the last model, if there is one.
  void finish(const System& system, const study::Trial& trial) {
    open();
    study::Table table;
    table.append(std::vector<std::string>{"t"}, systems::time_grid(trial.data.rows(), system.spec().dt));
    table.append(systems::channel_names(system.spec().controls), trial.data.controls);
    table.append(systems::channel_names(system.spec().outputs), trial.data.outputs);
    study::write_csv(path("data.csv"), table);
    if (trial.model.states.rows() > 0) {
      study::save_model(path("model.json"), trial.model);
    }
  }

  /// After a failure: keeps what was measured. Says in half a sentence what has become of it.
  std::string salvage(const System& system, const study::Trial& trial) {
    try {
      finish(system, trial);
      return fmt::format("what was measured until then is in {}", directory_);
    } catch (const std::exception& error) {
      return fmt::format("not all that was measured until then could be kept in {}: {}", directory_, error.what());
    }
  }

 private:
  void open() {
    if (!open_) {
      study::make_directory(directory_);
      study::write_file_atomically(path("run.json"), configuration_.dump(2) + "\n");
      open_ = true;
    }
  }

  std::string path(const char* name) const { return (fs::path(directory_) / name).string(); }

  std::string directory_;
  Json configuration_;
  bool open_ = false;  ///< the directory is there and holds run.json
  std::optional<study::LineFile> steps_;
};

/// Throws the error that is being handled again, as one of its kind that says what else to know.
[[noreturn]] void rethrow_with(const std::string& note) {
  const auto message = [&note](const char* what) { return fmt::format("{}; {}", what, note); };
  try {
    throw;
  } catch (const InputError& error) {
    throw InputError(message(error.what()));
  } catch (const NumericalError& error) {
    throw NumericalError(message(error.what()));
  } catch (const std::bad_alloc&) {
    throw std::runtime_error(message("out of memory"));
  } catch (const std::exception& error) {
    throw std::runtime_error(message(error.what()));
  }
}

void print_header(std::FILE* stream) {
  fmt::print(stream, "{:>4} {:>6} {:>9} {:>11} {:>8} {:>8}  {}\n", "step", "points", "rmse", "criterion", "choose_s",
             "train_s", "training");
}

void print_step(std::FILE* stream, const TrialStep& step, Index initial) {
  const study::ExplorationStep& e = step.exploration;
  const std::string criterion = std::isfinite(e.criterion) ? fmt::format("{:.5g}", e.criterion) : "-";
  const std::string training = e.trained ? fmt::format("{}, {}", e.chosen, e.status) : "-";
  fmt::print(stream, "{:>4} {:>6} {:>9.4g} {:>11} {:>8.3f} {:>8.3f}  {}\n", e.step, initial + e.step,
             step.metrics.front().value, criterion, e.choose_seconds, e.train_seconds, training);
  std::fflush(stream);
}

/// What a metric adds up to over the steps after the first `from`.
double total(const study::Trial& trial, std::string_view metric, std::size_t from) {
  double sum = 0.0;
  for (std::size_t k = from; k < trial.steps.size(); ++k) {
    const auto found = std::ranges::find(trial.steps[k].metrics, metric, &study::Metric::name);
    sum += found == trial.steps[k].metrics.end() ? 0.0 : found->value;
  }
  return sum;
}

/// How the limits were kept, as far as nobody but a simulator knows.
void print_violations(const TrialOptions& options, const study::Trial& trial) {
  const auto initial = static_cast<double>(options.initial);
  const double at_first = total(trial, study::kLimitMetrics[0], 0) - total(trial, study::kLimitMetrics[0], 1);
  fmt::print(
      "outside the limits: {:.0f} of {} steps, and {:.0f} of {} measurements before them; no plan that keeps "
      "them was found in {:.0f} step(s)\n",
      total(trial, study::kLimitMetrics[0], 1), trial.steps.size() - 1, initial * at_first, options.initial,
      total(trial, study::kLimitMetrics[2], 1));
}

void print_summary(const RunArguments& arguments, const System& system, const study::Trial& trial) {
  const TrialStep& last = trial.steps.back();
  if (arguments.format == Format::kText) {
    fmt::print("wrote run.json, steps.jsonl, data.csv ({} rows of {}) and model.json to {}\n", trial.data.rows(),
               system.spec().name, arguments.output);
    return;
  }
  Json metrics;
  for (const study::Metric& metric : last.metrics) {
    metrics[metric.name] = metric.value;
  }
  const Json summary = {{"directory", arguments.output},
                        {"system", system.spec().name},
                        {"strategy", arguments.strategy},
                        {"seed", arguments.seed},
                        {"steps", trial.steps.size() - 1},
                        {"rows", trial.data.rows()},
                        {"status", last.exploration.status},
                        {"metrics", metrics},
                        {"stopped", trial.stopped.empty() ? Json() : Json(trial.stopped)}};
  fmt::print("{}\n", summary.dump(2));
}

}  // namespace

void run_simulation(const RunArguments& arguments) {
  if (arguments.output.empty()) {
    throw InputError("-o: expected a new or empty directory for the results");
  }
  const std::unique_ptr<System> system = systems::make_system(arguments.target);
  if (!arguments.box.empty()) {
    system->set_control_box(parse_box("--box", arguments.box));
  }
  if (arguments.observe_states) {
    system->observe_states();
  }
  const TrialOptions options = options_from(arguments, *system);
  Record record(arguments.output, configuration(*system, options));
  std::FILE* const progress = arguments.format == Format::kText ? stdout : stderr;
  const InterruptGuard guard;
  const study::Evaluation evaluation(*system, options.angles);
  study::Trial trial;
  const auto on_step = [&](const TrialStep& step) {
    record.add(step_json(*system, step, trial.data));
    if (step.exploration.step == 0) {
      print_header(progress);
    }
    print_step(progress, step, options.initial);
    return !InterruptGuard::requested();
  };
  try {
    study::run_trial(*system, evaluation, options, on_step, trial);
  } catch (const std::exception& error) {
    const bool wrong_input = trial.steps.empty() && dynamic_cast<const InputError*>(&error) != nullptr;
    if (wrong_input || trial.data.rows() == 0) {
      throw;
    }
    rethrow_with(record.salvage(*system, trial));
  }
  record.finish(*system, trial);
  const auto done = static_cast<Index>(trial.steps.size()) - 1;
  if (done < options.steps && trial.stopped.empty()) {
    throw Interrupted(
        fmt::format("interrupted after step {} of {}; all files are in {}", done, options.steps, arguments.output));
  }
  if (!trial.stopped.empty()) {
    fmt::print(progress, "{}\n", trial.stopped);
  }
  if (options.limits && arguments.format == Format::kText) {
    print_violations(options, trial);
  }
  print_summary(arguments, *system, trial);
}

}  // namespace gpilot::cli
