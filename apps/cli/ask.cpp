#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "describe_study.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/study/study.hpp"
#include "gpilot/study/study_checks.hpp"
#include "options.hpp"
#include "study_options.hpp"

namespace gpilot::cli {
namespace {

/// What the user typed; an empty text was not given.
struct AskArguments {
  std::string study;
  std::string config;
  bool suggest = false;
  bool after_reset = false;
  bool after_pause = false;
  std::string outputs;
  Format format = Format::kText;
};

void print_step(const AskArguments& arguments, const study::Study& study, const study::Step& step) {
  const study::StudyConfig& config = study.config();
  if (arguments.format == Format::kJson) {
    const nlohmann::ordered_json json = {
        {"study", arguments.study},
        {"step", step.id},
        {"sequence", step.sequence},
        {"phase", plan::name(step.choice.phase)},
        {"inputs", config.model.inputs},
        {"u", std::vector<double>(step.choice.control.begin(), step.choice.control.end())},
        {"criterion", step.choice.criterion},
        {"violation", step.choice.violation},
        {"safe", step.choice.safe},
        {"asked", !arguments.suggest || study.pending() != nullptr}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("step {}: {}\n", step.id, with_units(config.model.inputs, config.input_units, step.choice.control));
  if (!step.choice.safe) {
    fmt::print("careful: {}\n", no_safe_plan(step.choice.violation));
  }
  if (const std::string enough = study.sure_enough(); !enough.empty()) {
    fmt::print("nothing more needs to be measured: {}\n", enough);
  }
  if (!arguments.suggest) {
    fmt::print("then: gpilot tell {} --step {} --y {}\n", arguments.study, step.id,
               fmt::join(config.model.outputs, ","));
  }
}

void run_ask(const CLI::App& command, const AskArguments& arguments) {
  const bool begins = arguments.after_reset || arguments.after_pause;
  refuse_ignored(command, {{{"--after-reset", "--after-pause", "--config"},
                            !arguments.suggest,
                            "does not go with --suggest, which changes nothing"},
                           {{"--y"},
                            begins,
                            "the outputs of a first row go with --after-reset or --after-pause; those of a step are "
                            "told by 'gpilot tell'"}});
  if (arguments.suggest) {
    study::Study study = study::Study::open(arguments.study, study::Access::kRead);
    print_step(arguments, study, study.suggest());
    return;
  }
  const Vector outputs = arguments.outputs.empty() ? Vector() : parse_outputs("--y", arguments.outputs);
  // No study is made for outputs that it could not take.
  study::Study study = open_or_create(arguments.study, arguments.config, [&] {
    if (outputs.size() > 0) {
      study::check_values("--y", outputs, study::load_config(arguments.config).model.outputs, true);
    }
  });
  if (begins) {
    study.new_sequence(arguments.after_reset ? study::SequenceOrigin::kReset : study::SequenceOrigin::kBroken, outputs,
                       arguments.after_reset ? "the system was reset" : "after a pause");
  }
  print_step(arguments, study, study.ask());
}

}  // namespace

void add_ask(CLI::App& app) {
  const auto arguments = std::make_shared<AskArguments>();
  CLI::App* command = app.add_subcommand("ask", "the next control of a study, to apply by hand");
  command->add_option("STUDY", arguments->study, "the study's file")->required();
  command->add_option("--config", arguments->config, "make the study from this configuration if it is not there")
      ->type_name("FILE.toml");
  command->add_flag("--suggest", arguments->suggest, "only say what would be asked; nothing is stored");
  CLI::Option* reset = command->add_flag("--after-reset", arguments->after_reset,
                                         "the system was brought to its declared start: begin a new sequence there");
  command
      ->add_flag("--after-pause", arguments->after_pause,
                 "time has passed since the last step: begin a new sequence, whose state may be anything")
      ->excludes(reset);
  command->add_option("--y", arguments->outputs, "outputs before the first step of the new sequence")
      ->type_name("Y,..");
  add_format(*command, arguments->format);
  command->footer(
      "Trains first if that is due. Asked again before its outputs were told, a step is the same. Examples:\n"
      "  gpilot init rig.toml && gpilot ask rig.study --config rig.toml\n"
      "  gpilot ask rig.study --format json\n"
      "  gpilot ask rig.study --after-reset --y 0.01");
  command->callback([arguments, command] { run_ask(*command, *arguments); });
}

}  // namespace gpilot::cli
