#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "commands.hpp"
#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/error.hpp"
#include "options.hpp"
#include "run_rig.hpp"
#include "run_simulation.hpp"

namespace gpilot::cli {
namespace {

/// Options that make no sense for what is run are mistakes, not to be ignored.
void refuse(const CLI::App& command, std::initializer_list<const char*> options, const std::string& needs) {
  for (const char* option : options) {
    if (command.count(option) > 0) {
      throw InputError(fmt::format("{}: {}", option, needs));
    }
  }
}

void run_configuration(const CLI::App& command, const RunArguments& arguments) {
  refuse(command,
         {"--strategy", "--initial", "--controls-initial", "--retrain-every", "--seed", "--paper", "--angles", "--box",
          "--observe-states", "--limit", "--delta", "--until-sd", "--horizon", "--plan-hold", "--commit",
          "--plan-evaluations", "--plan-ms", "--plan-draws", "--region"},
         "goes with a simulated system; for a rig the configuration says it");
  run_rig_study({.config = arguments.target,
                 .study = arguments.output,
                 .rig = arguments.rig,
                 .steps = command.count("--steps") > 0 ? arguments.steps : "",
                 .period = arguments.period,
                 .resume = arguments.resume,
                 .format = arguments.format});
}

void add_options(CLI::App& command, RunArguments& arguments) {
  command
      .add_option("--strategy", arguments.strategy,
                  fmt::format("how to choose the control: {}", fmt::join(acquisition::strategy_names(), ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--steps", arguments.steps, "controls to choose")->type_name("N")->capture_default_str();
  command
      .add_option("--initial", arguments.initial,
                  "measurements under random controls before the first choice, at least 2")
      ->type_name("N")
      ->default_str("5");
  command.add_option("--controls-initial", arguments.initial_controls, "their controls, a row each, columns by name")
      ->type_name("FILE.csv");
  command.add_option("--retrain-every", arguments.retrain_every, "steps between two trainings")
      ->type_name("K")
      ->capture_default_str();
  add_seed(command, arguments.seed);
  command.add_flag("--paper", arguments.paper, "the paper's kernels, initial values and training");
  command.add_flag("--angles", arguments.angles,
                   "tell the model which states are angles; errors of angles are those to the nearest turn");
  command.add_option("--box", arguments.box, "range of each control")->type_name("LOW:HIGH,..");
  add_observe_states(command, arguments.observe_states);
  add_limits(command, arguments.limits);
  add_planning(command, arguments.planning);
  command
      .add_option(
          "--region", arguments.region,
          "where the model will be used, for imse and local: th=-0.8:0.8,c=-0.3:0.3 (default: where runs of the "
          "model under all kinds of controls lead)")
      ->type_name("NAME=LOW:HIGH,..")
      ->group("Planning");
  command
      .add_option("--until-sd", arguments.until_sd,
                  "stop when the model's standard deviation where it will be used falls below S; 1 is that of a value "
                  "spread evenly over its range")
      ->type_name("S");
  command.add_option("--rig", arguments.rig, "command that starts the rig (default: rig.command of the configuration)")
      ->type_name("COMMAND");
  command.add_flag("--resume", arguments.resume, "go on with the study if it is there");
  command
      .add_option("--period", arguments.period, "real time: seconds between two steps; training goes on beside them")
      ->type_name("SECONDS");
}

}  // namespace

void add_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "explore a system: choose controls, measure, learn");
  command
      ->add_option("TARGET", arguments->target,
                   "a simulated system ('gpilot systems' lists them), or the configuration FILE.toml of a rig's study")
      ->required();
  add_options(*command, *arguments);
  command
      ->add_option("-o,--output", arguments->output,
                   "a system: new or empty directory for the results; a rig: the study (default: FILE.study)")
      ->type_name("PATH");
  add_format(*command, arguments->format);
  command->footer(
      "A rig: every control and every answer is on the disk, in the study, before the next begins; after Ctrl-C, a "
      "crash\n"
      "or a power failure --resume goes on. --steps counts the measurements of this run. docs/rig-protocol.md says how "
      "a\n"
      "rig talks to gpilot. Examples:\n"
      "  gpilot init rig.toml --example pendulum\n"
      "  gpilot run rig.toml --rig \"python3 my_rig.py\"\n"
      "  gpilot run rig.toml --rig ./my_rig --resume --steps 10\n"
      "  gpilot run rig.toml --rig ./my_rig --period 0.05 --steps 1200\n"
      "A simulated system: every step is on the disk, as a line of DIR/steps.jsonl, before the next begins; the first\n"
      "line has the initial measurements. DIR/run.json says what was run. In the end, or after Ctrl-C or an error, "
      "DIR/data.csv holds all\n"
      "measurements and DIR/model.json the model. rmse is the error of the model on test data\n"
      "(docs/results/protocol.md). Examples:\n"
      "  gpilot run pendulum --steps 30 --seed 1 -o pendulum\n"
      "  gpilot run pendulum --steps 100 --until-sd 0.1 --region th=-0.5:0.5 -o sure\n"
      "  gpilot run kink --strategy latmi --steps 20 --initial 3 --retrain-every 2 -o kink\n"
      "  gpilot run tras --controls-initial first.csv --steps 10 -o tras\n"
      "  gpilot run pendulum --box -1:1 --angles -o turning\n"
      "  gpilot run pendulum --box -1:1 --paper -o strong\n"
      "  gpilot run cart-pole --observe-states --steps 30 -o observed\n"
      "  gpilot run pendulum --box -1:1 --limit y_th=-0.8:0.8 --delta 0.05 -o within");
  command->callback([arguments, command] {
    if (arguments->target.ends_with(".toml")) {
      run_configuration(*command, *arguments);
    } else {
      refuse(*command, {"--rig", "--resume", "--period"},
             fmt::format("goes with the configuration of a rig, FILE.toml, and '{}' is none", arguments->target));
      run_simulation(*arguments);
    }
  });
}

}  // namespace gpilot::cli
