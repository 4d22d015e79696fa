#include "new_data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "gpilot/error.hpp"
#include "gpilot/study/model_file.hpp"
#include "gpilot/study/sequences.hpp"
#include "gpilot/study/table.hpp"
#include "options.hpp"

namespace gpilot::cli {

namespace {

constexpr double kStepTolerance = 1e-6;  ///< relative, between the data's time step and the model's

/// Whether the column t tells the time step.
bool has_times(const study::Table& table) {
  return table.find("t") >= 0 && table.rows() > 1;
}

/// Refuses data sampled at another rate. Data that say nothing about time are taken as the model's.
void check_time_step(const NewDataArguments& arguments, const study::Table& table, Index first_row, double model_dt) {
  std::optional<double> dt;
  if (!arguments.dt.empty()) {
    dt = parse_number("--dt", arguments.dt);
  } else if (!has_times(table)) {
    return;
  }
  const double step = study::time_step(table, arguments.file, dt, first_row);
  if (std::abs(step - model_dt) > kStepTolerance * model_dt) {
    throw InputError(fmt::format("{}: rows are {:.9g} s apart, but the model was trained on rows {:.9g} s apart",
                                 arguments.file, step, model_dt));
  }
}

Vector times_of(const NewDataArguments& arguments, const study::Table& table, Index first_row, double dt) {
  if (arguments.dt.empty() && table.find("t") >= 0) {
    return table.values.col(table.find("t"));
  }
  Vector times(table.rows());
  for (Index t = 0; t < times.size(); ++t) {
    times(t) = dt * static_cast<double>(first_row + t);
  }
  return times;
}

ssm::PredictOptions options_of(const NewDataArguments& arguments, Index rows) {
  const ssm::PredictOptions options{.warmup = parse_count("--warmup", arguments.warmup, 0),
                                    .draws = parse_count("--draws", arguments.draws, 0),
                                    .seed = arguments.seed};
  if (options.warmup > rows) {
    throw InputError(fmt::format("--warmup: {} rows are more than the {} of {}", options.warmup, rows, arguments.file));
  }
  options.validate(rows);
  return options;
}

}  // namespace

void add_new_data_options(CLI::App& command, NewDataArguments& arguments) {
  command.add_option("MODEL", arguments.model, "model file that 'gpilot fit' wrote")->required();
  command.add_option("FILE.csv", arguments.file, "new data: the model's inputs and outputs by name")->required();
  command.add_option("--warmup", arguments.warmup, "first rows whose outputs are used, to find the state")
      ->type_name("K")
      ->capture_default_str();
  command.add_option("--draws", arguments.draws, "draws of the dynamics to run ahead with; 0 is moment matching")
      ->type_name("N")
      ->capture_default_str();
  add_seed(command, arguments.seed);
  command.add_option("--rows", arguments.rows, "rows A to B - 1 of the file (default: all)")->type_name("A:B");
  command.add_option("--dt", arguments.dt, "seconds between rows (default: from the column t, else the model's)")
      ->type_name("S");
}

NewData load_new_data(const NewDataArguments& arguments, Outputs outputs) {
  NewData data;
  data.model = study::load_model(arguments.model);
  const ssm::ModelSpec& spec = data.model.spec;
  const bool outputs_required = outputs == Outputs::kRequired || parse_count("--warmup", arguments.warmup, 0) > 0;
  const auto [table, first_row] =
      study::read_excerpt(arguments.file, spec.inputs, spec.outputs, arguments.rows, outputs_required);
  data.options = options_of(arguments, table.rows());
  data.sequence = study::sequence_from(table, arguments.file, spec.inputs, spec.outputs,
                                       {.first_row = first_row, .outputs_required = outputs_required});
  check_time_step(arguments, table, first_row, spec.dt);
  data.times = times_of(arguments, table, first_row, spec.dt);
  return data;
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

std::string describe_diverged(const ssm::PredictOptions& options, Index diverged) {
  if (diverged == 0) {
    return "";
  }
  return options.draws == 0
             ? "the prediction diverged and was held where it last made sense"
             : fmt::format("{} of {} draws diverged: the model may be unstable here", diverged, options.draws);
}

}  // namespace gpilot::cli
