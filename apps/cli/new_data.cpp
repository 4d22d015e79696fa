#include "new_data.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/recordings.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/ssm/model.hpp"
#include "options.hpp"

namespace gpilot::cli {

namespace {

/// Refuses data sampled at another rate. Data that say nothing about time are taken as the model's.
void check_time_step(const io::RecordingInfo& info, double model_dt) {
  if (info.dt && !io::same_step(*info.dt, model_dt, info.jitters)) {
    throw InputError(fmt::format("{}: rows are {:.9g} s apart, but the model was trained on rows {:.9g} s apart",
                                 info.name, *info.dt, model_dt));
  }
}

Vector counted_times(Index rows, Index first_row, double dt) {
  Vector times(rows);
  for (Index t = 0; t < rows; ++t) {
    times(t) = dt * static_cast<double>(first_row + t);
  }
  return times;
}

ssm::PredictOptions options_of(const NewDataArguments& arguments) {
  return {.warmup = parse_count("--warmup", arguments.warmup, 0),
          .draws = parse_count("--draws", arguments.draws, 0),
          .seed = arguments.seed};
}

void check_warmup(const ssm::PredictOptions& options, Index rows, const std::string& name) {
  if (options.warmup > rows) {
    throw InputError(fmt::format("--warmup: {} rows are more than the {} of {}", options.warmup, rows, name));
  }
  options.validate(rows);
}

}  // namespace

void add_new_data_options(CLI::App& command, NewDataArguments& arguments) {
  arguments.command = &command;
  command.add_option("MODEL", arguments.model, "model file that 'gpilot fit' wrote")->required();
  command.add_option("FILE", arguments.files, "new data, recording by recording: the model's columns by name")
      ->required()
      ->type_name("FILE.csv");
  add_prediction_options(command, arguments);
}

void add_prediction_options(CLI::App& command, NewDataArguments& arguments) {
  command.add_option("--warmup", arguments.warmup, "first rows whose outputs are used, to find the state")
      ->type_name("K")
      ->capture_default_str();
  command.add_option("--draws", arguments.draws, "draws of the dynamics to run ahead with; 0 is moment matching")
      ->type_name("N")
      ->capture_default_str();
  add_seed(command, arguments.seed);
  command.add_option("--rows", arguments.rows, "rows A to B - 1 of each file (default: all)")->type_name("A:B");
  command.add_option("--dt", arguments.dt, "seconds between rows (default: from the column t, else the model's)")
      ->type_name("S");
}

Index NewData::rows() const {
  Index rows = 0;
  for (const NewRecording& recording : recordings) {
    rows += recording.sequence.rows();
  }
  return rows;
}

NewData load_new_data(const NewDataArguments& arguments, Outputs outputs) {
  if (arguments.command != nullptr) {
    refuse_ignored(*arguments.command,
                   {{{"--seed"}, parse_count("--draws", arguments.draws, 0) > 0, "goes with --draws above 0"}});
  }
  NewData data;
  data.model = io::load_model(arguments.model);
  data.options = options_of(arguments);
  const ssm::ModelSpec& spec = data.model.spec;
  const bool outputs_required = outputs == Outputs::kRequired || data.options.warmup > 0;
  for (const std::string& file : arguments.files) {
    std::string note;
    const auto dt = arguments.dt.empty() ? std::nullopt : std::optional(parse_number("--dt", arguments.dt));
    for (io::Recording& recording : io::read_recordings({.file = file,
                                    .inputs = spec.inputs,
                                    .outputs = spec.outputs,
                                    .rows = arguments.rows,
                                    .dt = dt,
                                    .outputs_required = outputs_required},
                                                        note)) {
      const Index rows = recording.sequence.rows();
      check_warmup(data.options, rows, recording.info.name);
      check_time_step(recording.info, spec.dt);
      data.recordings.push_back(
          {recording.info.name, std::move(recording.sequence),
           recording.times.size() > 0 ? recording.times : counted_times(rows, recording.info.first_row, spec.dt)});
    }
    print_note(note);
  }
  return data;
}

void print_note(const std::string& note) {
  if (!note.empty()) {
    fmt::print(stderr, "gpilot: note: {}\n", note);
  }
}

void check_present_inputs(const ssm::Model& model, const std::string& file) {
  if (model.gp.dead_time > 0 || model.gp.input_lags > 0) {
    throw InputError(
        fmt::format("{}: the model takes inputs of up to {} rows ago; expected one of the present input alone", file,
                    model.gp.dead_time + model.gp.input_lags));
  }
}

std::string describe_method(const ssm::PredictOptions& options) {
  return options.draws == 0 ? "moment matching"
                            : fmt::format("{} function draws, seed {}", options.draws, options.seed);
}

std::string describe_beyond(Index rows) {
  return fmt::format(
      "{} row(s) lie beyond what the training data support: the run passed where the dynamics are less certain than "
      "anywhere in the data",
      rows);
}

std::string describe_diverged(const ssm::PredictOptions& options, Index diverged) {
  if (diverged == 0) {
    return "";
  }
  return options.draws == 0
             ? "the prediction diverged and was held where it last made sense"
             : fmt::format("{} of {} draws diverged: the model may be unstable here", diverged, options.draws);
}

}  // namespace gpilot::cli
