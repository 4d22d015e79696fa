#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/recordings.hpp"
#include "gpilot/study/study.hpp"
#include "new_data.hpp"
#include "options.hpp"
#include "study_options.hpp"

namespace gpilot::cli {
namespace {

struct ImportArguments {
  std::string study;
  std::vector<std::string> files;
  std::string config;
  bool from_start = false;
  Format format = Format::kText;
};

void read_file(const std::string& file, const study::StudyConfig& config, bool from_start,
               std::vector<ssm::Sequence>& sequences) {
  std::string note;
  for (io::Recording& recording :
       io::read_recordings({.file = file, .inputs = config.model.inputs, .outputs = config.model.outputs}, note)) {
    const io::RecordingInfo& info = recording.info;
    if (info.rows < 2) {
      throw InputError(fmt::format("{}: {} row(s), expected at least 2", info.name, info.rows));
    }
    if (info.dt && !io::same_step(*info.dt, config.model.dt, info.jitters)) {
      throw InputError(fmt::format("{}: its rows are {:.6g} s apart, those of the study {:.6g} s; expected the same",
                                   info.name, *info.dt, config.model.dt));
    }
    recording.sequence.broad_start = !from_start;
    sequences.push_back(std::move(recording.sequence));
  }
  print_note(note);
}

void run_import(const ImportArguments& arguments) {
  const study::StudyConfig config = arguments.config.empty()
                                        ? study::Study::open(arguments.study, study::Access::kRead).config()
                                        : study::load_config(arguments.config);
  std::vector<ssm::Sequence> recordings;  // all are read before one is stored, or a study is made for them
  for (const std::string& file : arguments.files) {
    read_file(file, config, arguments.from_start, recordings);
  }
  study::Study study = open_or_create(arguments.study, arguments.config);
  Index steps = 0;
  study.transaction([&] {
    for (const ssm::Sequence& recording : recordings) {
      steps += study.import(recording);
    }
  });
  if (arguments.format == Format::kJson) {
    fmt::print("{}\n", nlohmann::ordered_json{{"study", arguments.study},
                                              {"sequences", recordings.size()},
                                              {"steps", steps},
                                              {"measurements", study.told()}}
                           .dump(2));
  } else {
    fmt::print("imported {} measurement(s) in {} sequence(s); the study has {}\n", steps, recordings.size(),
               study.told());
  }
}

}  // namespace

void add_import(CLI::App& app) {
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* command = app.add_subcommand("import", "add measurements made before to a study");
  command->add_option("STUDY", arguments->study, "the study's file")->required();
  command
      ->add_option(
          "FILE", arguments->files,
          "recordings, a sequence each unless they have a column 'sequence'; columns by the configuration's names")
      ->required()
      ->type_name("FILE.csv");
  command->add_option("--config", arguments->config, "make the study from this configuration if it is not there")
      ->type_name("FILE.toml");
  command->add_flag("--from-start", arguments->from_start,
                    "the recordings begin at the declared start of the states (default: anywhere)");
  add_format(*command, arguments->format);
  command->footer(
      "Imported rows count as measurements: with as many as the configuration's study.initial, or more, the next\n"
      "control is chosen, not drawn. The current sequence ends. Examples:\n"
      "  gpilot import rig.study monday.csv tuesday.csv\n"
      "  gpilot import rig.study first.csv --config rig.toml --from-start");
  command->callback([arguments] { run_import(*arguments); });
}

}  // namespace gpilot::cli
