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
#include "describe_model.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/explore/region.hpp"
#include "gpilot/io/line_file.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"
#include "gpilot/trials/trial.hpp"
#include "gpilot/trials/trial_record.hpp"
#include "interrupt.hpp"

namespace gpilot::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using systems::System;
using trials::TrialOptions;
using trials::TrialStep;

TrialOptions options_from(const RunArguments& arguments, const System& system) {
  TrialOptions options{.explore = arguments.explore, .paper = arguments.paper, .angles = arguments.angles};
  explore::ExploreOptions& e = options.explore;
  e.landscape = true;
  if (!arguments.initial_controls.empty()) {
    options.initial_controls = read_controls(system, arguments.initial_controls);
    e.initial = options.initial_controls->rows();
    systems::check_in_control_box(system, *options.initial_controls);
  }
  if (!arguments.limits.empty()) {
    e.limits = plan::make_limits(systems::channel_names(system.spec().outputs), parse_limits(arguments.limits),
                                 e.limits.delta);
  }
  options.validate(system);
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
  const explore::ExploreOptions& e = options.explore;
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
               {"strategy", e.strategy},
               {"steps", e.steps},
               {"initial", e.initial},
               {"retrain_every", e.retrain_every},
               {"seed", e.seed},
               {"paper", options.paper},
               {"angles", options.angles},
               {"observe_states", !spec.added_outputs.empty()}};
  if (options.initial_controls) {
    json["initial_controls"] = rows_of(*options.initial_controls);
  }
  if (!std::isnan(e.until_sd)) {
    json["until_sd"] = e.until_sd;
  }
  for (const auto& [name, value] : e.planning.settings()) {
    json["planning"][name] = value;
  }
  for (const ssm::Range& range : e.region) {
    json["region"][range.name] = {range.low, range.high};
  }
  if (e.limits.any()) {
    json["limits"] = {{"low", by_name(spec.outputs, e.limits.low)},
                      {"high", by_name(spec.outputs, e.limits.high)},
                      {"delta", e.limits.delta}};
  }
  return json;
}

/// `measured` holds all rows up to the step.
Json step_json(const System& system, const TrialStep& step, const ssm::Sequence& measured) {
  Json metrics;
  for (const trials::Metric& metric : step.metrics) {
    metrics[metric.name] = metric.value;
  }
  Json line = {{"step", step.step}};
  if (step.step == 0) {
    line["initial"] = {{"controls", rows_of(measured.controls)}, {"outputs", rows_of(measured.outputs)}};
  }
  const plan::Choice& c = step.choice;
  const Json control = by_name(system.spec().controls, c.control);
  const Json rest = {
      {"asked", control},
      {"applied", control},
      {"outputs", by_name(system.spec().outputs, step.outputs)},
      {"criterion", c.criterion},
      {"evaluations", c.evaluations},
      {"landscape", rows_of(c.landscape)},
      {"trained", step.trained},
      {"status", trials::record_of(step).status},
      {"chosen", step.training.chosen},
      {"violation", c.violation},
      {"safe", c.safe},
      {"reference_sd", c.reference_sd},
      {"note", c.note},
      {"fallback", c.fallback},
      {"seconds",
       {{"choose", step.choose_seconds}, {"train", step.train_seconds}, {"evaluate", step.evaluate_seconds}}},
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
    io::check_writable(fs::is_directory(directory_, ignored) ? path("run.json")
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
  void finish(const System& system, const trials::Trial& trial) {
    open();
    io::Table table;
    table.append(std::vector<std::string>{"t"}, systems::time_grid(trial.data.rows(), system.spec().dt));
    table.append(systems::channel_names(system.spec().controls), trial.data.controls);
    table.append(systems::channel_names(system.spec().outputs), trial.data.outputs);
    io::write_csv(path("data.csv"), table);
    if (trial.model) {
      io::save_model(path("model.json"), *trial.model);
    }
  }

  /// After a failure: keeps what was measured. Says in half a sentence what has become of it.
  std::string salvage(const System& system, const trials::Trial& trial) {
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
      io::make_directory(directory_);
      io::write_file_atomically(path("run.json"), configuration_.dump(2) + "\n");
      open_ = true;
    }
  }

  std::string path(const char* name) const { return (fs::path(directory_) / name).string(); }

  std::string directory_;
  Json configuration_;
  bool open_ = false;  ///< the directory is there and holds run.json
  std::optional<io::LineFile> steps_;
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

/// What the columns are measured in.
void print_units(std::FILE* stream, const System& system, const TrialOptions& options) {
  const bool is_map = system.is_map();  // its error is that of the function itself
  fmt::print(stream, "rmse: {}",
             is_map ? "of the learned function, in the units of the data"
                    : "of free runs, in standard deviations of the test outputs");
  if (const std::string unit = plan::criterion_unit(options.explore.strategy); !unit.empty()) {
    fmt::print(stream, "; criterion: {}", unit);
  }
  fmt::print(stream, "\n");
}

void print_header(std::FILE* stream) {
  fmt::print(stream, "{:>4} {:>6} {:>9} {:>11} {:>8} {:>8}  {}\n", "step", "points", "rmse", "criterion", "choose_s",
             "train_s", "training");
}

void print_step(std::FILE* stream, const TrialStep& step, Index initial) {
  const double value = step.choice.criterion;
  const std::string criterion = std::isfinite(value) ? fmt::format("{:.5g}", value) : "-";
  const std::string training =
      step.trained ? fmt::format("{}, {}", step.training.chosen, name(step.training.status)) : "-";
  fmt::print(stream, "{:>4} {:>6} {:>9.4g} {:>11} {:>8.3f} {:>8.3f}  {}\n", step.step, initial + step.step,
             step.metrics.front().value, criterion, step.choose_seconds, step.train_seconds, training);
  std::fflush(stream);
}

/// What a metric adds up to over the steps after the first `from`.
double total(const trials::Trial& trial, std::string_view metric, std::size_t from) {
  double sum = 0.0;
  for (std::size_t k = from; k < trial.steps.size(); ++k) {
    const auto found = std::ranges::find(trial.steps[k].metrics, metric, &trials::Metric::name);
    sum += found == trial.steps[k].metrics.end() ? 0.0 : found->value;
  }
  return sum;
}

/// How the limits were kept, as far as nobody but a simulator knows.
void print_violations(const TrialOptions& options, const trials::Trial& trial) {
  const auto initial = static_cast<double>(options.explore.initial);
  const double at_first = total(trial, trials::kLimitMetrics[0], 0) - total(trial, trials::kLimitMetrics[0], 1);
  fmt::print(
      "outside the limits: {:.0f} of {} steps, and {:.0f} of {} measurements before them; no plan that keeps "
      "them was found in {:.0f} step(s)\n",
      total(trial, trials::kLimitMetrics[0], 1), trial.steps.size() - 1, initial * at_first, options.explore.initial,
      total(trial, trials::kLimitMetrics[2], 1));
}

void print_summary(const RunArguments& arguments, const System& system, const trials::Trial& trial) {
  const TrialStep& last = trial.steps.back();
  if (arguments.format == Format::kText) {
    fmt::print("wrote run.json, steps.jsonl, data.csv ({} rows of {}) and model.json to {}\n", trial.data.rows(),
               system.spec().name, arguments.output);
    if (const std::string words = explanation(last.training.status); !words.empty()) {
      fmt::print("the newest training ended with '{}': {}\n", name(last.training.status), words);
    }
    return;
  }
  Json metrics;
  for (const trials::Metric& metric : last.metrics) {
    metrics[metric.name] = metric.value;
  }
  const Json summary = {
      {"directory", arguments.output},
      {"system", system.spec().name},
      {"strategy", arguments.explore.strategy},
      {"seed", arguments.explore.seed},
      {"steps", trial.steps.size() - 1},
      {"rows", trial.data.rows()},
      {"status", name(last.training.status)},
      {"metrics", metrics},
      {"random_after_failure",
       std::ranges::count_if(trial.steps, [](const TrialStep& step) { return step.choice.fallback; })},
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
  const trials::Evaluation evaluation(*system, options.angles);
  trials::Trial trial;
  const auto on_step = [&](const TrialStep& step) {
    record.add(step_json(*system, step, trial.data));
    if (step.step == 0) {
      print_units(progress, *system, options);
      print_header(progress);
    }
    print_step(progress, step, options.explore.initial);
    return !InterruptGuard::requested();
  };
  try {
    trials::run_trial(*system, evaluation, options, on_step, trial);
  } catch (const std::exception& error) {
    const bool wrong_input = trial.steps.empty() && dynamic_cast<const InputError*>(&error) != nullptr;
    if (wrong_input || trial.data.rows() == 0) {
      throw;
    }
    rethrow_with(record.salvage(*system, trial));
  }
  record.finish(*system, trial);
  const auto done = static_cast<Index>(trial.steps.size()) - 1;
  if (done < options.explore.steps && trial.stopped.empty()) {
    throw Interrupted(fmt::format("interrupted after step {} of {}; all files are in {}", done, options.explore.steps,
                                  arguments.output));
  }
  if (!trial.stopped.empty()) {
    fmt::print(progress, "{}\n", trial.stopped);
  }
  if (options.explore.limits.any() && arguments.format == Format::kText) {
    print_violations(options, trial);
  }
  print_summary(arguments, *system, trial);
  const auto drawn = [](const TrialStep& step) { return step.choice.fallback; };
  if (const auto random = std::ranges::count_if(trial.steps, drawn); random > 0) {
    std::fflush(stdout);
    const auto last = std::find_if(trial.steps.rbegin(), trial.steps.rend(), drawn);
    throw std::runtime_error(
        fmt::format("{} of {} controls were random, since training or choosing failed; the last time, in step {}: {}",
                    random, done, last->step, last->choice.note));
  }
}

}  // namespace gpilot::cli
