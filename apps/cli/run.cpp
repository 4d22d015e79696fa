#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpilot/options/layout.hpp"
#include "options.hpp"
#include "run_rig.hpp"
#include "run_simulation.hpp"

namespace gpilot::cli {
namespace {

/// Which options do something, depending on what is run.
struct RunOptions {
  std::vector<std::string> exploring;  ///< that a configuration has, too
  std::vector<std::string> planning;
};

std::vector<std::string> joined(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void run_configuration(const CLI::App& command, const RunArguments& arguments, const RunOptions& known) {
  std::vector<std::string> simulated = joined(known.exploring, known.planning);
  std::erase(simulated, "--steps");
  simulated = joined(simulated, {"--controls-initial", "--paper", "--angles", "--box", "--observe-states", "--limit"});
  refuse_ignored(command, {{simulated, false, "goes with a simulated system; for a rig the configuration says it"}});
  run_rig_study({.config = arguments.target,
                 .study = arguments.output,
                 .rig = arguments.rig,
                 .steps = command.count("--steps") > 0 ? std::optional(arguments.explore.steps) : std::nullopt,
                 .period = arguments.period,
                 .resume = arguments.resume,
                 .format = arguments.format});
}

void run_system(const CLI::App& command, RunArguments& arguments, const RunOptions& known) {
  refuse_ignored(command,
                 {{{"--rig", "--resume", "--period"},
                   false,
                   fmt::format("goes with the configuration of a rig, FILE.toml, and '{}' is none", arguments.target)},
                  {{"--initial"},
                   arguments.initial_controls.empty(),
                   "the rows of --controls-initial say how many measurements come first; give one"}});
  refuse_ignored(command, exploring_rules({arguments.explore.strategy}, !arguments.limits.empty(), known.planning));
  finish_planning(command, arguments.explore.planning);
  run_simulation(arguments);
}

RunOptions add_options(CLI::App& command, RunArguments& arguments) {
  RunOptions known;
  CliArchive cli(command);
  known.exploring = cli.add("", {}, [&](auto& a) { options::describe_exploring(a, arguments.explore); });
  command.add_option("--controls-initial", arguments.initial_controls, "their controls, a row each, columns by name")
      ->type_name("FILE.csv");
  command.add_flag("--paper", arguments.paper, "the paper's kernels, initial values and training");
  command.add_flag("--angles", arguments.angles,
                   "tell the model which states are angles; errors of angles are those to the nearest turn");
  command.add_option("--box", arguments.box, "range of each control")->type_name("LOW:HIGH,..");
  add_observe_states(command, arguments.observe_states);
  add_limits(command, arguments.limits);
  known.planning = add_planning(cli, arguments.explore.planning);
  known.exploring =
      joined(known.exploring,
             cli.add("Planning", {}, [&](auto& a) { options::describe_region(a, arguments.explore.region); }));
  command.add_option("--rig", arguments.rig, "command that starts the rig (default: rig.command of the configuration)")
      ->type_name("COMMAND");
  command.add_flag("--resume", arguments.resume, "go on with the study if it is there");
  cli.add("", {}, [&](auto& a) {
    a.optional({.key = "period",
                .meaning = "real time: seconds between two steps; training goes on beside them",
                .unit = "s",
                .otherwise = "a step takes as long as it takes"},
               arguments.period, NumberRule::kSeconds);
  });
  return known;
}

}  // namespace

void add_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "explore a system: choose controls, measure, learn");
  command
      ->add_option("TARGET", arguments->target,
                   "a simulated system ('gpilot systems' lists them), or the configuration FILE.toml of a rig's study")
      ->required();
  const RunOptions known = add_options(*command, *arguments);
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
      "rig talks to gpilot. Ctrl-C, SIGTERM, a closed terminal or a lost reader end a run in good order: safe "
      "control,\n"
      "close, exit code 130. A rig may end episodes (\"done\"): it is reset, and a new sequence begins. Examples:\n"
      "  gpilot init rig.toml --rig \"python3 my_rig.py\"\n"
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
  command->callback([arguments, command, known] {
    if (arguments->target.ends_with(".toml")) {
      run_configuration(*command, *arguments, known);
    } else {
      run_system(*command, *arguments, known);
    }
  });
}

}  // namespace gpilot::cli
