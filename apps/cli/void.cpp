#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/study/study.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

/// What the user typed; an empty text was not given.
struct VoidArguments {
  std::string study;
  std::string step;
  std::string sequence;
  std::string why;
  Format format = Format::kText;
};

void run_void(const VoidArguments& arguments) {
  if (arguments.step.empty() == arguments.sequence.empty()) {
    throw InputError("expected a step (--step) or the first row of a sequence (--sequence), one of the two");
  }
  const bool is_step = !arguments.step.empty();
  const Index id =
      is_step ? parse_count("--step", arguments.step, 1) : parse_count("--sequence", arguments.sequence, 1);
  study::Study study = study::Study::open(arguments.study, study::Access::kRepair);
  const bool changed = is_step ? study.void_step(id, arguments.why) : study.void_start(id, arguments.why);
  if (arguments.format == Format::kJson) {
    fmt::print("{}\n", nlohmann::ordered_json{{"study", arguments.study},
                                              {is_step ? "step" : "sequence", id},
                                              {"result", changed ? "voided" : "repeated"}}
                           .dump(2));
    return;
  }
  const std::string what = is_step ? fmt::format("step {}", id) : fmt::format("first row of sequence {}", id);
  fmt::print("{}: {}\n", what,
             changed ? "voided: its outputs stay on record and count as missing; models that had learned from them "
                       "decide no more"
                     : "its outputs count as missing already; nothing changed");
}

}  // namespace

void add_void(CLI::App& app) {
  const auto arguments = std::make_shared<VoidArguments>();
  CLI::App* command = app.add_subcommand("void", "take a wrong measurement out of what a study learns from");
  command->add_option("STUDY", arguments->study, "the study's file")->required();
  command->add_option("--step", arguments->step, "the step whose outputs are wrong")->type_name("K");
  command->add_option("--sequence", arguments->sequence, "the sequence whose outputs before the first step are wrong")
      ->type_name("K");
  command->add_option("--why", arguments->why, "for the record")->required()->type_name("TEXT");
  add_format(*command, arguments->format);
  command->footer(
      "The outputs are kept in the record and count as missing from now on; the control that was applied stays, so "
      "that\n"
      "what follows in the sequence is learned from as before. The next 'gpilot ask' or 'gpilot run' trains without\n"
      "them. A step that the file no longer holds as it was measured (wrong checksum) is repaired in the same way.\n"
      "'gpilot tell --correct' gives other values instead. Examples:\n"
      "  gpilot void rig.study --step 7 --why \"the sensor was loose\"\n"
      "  gpilot void rig.study --sequence 2 --why \"read before the reset was over\"");
  command->callback([arguments] { run_void(*arguments); });
}

}  // namespace gpilot::cli
