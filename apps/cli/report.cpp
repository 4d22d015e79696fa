#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "describe_report.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/report/page.hpp"
#include "gpilot/report/record.hpp"
#include "gpilot/study/study.hpp"
#include "new_data.hpp"
#include "options.hpp"
#include "progress_line.hpp"
#include "study_options.hpp"

namespace gpilot::cli {
namespace {

namespace fs = std::filesystem;

/// What the user typed; an empty text was not given.
struct ReportArguments {
  NewDataArguments data;  ///< its model is what is reported on, whatever that is
  std::string output = "report.html";
  std::string history = "auto";
  std::string lags = "20";
  bool record = false;
  Format format = Format::kText;
};

/// Below this many seconds of training a report trains all models of a study again without being asked to.
constexpr double kShortTraining = 20.0;

report::History history_of(const std::string& text, const study::Study& study) {
  if (text == "auto") {
    return report::training_seconds(study) <= kShortTraining ? report::History::kAll : report::History::kKept;
  }
  return text == "all" ? report::History::kAll : report::History::kKept;
}

report::Json study_report(const ReportArguments& arguments) {
  const study::Study study = study::Study::open(arguments.data.model, study::Access::kRead);
  note_damage(study);
  ProgressLine line(false);
  report::Json record = report::study_record(study, {.history = history_of(arguments.history, study),
                                                     .describe = describe_for_report,
                                                     .on_progress = [&](Index done, Index all) {
                                                       line.show(static_cast<double>(done) / static_cast<double>(all),
                                                                 "looking at what each model said");
                                                     }});
  line.finish();
  return record;
}

report::Json model_report(const ReportArguments& arguments) {
  NewData data = load_new_data(arguments.data, Outputs::kRequired);
  std::vector<report::NamedRecording> recordings;
  for (NewRecording& recording : data.recordings) {
    recordings.push_back({recording.name, std::move(recording.sequence), std::move(recording.times)});
  }
  return report::model_record(
      data.model, arguments.data.model, recordings,
      {.predict = data.options, .lags = parse_count("--lags", arguments.lags, 1), .describe = describe_for_report});
}

enum class Kind { kStudy, kComparison, kModel };

Kind kind_of(const std::string& source) {
  if (std::error_code ignored; fs::is_directory(source, ignored)) {
    const fs::path model = fs::path(source) / "model.json";
    const fs::path data = fs::path(source) / "data.csv";
    if (!fs::exists(fs::path(source) / "comparison.json") && fs::exists(model) && fs::exists(data)) {
      throw InputError(
          fmt::format("{}: holds an exploration, not a comparison: give its model and data, 'gpilot "
                      "report {} {}'",
                      source, model.string(), data.string()));
    }
    return Kind::kComparison;
  }
  return study::is_study(source) ? Kind::kStudy : Kind::kModel;
}

/// A page replaces a page of ours, a record a JSON file, and nothing else.
void check_output(const ReportArguments& arguments) {
  std::vector<std::string> inputs = arguments.data.files;
  inputs.push_back(arguments.data.model);
  io::check_not_input(arguments.output, inputs);
  io::check_replaceable(arguments.output, arguments.record ? io::FileKind::kJson : io::FileKind::kReport);
  io::check_writable(arguments.output);
}

void run_report(const CLI::App& command, const ReportArguments& arguments) {
  const Kind kind = kind_of(arguments.data.model);
  const bool with_data = kind == Kind::kModel && !arguments.data.files.empty();
  refuse_ignored(
      command,
      {{{"DATA"}, kind == Kind::kModel, "goes with a model"},
       {{"--history"}, kind == Kind::kStudy, "goes with a study"},
       {{"--format"}, arguments.output != "-", "goes with a file, not with standard output"},
       {{"--warmup", "--draws", "--seed", "--rows", "--dt", "--lags"}, with_data, "goes with a model and data"}});
  if (!arguments.record) {
    report::require_page();
  }
  const bool to_stdout = arguments.output == "-";
  if (!to_stdout) {
    check_output(arguments);
  }
  const report::Json record = kind == Kind::kStudy        ? study_report(arguments)
                              : kind == Kind::kComparison ? report::comparison_record(arguments.data.model)
                                                          : model_report(arguments);
  const std::string text = arguments.record ? report::embeddable(record) + '\n' : report::page(record);
  if (to_stdout) {
    fmt::print("{}", text);
    return;
  }
  io::write_file_atomically(arguments.output, text);
  if (arguments.format == Format::kJson) {
    const report::Json summary = {{"file", arguments.output},
                                  {"kind", record.at("kind")},
                                  {"title", record.at("title")},
                                  {"bytes", text.size()},
                                  {"notes", record.at("notes")}};
    fmt::print("{}\n", summary.dump(2, ' ', false, report::Json::error_handler_t::replace));
    return;
  }
  for (const report::Json& note : record.at("notes")) {
    fmt::print("{}\n", note.get<std::string>());
  }
  fmt::print("wrote the {} of {} to {} ({:.1f} MB){}\n", arguments.record ? "data of a report" : "report",
             arguments.data.model, arguments.output, 1e-6 * static_cast<double>(text.size()),
             arguments.record ? "" : ": open it in a browser");
}

}  // namespace

void add_report(CLI::App& app) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "one HTML file that shows a study, a comparison or a model, to open in a browser");
  NewDataArguments& data = arguments->data;
  data.command = command;
  command->add_option("SOURCE", data.model, "a study, the directory of a comparison, or a model file")->required();
  command->add_option("DATA", data.files, "recordings to look at a model by: its columns by name")
      ->type_name("FILE.csv");
  command->add_option("-o,--output", arguments->output, "the file to write; - for standard output")
      ->type_name("FILE.html")
      ->capture_default_str();
  command
      ->add_option("--history", arguments->history,
                   "models of a study to look at: those it keeps, or all, trained again; auto: all if that takes less "
                   "than 20 s")
      ->check(CLI::IsMember({"auto", "kept", "all"}))
      ->type_name("WHICH")
      ->capture_default_str();
  add_prediction_options(*command, data);
  command->add_option("--lags", arguments->lags, "lags of the correlations of residuals")
      ->type_name("K")
      ->capture_default_str();
  command->add_flag("--record", arguments->record, "write the data of the report, as JSON, instead of the page");
  add_format(*command, arguments->format);
  command->footer(
      "The file holds all it needs: it opens from the disk, without a network, in light and dark, on a phone and on\n"
      "paper. Every figure can be saved as SVG and its data as CSV. Reading a study does not disturb the run that\n"
      "writes it; 'gpilot serve' shows it live. Examples:\n"
      "  gpilot report rig.study -o rig.html\n"
      "  gpilot report comparison -o comparison.html\n"
      "  gpilot report model.json test.csv --warmup 10 -o model.html\n"
      "  gpilot report rig.study --record -o rig.json");
  command->callback([arguments, command] { run_report(*command, *arguments); });
}

}  // namespace gpilot::cli
