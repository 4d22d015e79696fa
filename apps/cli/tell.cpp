#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/study/study.hpp"
#include "options.hpp"
#include "study_options.hpp"

namespace gpilot::cli {
namespace {

/// What the user typed; an empty text was not given.
struct TellArguments {
  std::string study;
  std::string step;
  std::string outputs;
  std::string applied;
  std::string time;
  std::string status;
  std::string reason;
  bool correct = false;
  std::string why;
  Format format = Format::kText;
};

void print_result(const TellArguments& arguments, Index step, std::string_view result, const std::string& text) {
  if (arguments.format == Format::kJson) {
    fmt::print("{}\n", nlohmann::ordered_json{{"study", arguments.study}, {"step", step}, {"result", result}}.dump(2));
  } else {
    fmt::print("step {}: {}\n", step, text);
  }
}

void tell_failure(const TellArguments& arguments, Index step) {
  const study::StepStatus status = study::step_status_from_name(arguments.status);
  study::Study study = study::Study::open(arguments.study);
  study.fail(step, status, arguments.reason);
  const study::StudyConfig& config = study.config();
  print_result(arguments, step, arguments.status,
               fmt::format("{}; its sequence has ended, the next step begins another, from the safe control: {}",
                           arguments.status, with_units(config.model.inputs, config.input_units, config.explore.safe)));
}

/// What to say of outputs that are kept and not learned from; "" if there are none.
std::string set_aside(const study::StudyConfig& config, const Vector& outputs) {
  const std::string words = study::implausible_words(config, outputs);
  return words.empty() ? "" : fmt::format("; careful: {}: kept, but not learned from", words);
}

/// What to say of an applied control that gpilot would not have chosen; "" if it might have.
std::string outside_box(const study::StudyConfig& config, const std::optional<Vector>& applied) {
  for (Index p = 0; applied && p < std::min(applied->size(), config.box.low.size()); ++p) {
    if (const double u = (*applied)(p); u < config.box.low(p) || u > config.box.high(p)) {
      return fmt::format("; careful: {} = {} lies outside {} to {}: taken as applied",
                         config.model.inputs[static_cast<std::size_t>(p)], u, config.box.low(p), config.box.high(p));
    }
  }
  return "";
}

void tell_correction(const TellArguments& arguments, Index step) {
  const Vector outputs = parse_outputs("--y", arguments.outputs);
  std::optional<Vector> applied;
  if (!arguments.applied.empty()) {
    applied = parse_numbers("--u", arguments.applied);
  }
  study::Study study = study::Study::open(arguments.study, study::Access::kRepair);
  const bool changed = study.correct(step, outputs, applied, arguments.why);
  print_result(arguments, step, changed ? "corrected" : "repeated",
               changed ? "corrected; what was told before stays on record, models that had learned from it decide no "
                         "more" +
                             set_aside(study.config(), outputs) + outside_box(study.config(), applied)
                       : "has these values already; nothing changed");
}

void tell_outputs(const TellArguments& arguments, Index step) {
  const Vector outputs = parse_outputs("--y", arguments.outputs);
  std::optional<Vector> applied;
  if (!arguments.applied.empty()) {
    applied = parse_numbers("--u", arguments.applied);
  }
  std::optional<double> time;
  if (!arguments.time.empty()) {
    time = parse_number("--time", arguments.time);
  }
  study::Study study = study::Study::open(arguments.study);
  switch (study.tell(step, outputs, applied, time)) {
    case study::Told::kAccepted:
      print_result(arguments, step, "accepted",
                   fmt::format("told; the study has {} measurement(s){}{}", study.told(),
                               set_aside(study.config(), outputs), outside_box(study.config(), applied)));
      break;
    case study::Told::kRepeated:
      print_result(arguments, step, "repeated", "has been told the same before; nothing changed");
      break;
    case study::Told::kLate:
      print_result(arguments, step, "late",
                   fmt::format("had been given up ({}): the outputs are kept, but not learned from",
                               study::name(study.steps()[static_cast<std::size_t>(step - 1)].status)));
      break;
  }
}

void run_tell(const CLI::App& command, const TellArguments& arguments) {
  const auto given = [&command](const char* option) { return command.count(option) > 0; };
  const Index step = parse_count("--step", arguments.step, 1);
  if (given("--y") == given("--status")) {
    throw InputError("expected the outputs (--y) or a failure (--status), one of the two");
  }
  refuse_ignored(command, {{{"--u", "--time"}, given("--y"), "goes with --y, not with --status"},
                           {{"--reason"}, given("--status"), "goes with --status"},
                           {{"--correct"}, given("--y"), "goes with --y"},
                           {{"--time"}, !arguments.correct, "does not go with --correct, which keeps the time"},
                           {{"--why"}, arguments.correct, "goes with --correct"}});
  if (arguments.correct) {
    tell_correction(arguments, step);
  } else if (!arguments.status.empty()) {
    tell_failure(arguments, step);
  } else {
    tell_outputs(arguments, step);
  }
}

}  // namespace

void add_tell(CLI::App& app) {
  const auto arguments = std::make_shared<TellArguments>();
  CLI::App* command = app.add_subcommand("tell", "what came back from a step of a study");
  command->add_option("STUDY", arguments->study, "the study's file")->required();
  command->add_option("--step", arguments->step, "the step's number, as 'gpilot ask' gave it")
      ->required()
      ->type_name("K");
  command->add_option("--y", arguments->outputs, "its outputs, in order; nan is a missing one")->type_name("Y,..");
  command->add_option("--u", arguments->applied, "the control that was applied, if not the one asked for")
      ->type_name("U,..");
  command->add_option("--time", arguments->time, "the rig's own time in s")->type_name("T");
  command->add_option("--status", arguments->status, "the step has no outputs: failed, unsafe or unknown")
      ->type_name("STATUS");
  command->add_option("--reason", arguments->reason, "why, for the record")->type_name("TEXT");
  command->add_flag("--correct", arguments->correct,
                    "other values for a step that was told; the old ones stay on record");
  command->add_option("--why", arguments->why, "why they are corrected, for the record")->type_name("TEXT");
  add_format(*command, arguments->format);
  command->footer(
      "On the disk when the command ends. The same told twice counts once, anything else is refused, unless it is a\n"
      "correction ('gpilot void' is for a measurement that is wrong and cannot be corrected). An output beyond\n"
      "plausible_low and plausible_high of the configuration is kept, but not learned from. Examples:\n"
      "  gpilot tell rig.study --step 7 --y 0.31\n"
      "  gpilot tell rig.study --step 7 --y 0.31,nan --u 0.48\n"
      "  gpilot tell rig.study --step 7 --y 0.031 --correct --why \"wrong unit\"\n"
      "  gpilot tell rig.study --step 7 --status failed --reason \"the motor stalled\"");
  command->callback([arguments, command] { run_tell(*command, *arguments); });
}

}  // namespace gpilot::cli
