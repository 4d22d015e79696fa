#include "gpilot/inference/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "describe_model.hpp"
#include "fit_arguments.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/identify/identify.hpp"
#include "gpilot/identify/validation.hpp"
#include "gpilot/inference/batches.hpp"
#include "gpilot/inference/suggest.hpp"
#include "gpilot/io/csv_recordings.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/recordings.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/report.hpp"
#include "interrupt.hpp"
#include "new_data.hpp"
#include "progress_line.hpp"

namespace gpilot::cli {

namespace {

constexpr Index kManyRows = 200000;  ///< from here on batches are recommended

std::optional<double> given_dt(const FitArguments& arguments) {
  return arguments.dt.empty() ? std::nullopt : std::optional(parse_number("--dt", arguments.dt));
}

/// Says which inputs never change: a fit would tell nothing of them.
void note_constant_inputs(const ssm::Dataset& data, const ssm::ModelSpec& spec) {
  for (std::size_t p = 0; p < spec.inputs.size(); ++p) {
    const auto column = static_cast<Index>(p);
    const double value = data.front().controls(0, column);
    const bool constant = std::ranges::all_of(data, [&](const ssm::Sequence& s) {
      const auto u = s.controls.col(column).array();
      return (u == value || u.isNaN()).all();
    });
    if (constant) {
      print_note(fmt::format("the input '{}' is {} in all rows: nothing can be learned of what it does", spec.inputs[p],
                             value));
    }
  }
}

/// Reads every file; sets the time step of the model.
ssm::Dataset read_data(const FitArguments& arguments, ssm::ModelSpec& spec) {
  ssm::Dataset data;
  std::optional<io::RecordingInfo> first;
  for (const std::string& file : arguments.files) {
    std::string note;
    for (io::Recording& recording : io::read_recordings({.file = file,
                                    .inputs = spec.inputs,
                                    .outputs = spec.outputs,
                                    .rows = arguments.rows,
                                    .dt = given_dt(arguments)},
                                                        note)) {
      if (recording.info.rows < 2) {
        throw InputError(
            fmt::format("{}: {} row(s), expected at least 2 to learn from", recording.info.name, recording.info.rows));
      }
      first = first.value_or(recording.info);
      io::check_same_step(recording.info, *first);
      data.push_back(std::move(recording.sequence));
    }
    print_note(note);
  }
  if (!first->dt) {
    print_note("no column of times (t): rows are taken to be 1 s apart; --dt says otherwise");
  }
  spec.dt = first->dt.value_or(1.0);
  note_constant_inputs(data, spec);
  return data;
}

/// Where the rows are: in memory, or, when training by batches, still in their files.
struct TrainingData {
  ssm::Dataset held;
  std::optional<io::CsvRecordings> streamed;
};

/// Reads or scans every file; sets the time step of the model.
TrainingData open_data(const FitArguments& arguments, bool by_batches, ssm::ModelSpec& spec) {
  for (const std::string& name : spec.outputs) {
    if (std::ranges::find(spec.inputs, name) != spec.inputs.end()) {
      throw InputError(fmt::format("--outputs: the column '{}' is an input already, expected another one", name));
    }
  }
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
    io::check_same_step(data.streamed->info(k), data.streamed->info(0));
  }
  for (const std::string& note : data.streamed->notes()) {
    print_note(note);
  }
  return data;
}

ssm::Model identify(const FitArguments& arguments, const TrainingData& data, const ssm::ModelSpec& spec) {
  identify::IdentifyOptions options = identify_options_from(arguments);
  const InterruptGuard guard;
  options.stop = &InterruptGuard::requested();
  ProgressLine line(arguments.verbose);
  options.on_progress = [&line](const inference::Progress& p) { line.show(p.stage, p.fraction, p.objective); };
  return identify::identify(data.held, spec, options);
}

ssm::Model train(const FitArguments& arguments, const TrainingData& data, const ssm::ModelSpec& spec,
                 const ssm::Model* previous) {
  inference::FitOptions options = arguments.fit;
  const InterruptGuard guard;
  options.stop = &InterruptGuard::requested();
  ProgressLine line(arguments.verbose);
  options.on_progress = [&line](const inference::Progress& p) { line.show(p.stage, p.fraction, p.objective); };
  if (data.streamed) {
    return inference::fit_batches(*data.streamed, spec, options, arguments.batches);
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
  print_knowledge(model);
  if (!model.report.structure.empty()) {
    fmt::print("Trained in {:.1f} s. ", model.report.seconds);
  }
  fmt::print("Wrote {}; 'gpilot show {}' explains it.\n", arguments.output, arguments.output);
}

std::vector<inference::Suggestion> suggest(const FitArguments& arguments, const TrainingData& data,
                                           const ssm::ModelSpec& spec) {
  inference::FitOptions options = arguments.fit;
  const InterruptGuard guard;
  options.stop = &InterruptGuard::requested();
  ProgressLine line(arguments.verbose);
  return inference::suggest(data.held, spec, options, [&line](const std::string& what, double fraction) {
    line.show(fraction, fmt::format("trying: {}", what));
  });
}

void print_suggestions(const std::vector<inference::Suggestion>& suggestions) {
  if (suggestions.empty()) {
    return;
  }
  fmt::print(
      "What could be declared, one thing at a time: errors of free runs over rows not learned from, against the model\n"
      "above, and the difference of mean squares over paired runs with its standard error. Nothing of it is "
      "adopted.\n");
  fmt::print("  {:<13} {:>8}  {:>22}  {}\n", "the data say", "rmse", "difference", "declaration");
  for (const inference::Suggestion& s : suggestions) {
    fmt::print("  {:<13} {:>8.4g}  {:>10.2g} +- {:<8.2g}  {} ({})\n", name(s.verdict()), s.rmse, s.difference, s.sd,
               s.what, s.option);
  }
  fmt::print(
      "  as declared   {:>8.4g}, {} runs; supported: better by two standard errors, contradicted: worse by one\n",
      suggestions.front().without, suggestions.front().runs);
}

nlohmann::ordered_json suggestions_json(const std::vector<inference::Suggestion>& suggestions) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const inference::Suggestion& s : suggestions) {
    list.push_back({{"declaration", s.what},
                    {"option", s.option},
                    {"verdict", name(s.verdict())},
                    {"rmse", s.rmse},
                    {"without", s.without},
                    {"difference", s.difference},
                    {"sd", s.sd},
                    {"runs", s.runs}});
  }
  return list;
}

void print_json(const FitArguments& arguments, const ssm::Model& model,
                const std::vector<inference::Suggestion>& suggestions) {
  nlohmann::ordered_json report = {{"model", arguments.output}, {"files", arguments.files}};
  report.update(model_json(model));
  report["training"]["seconds"] = model.report.seconds;
  report["training"]["trace"] = model.report.trace;
  if (arguments.suggest) {
    report["suggestions"] = suggestions_json(suggestions);
  }
  fmt::print("{}\n", report.dump(2));
}

/// What would make saving fail is found before the long work, not after: the path, or names that are not UTF-8.
void check_savable(const std::string& path, const ssm::ModelSpec& spec) {
  io::check_writable(path);
  io::check_replaceable(path, io::FileKind::kModel);
  ssm::Model untrained;
  untrained.spec = spec;
  io::format_model(untrained);
}

bool too_short_to_validate(const ssm::Dataset& data) {
  return std::ranges::all_of(
      data, [](const ssm::Sequence& sequence) { return sequence.rows() < identify::kShortestValidated; });
}

void run_fit(const FitArguments& arguments) {
  if (arguments.output == "-") {
    throw InputError("-o: a model needs a file, it cannot go to standard output");
  }
  bool identified = identifies(arguments);
  check_fit_options(arguments, identified);
  io::check_not_input(arguments.output, arguments.files);
  io::check_not_input(arguments.output, std::vector<std::string>{arguments.from});
  std::optional<ssm::Model> previous;
  if (!arguments.from.empty()) {
    previous = io::load_model(arguments.from);
  }
  ssm::ModelSpec spec =
      identified ? identified_spec_from(arguments) : spec_from(arguments, previous ? &previous->spec : nullptr);
  if (identified) {
    identify_options_from(arguments).validate();
  } else {
    arguments.fit.validate();
  }
  const bool by_batches = !identified && arguments.given("--batch");
  const TrainingData data = open_data(arguments, by_batches, spec);
  if (identified && !asks_for_structure(arguments) && too_short_to_validate(data.held)) {
    fmt::print(stderr,
               "gpilot: note: no recording has {} rows to validate structures by; the states are taken as declared\n",
               identify::kShortestValidated);
    const double dt = spec.dt;
    spec = spec_from(arguments, nullptr);
    spec.dt = dt;
    identified = false;
  }
  check_savable(arguments.output, spec);
  const ssm::Model model =
      identified ? identify(arguments, data, spec) : train(arguments, data, spec, previous ? &*previous : nullptr);
  io::save_model(arguments.output, model);
  std::vector<inference::Suggestion> suggestions;
  if (arguments.suggest) {
    suggestions = suggest(arguments, data, spec);
  }
  if (arguments.format == Format::kJson) {
    print_json(arguments, model, suggestions);
  } else {
    print_report(arguments, model);
    print_suggestions(suggestions);
  }
  if (model.report.status == ssm::FitStatus::kInterrupted) {
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
