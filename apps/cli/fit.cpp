#include "gpilot/inference/fit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "describe_model.hpp"
#include "fit_arguments.hpp"
#include "gpilot/error.hpp"
#include "gpilot/ssm/summary.hpp"
#include "gpilot/study/model_file.hpp"
#include "gpilot/study/sequences.hpp"
#include "gpilot/study/writable.hpp"
#include "progress_line.hpp"

namespace gpilot::cli {

namespace {

struct Recording {
  ssm::Sequence sequence;
  double dt = 1.0;
};

Recording read_recording(const std::string& file, const FitArguments& arguments, const ssm::ModelSpec& spec,
                         std::optional<double> dt) {
  study::Table table = study::read_csv(file);
  study::RowRange range{0, table.rows()};
  if (!arguments.rows.empty()) {
    range = study::parse_row_range(arguments.rows, table.rows());
    table = study::select_rows(table, range);
  }
  Recording recording{study::sequence_from(table, file, spec.inputs, spec.outputs, {.first_row = range.begin}),
                      study::time_step(table, file, dt, range.begin)};
  if (recording.sequence.rows() < 2) {
    throw InputError(fmt::format("{}: {} row(s), expected at least 2 to learn from", file, recording.sequence.rows()));
  }
  return recording;
}

/// Reads every file; sets the time step of the model.
ssm::Dataset read_data(const FitArguments& arguments, ssm::ModelSpec& spec) {
  const std::optional<double> dt =
      arguments.dt.empty() ? std::nullopt : std::optional(parse_number("--dt", arguments.dt));
  ssm::Dataset data;
  for (const std::string& file : arguments.files) {
    Recording recording = read_recording(file, arguments, spec, dt);
    if (data.empty()) {
      spec.dt = recording.dt;
    }
    constexpr double kTolerance = 1e-6;  // relative, as within a file
    if (std::abs(recording.dt - spec.dt) > kTolerance * spec.dt) {
      throw InputError(fmt::format("{}: its rows are {:.6g} s apart, those of {} {:.6g} s; expected the same", file,
                                   recording.dt, arguments.files.front(), spec.dt));
    }
    data.push_back(std::move(recording.sequence));
  }
  return data;
}

ssm::Model identify(const FitArguments& arguments, const ssm::Dataset& data, const ssm::ModelSpec& spec) {
  inference::IdentifyOptions options = identify_options_from(arguments);
  ProgressLine line(arguments.verbose);
  options.on_progress = [&line](const inference::Progress& p) { line.show(p.stage, p.fraction, p.objective); };
  return inference::identify(data, spec, options);
}

ssm::Model train(const FitArguments& arguments, const ssm::Dataset& data, const ssm::ModelSpec& spec,
                 const ssm::Model* previous) {
  inference::FitOptions options = options_from(arguments);
  ProgressLine line(arguments.verbose);
  options.on_progress = [&line](const inference::Progress& p) { line.show(p.stage, p.fraction, p.objective); };
  return inference::fit(data, spec, options, previous);
}

void print_report(const FitArguments& arguments, const ssm::Model& model) {
  const ssm::Summary summary = ssm::summarize(model, model.gp);
  fmt::print("Fitted {} rows in {} sequence(s), dt {:.6g} s, seed {}.\n", summary.rows, summary.sequences,
             model.spec.dt, model.seed);
  fmt::print("Outputs\n");
  print_emission(model, summary);
  fmt::print("Training\n");
  print_training(model);
  fmt::print("Noise\n");
  print_noises(model, summary);
  fmt::print("Transition function\n");
  print_functions(summary);
  if (!model.report.structure.empty()) {
    fmt::print("Trained in {:.1f} s. ", model.report.seconds);
  }
  fmt::print("Wrote {}; 'gpilot show {}' explains it.\n", arguments.output, arguments.output);
}

void print_json(const FitArguments& arguments, const ssm::Model& model) {
  nlohmann::ordered_json report = {{"model", arguments.output}, {"files", arguments.files}};
  report.update(model_json(model));
  report["training"]["seconds"] = model.report.seconds;
  report["training"]["trace"] = model.report.trace;
  fmt::print("{}\n", report.dump(2));
}

/// What would make saving fail is found before the long work, not after: the path, or names that are not UTF-8.
void check_savable(const std::string& path, const ssm::ModelSpec& spec) {
  study::check_writable(path);
  ssm::Model untrained;
  untrained.spec = spec;
  study::format_model(untrained);
}

void run_fit(const FitArguments& arguments) {
  if (arguments.output == "-") {
    throw InputError("-o: a model needs a file, it cannot go to standard output");
  }
  std::optional<ssm::Model> previous;
  if (!arguments.from.empty()) {
    previous = study::load_model(arguments.from);
  }
  const bool identified = identifies(arguments);
  ssm::ModelSpec spec =
      identified ? identified_spec_from(arguments) : spec_from(arguments, previous ? &previous->spec : nullptr);
  if (identified) {
    identify_options_from(arguments).validate();
  } else {
    options_from(arguments).validate();
  }
  const ssm::Dataset data = read_data(arguments, spec);
  check_savable(arguments.output, spec);
  const ssm::Model model =
      identified ? identify(arguments, data, spec) : train(arguments, data, spec, previous ? &*previous : nullptr);
  study::save_model(arguments.output, model);
  if (arguments.format == Format::kJson) {
    print_json(arguments, model);
  } else {
    print_report(arguments, model);
  }
}

}  // namespace

void add_fit(CLI::App& app) {
  const auto arguments = std::make_shared<FitArguments>();
  CLI::App* command = app.add_subcommand("fit", "learn a model from recorded data");
  add_fit_options(*command, *arguments);
  command->callback([arguments] { run_fit(*arguments); });
}

}  // namespace gpilot::cli
