#include "gpilot/inference/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "describe_model.hpp"
#include "fit_arguments.hpp"
#include "gpilot/error.hpp"
#include "gpilot/inference/batches.hpp"
#include "gpilot/inference/validation.hpp"
#include "gpilot/ssm/summary.hpp"
#include "gpilot/study/csv_recordings.hpp"
#include "gpilot/study/model_file.hpp"
#include "gpilot/study/sequences.hpp"
#include "gpilot/study/writable.hpp"
#include "interrupt.hpp"
#include "progress_line.hpp"

namespace gpilot::cli {

namespace {

constexpr Index kManyRows = 200000;  ///< from here on batches are recommended

struct Recording {
  ssm::Sequence sequence;
  double dt = 1.0;
};

Recording read_recording(const std::string& file, const FitArguments& arguments, const ssm::ModelSpec& spec,
                         std::optional<double> dt) {
  const study::Excerpt part = study::read_excerpt(file, spec.inputs, spec.outputs, arguments.rows);
  Recording recording{study::sequence_from(part.table, file, spec.inputs, spec.outputs, {.first_row = part.first_row}),
                      study::time_step(part.table, file, dt, part.first_row)};
  if (recording.sequence.rows() < 2) {
    throw InputError(fmt::format("{}: {} row(s), expected at least 2 to learn from", file, recording.sequence.rows()));
  }
  return recording;
}

std::optional<double> given_dt(const FitArguments& arguments) {
  return arguments.dt.empty() ? std::nullopt : std::optional(parse_number("--dt", arguments.dt));
}

void check_same_step(const FitArguments& arguments, std::size_t file, double dt, double expected) {
  constexpr double kTolerance = 1e-6;  // relative, as within a file
  if (std::abs(dt - expected) > kTolerance * expected) {
    throw InputError(fmt::format("{}: its rows are {:.6g} s apart, those of {} {:.6g} s; expected the same",
                                 arguments.files[file], dt, arguments.files.front(), expected));
  }
}

/// Reads every file; sets the time step of the model.
ssm::Dataset read_data(const FitArguments& arguments, ssm::ModelSpec& spec) {
  const std::optional<double> dt = given_dt(arguments);
  ssm::Dataset data;
  for (const std::string& file : arguments.files) {
    Recording recording = read_recording(file, arguments, spec, dt);
    if (data.empty()) {
      spec.dt = recording.dt;
    }
    check_same_step(arguments, data.size(), recording.dt, spec.dt);
    data.push_back(std::move(recording.sequence));
  }
  return data;
}

/// Where the rows are: in memory, or, when training by batches, still in their files.
struct TrainingData {
  ssm::Dataset held;
  std::optional<study::CsvRecordings> streamed;
};

/// Reads or scans every file; sets the time step of the model.
TrainingData open_data(const FitArguments& arguments, bool by_batches, ssm::ModelSpec& spec) {
  TrainingData data;
  if (!by_batches) {
    data.held = read_data(arguments, spec);
    Index rows = 0;
    for (const ssm::Sequence& sequence : data.held) {
      rows += sequence.rows();
    }
    if (rows > kManyRows) {
      fmt::print(stderr, "gpilot: note: {} rows at once take long and much memory; --batch 2000 trains on parts\n",
                 rows);
    }
    return data;
  }
  data.streamed.emplace(arguments.files, spec.inputs, spec.outputs, arguments.rows, given_dt(arguments));
  spec.dt = data.streamed->dt(0);
  for (Index k = 1; k < data.streamed->count(); ++k) {
    check_same_step(arguments, static_cast<std::size_t>(k), data.streamed->dt(k), spec.dt);
  }
  return data;
}

ssm::Model identify(const FitArguments& arguments, const TrainingData& data, const ssm::ModelSpec& spec) {
  inference::IdentifyOptions options = identify_options_from(arguments);
  const InterruptGuard guard;
  options.stop = &InterruptGuard::requested();
  ProgressLine line(arguments.verbose);
  options.on_progress = [&line](const inference::Progress& p) { line.show(p.stage, p.fraction, p.objective); };
  return inference::identify(data.held, spec, options);
}

ssm::Model train(const FitArguments& arguments, const TrainingData& data, const ssm::ModelSpec& spec,
                 const ssm::Model* previous) {
  inference::FitOptions options = options_from(arguments);
  const InterruptGuard guard;
  options.stop = &InterruptGuard::requested();
  ProgressLine line(arguments.verbose);
  options.on_progress = [&line](const inference::Progress& p) { line.show(p.stage, p.fraction, p.objective); };
  if (data.streamed) {
    return inference::fit_batches(*data.streamed, spec, options, *batches_from(arguments));
  }
  return inference::fit(data.held, spec, options, previous);
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

bool too_short_to_validate(const ssm::Dataset& data) {
  return std::ranges::all_of(
      data, [](const ssm::Sequence& sequence) { return sequence.rows() < inference::kShortestValidated; });
}

void run_fit(const FitArguments& arguments) {
  if (arguments.output == "-") {
    throw InputError("-o: a model needs a file, it cannot go to standard output");
  }
  std::optional<ssm::Model> previous;
  if (!arguments.from.empty()) {
    previous = study::load_model(arguments.from);
  }
  bool identified = identifies(arguments);
  ssm::ModelSpec spec =
      identified ? identified_spec_from(arguments) : spec_from(arguments, previous ? &previous->spec : nullptr);
  if (identified) {
    identify_options_from(arguments).validate();
  } else {
    options_from(arguments).validate();
  }
  const bool by_batches = !identified && batches_from(arguments).has_value();
  const TrainingData data = open_data(arguments, by_batches, spec);
  if (identified && !asks_for_structure(arguments) && too_short_to_validate(data.held)) {
    fmt::print(stderr,
               "gpilot: note: no recording has {} rows to validate structures by; the states are taken as declared\n",
               inference::kShortestValidated);
    const double dt = spec.dt;
    spec = spec_from(arguments, nullptr);
    spec.dt = dt;
    identified = false;
  }
  check_savable(arguments.output, spec);
  const ssm::Model model =
      identified ? identify(arguments, data, spec) : train(arguments, data, spec, previous ? &*previous : nullptr);
  study::save_model(arguments.output, model);
  if (arguments.format == Format::kJson) {
    print_json(arguments, model);
  } else {
    print_report(arguments, model);
  }
  if (model.report.status == "interrupted") {
    std::fflush(stdout);
    throw Interrupted(fmt::format("interrupted: the best model so far is in {}", arguments.output));
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
