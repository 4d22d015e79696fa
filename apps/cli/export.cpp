#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "describe_study.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/study.hpp"
#include "options.hpp"
#include "study_options.hpp"

namespace gpilot::cli {
namespace {

/// What the user typed; an empty text was not given.
struct ExportArguments {
  std::string study;
  bool csv = false;
  bool json = false;
  bool model = false;
  std::string step;
  bool config = false;
  bool force = false;
  std::string sequence;
  std::string output = "-";
};

/// All rows that have been measured: sequence, step (0 = before the first), t, inputs, outputs. What is not learned
/// from is missing.
io::Table rows_of(const study::Study& study, Index only_sequence) {
  const ssm::ModelSpec& spec = study.config().model;
  const auto P = static_cast<Index>(spec.inputs.size());
  const auto E = static_cast<Index>(spec.outputs.size());
  std::vector<Vector> rows;
  for (const study::SequenceRecord& sequence : study.sequences()) {
    if (only_sequence > 0 && sequence.id != only_sequence) {
      continue;
    }
    const auto row = [&](Index step, Index t, const Vector& outputs) {
      Vector values = Vector::Constant(3 + P + E, kNaN);
      values(0) = static_cast<double>(sequence.id);
      values(1) = static_cast<double>(step);
      values(2) = static_cast<double>(t) * spec.dt;
      values.tail(E) = outputs;
      rows.push_back(values);
    };
    const std::size_t first = rows.size();
    row(0, 0, study.config().explore.learnable(sequence.outputs));
    Index t = 0;
    for (const study::StepRecord& step : study.steps()) {
      if (step.sequence == sequence.id && step.status == study::StepStatus::kTold) {
        rows.back().segment(3, P) = step.applied;
        row(step.id, ++t,
            step.voided ? Vector(Vector::Constant(E, kNaN)) : study.config().explore.learnable(step.outputs));
      }
    }
    if (t == 0) {
      rows.resize(first);
    }
  }
  if (rows.empty()) {
    throw InputError(fmt::format("{}: nothing has been measured{}", study.path(),
                                 only_sequence > 0 ? fmt::format(" in sequence {}", only_sequence) : ""));
  }
  Matrix values(static_cast<Index>(rows.size()), 3 + P + E);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values.row(static_cast<Index>(i)) = rows[i].transpose();
  }
  io::Table table;
  table.append(std::vector<std::string>{"sequence", "step", "t"}, values.leftCols(3));
  table.append(spec.inputs, values.middleCols(3, P));
  table.append(spec.outputs, values.rightCols(E));
  return table;
}

/// The newest model, or the one that there was after a step.
std::shared_ptr<const ssm::Model> model_of(const study::Study& study, const std::string& step_text) {
  if (step_text.empty()) {
    if (study.model() == nullptr) {
      throw InputError(fmt::format("{}: there is no model yet", study.path()));
    }
    return study.model();
  }
  const Index step = parse_count("--step", step_text, 1);
  if (step > static_cast<Index>(study.steps().size())) {
    throw InputError(fmt::format("--step: {}, but the study has {} step(s)", step, study.steps().size()));
  }
  std::shared_ptr<const ssm::Model> model = study.model_at(step);
  if (!model) {
    throw InputError(fmt::format("{}: there was no model yet after step {}", study.path(), step));
  }
  return model;
}

/// What is exported replaces a file of its own kind; a configuration only where that is asked for, as `gpilot init`
/// does, since somebody may have written it.
void check_export_target(const ExportArguments& arguments) {
  const std::string& path = arguments.output;
  io::check_replaceable(path, arguments.model    ? io::FileKind::kModel
                              : arguments.json   ? io::FileKind::kJson
                              : arguments.config ? io::FileKind::kConfig
                                                 : io::FileKind::kTable);
  if (arguments.config && !arguments.force && io::kind_of_file(path) == io::FileKind::kConfig) {
    throw InputError(fmt::format("{}: a configuration is there already; --force replaces it", path));
  }
  io::check_writable(path);
}

void run_export(const CLI::App& command, const ExportArguments& arguments) {
  refuse_ignored(command,
                 {{{"--sequence"}, !arguments.json && !arguments.model && !arguments.config, "goes with --csv"},
                  {{"--step"}, arguments.model, "goes with --model"},
                  {{"--force"}, arguments.config, "goes with --config"}});
  const study::Study study = study::Study::open(arguments.study, study::Access::kRead);
  note_damage(study);
  if (arguments.output != "-") {
    check_export_target(arguments);  // before a model is trained again
  }
  const Index sequence = arguments.sequence.empty() ? 0 : parse_count("--sequence", arguments.sequence, 1);
  std::string text;
  if (arguments.model) {
    text = io::format_model(*model_of(study, arguments.step));
  } else if (arguments.json) {
    text = study_json_text(study) + "\n";
  } else if (arguments.config) {
    text = study.config_text();
  } else {
    text = io::format_csv(rows_of(study, sequence));
  }
  if (arguments.output == "-") {
    fmt::print("{}", text);
  } else {
    io::write_file_atomically(arguments.output, text);
    fmt::print("wrote {}\n", arguments.output);
  }
}

}  // namespace

void add_export(CLI::App& app) {
  const auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command = app.add_subcommand("export", "a study's measurements, record, model or configuration as a file");
  command->add_option("STUDY", arguments->study, "the study's file")->required();
  CLI::Option* csv = command->add_flag("--csv", arguments->csv, "all measured rows (the default)");
  CLI::Option* json = command->add_flag("--json", arguments->json, "everything that happened, models apart");
  CLI::Option* model = command->add_flag("--model", arguments->model, "the newest model, for predict, score and show");
  CLI::Option* config = command->add_flag("--config", arguments->config, "the configuration it was made with");
  json->excludes(csv);
  model->excludes(csv)->excludes(json);
  config->excludes(csv)->excludes(json)->excludes(model);
  command->add_option("--sequence", arguments->sequence, "the rows of one sequence only, e.g. for 'gpilot fit'")
      ->type_name("K");
  command->add_option("--step", arguments->step, "the model as it was after this step, trained again if need be")
      ->type_name("K");
  command->add_flag("--force", arguments->force, "replace a configuration that is there");
  command->add_option("-o,--output", arguments->output, "the file; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command->footer(
      "The CSV has the columns sequence, step (0 is the row before the first step), t, the inputs and the outputs; a\n"
      "row's inputs are what was applied from it on; outputs that were voided or are not plausible are empty. The "
      "study\n"
      "keeps its newest models; an older one is trained again from the first measurement on, which takes as long as "
      "it\n"
      "did then. Reading a study does not disturb the run that writes it. Examples:\n"
      "  gpilot export rig.study --csv -o rig.csv\n"
      "  gpilot export rig.study --model -o model.json\n"
      "  gpilot export rig.study --model --step 20 -o model20.json\n"
      "  gpilot export rig.study --json | less");
  command->callback([arguments, command] { run_export(*command, *arguments); });
}

}  // namespace gpilot::cli
