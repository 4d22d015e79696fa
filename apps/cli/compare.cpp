#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "comparison_table.hpp"
#include "fit_arguments.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/options/layout.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/trials/comparison.hpp"
#include "gpilot/trials/system_knowledge.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress_line.hpp"

namespace gpilot::cli {

namespace {

using trials::ComparisonOptions;
using trials::ComparisonOutcome;

/// What the user typed; an empty text was not given.
struct CompareArguments {
  ComparisonOptions options;
  int threads = 0;  ///< 0 = one per core
  std::string strategies;
  std::string knowledge;
  std::vector<std::string> boxes;
  std::vector<std::string> limits;
  std::vector<std::string> planning;  ///< names of its options
  std::string rig;
  std::string tests;
  std::string test_rig;
  std::string output;
  Format format = Format::kText;
};

/// "SYSTEM=LOW:HIGH,..", an interval for each control.
trials::SystemBox parse_system_box(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw InputError(fmt::format("--box: expected SYSTEM=LOW:HIGH, not '{}'", text));
  }
  return {text.substr(0, equals), parse_box("--box", std::string_view(text).substr(equals + 1))};
}

/// The name of a configuration's file as systems have it in tables and names of files.
std::string name_of(const std::string& config) {
  std::string name = std::filesystem::path(config).stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; }, '_');
  return name;
}

/// A rig: the configuration says how it is explored, but for what is given here.
ComparisonOptions rig_options_from(const CLI::App& command, const CompareArguments& arguments) {
  const std::string& file = arguments.options.systems.front();
  if (arguments.options.systems.size() > 1) {
    throw InputError(
        fmt::format("{}: the configuration of a rig is compared by itself, expected no other system", file));
  }
  std::vector<std::string> simulated = arguments.planning;
  simulated.insert(simulated.end(), {"--delta", "--paper", "--angles", "--know", "--wide-tests", "--box",
                                     "--observe-states", "--limit"});
  refuse_ignored(command, {{simulated, false, "goes with simulated systems; for a rig the configuration says it"}});
  ComparisonOptions options = arguments.options;
  trials::ComparedRig rig{.config = study::load_config(file),
                          .command = arguments.rig,
                          .tests = arguments.tests,
                          .test_rig = arguments.test_rig};
  if (rig.command.empty()) {
    rig.command = rig.config.rig.command;
  }
  if (rig.command.empty()) {
    throw InputError(fmt::format("{}: no rig: give --rig COMMAND, or the key rig.command", file));
  }
  const explore::ExploreOptions given = options.explore;
  options.explore = rig.config.explore;
  options.explore.until_sd = given.until_sd;  // a comparison makes all its steps
  const auto is_given = [&](const char* name) { return command.count(name) > 0; };
  options.explore.seed = is_given("--seed") ? given.seed : options.explore.seed;
  options.explore.initial = is_given("--initial") ? given.initial : options.explore.initial;
  options.explore.steps = is_given("--steps") ? given.steps : options.explore.steps;
  options.explore.retrain_every = is_given("--retrain-every") ? given.retrain_every : options.explore.retrain_every;
  options.systems = {name_of(file)};
  options.rig = std::move(rig);
  return options;
}

bool is_configuration(const std::string& system) {
  return system.ends_with(".toml");
}

ComparisonOptions options_from(const CLI::App& command, const CompareArguments& arguments) {
  if (std::ranges::any_of(arguments.options.systems, is_configuration)) {
    ComparisonOptions options = rig_options_from(command, arguments);
    if (!arguments.strategies.empty()) {
      options.strategies = split_names("--strategies", arguments.strategies);
    }
    return options;
  }
  refuse_ignored(command,
                 {{{"--rig", "--tests", "--test-rig"}, false, "goes with the configuration of a rig, FILE.toml"}});
  ComparisonOptions options = arguments.options;
  options.limits = parse_limits(arguments.limits);
  options.delta = options.explore.limits.delta;
  options.explore.limits = {};  // set for each trial
  if (!arguments.strategies.empty()) {
    options.strategies = split_names("--strategies", arguments.strategies);
  }
  if (!arguments.knowledge.empty()) {
    options.knowledge = split_names("--know", arguments.knowledge);
  }
  for (const std::string& text : arguments.boxes) {
    options.boxes.push_back(parse_system_box(text));
  }
  refuse_ignored(command, exploring_rules(options.strategies, !options.limits.empty(), arguments.planning));
  finish_planning(command, options.explore.planning);
  return options;
}

ComparisonOutcome run_with_progress(const ComparisonOptions& options, const CompareArguments& arguments) {
  using Clock = std::chrono::steady_clock;
  ProgressLine line(true);
  trials::ComparisonExecution execution{.threads = arguments.threads, .stop = &InterruptGuard::requested()};
  const Clock::time_point start = Clock::now();
  execution.on_progress = [&](const trials::ComparisonProgress& progress) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    std::string text =
        fmt::format("{} of {} trials, {} elapsed", progress.done, progress.total, describe_seconds(elapsed));
    if (progress.fraction > 0.0) {
      text += fmt::format(", {} left", describe_seconds(elapsed * (1.0 - progress.fraction) / progress.fraction));
    }
    line.show(progress.fraction, text);
  };
  execution.on_damaged = [](const std::string& why) {
    fmt::print(stderr, "gpilot: note: {}; the file was damaged, so its trial counts as not done\n", why);
  };
  return trials::run_comparison(options, arguments.output, execution);
}

void print_text(const CompareArguments& arguments, const ComparisonOutcome& outcome) {
  const trials::ComparisonSummary& summary = *outcome.summary;
  if (!outcome.tests.empty()) {
    fmt::print("{}\n\n", outcome.tests);
  }
  for (const trials::SystemSummary& system : summary.systems) {
    fmt::print("{}\n", format_tables(system, summary.trials, summary.last_step));
  }
  fmt::print(
      "area: under the curve from step 0 to {}. p: Wilcoxon's signed-rank test over paired trials, two-sided, "
      "adjusted\n"
      "by Holm for the strategies of its column. Steps to random's end: the first step from which the rmse stays at or "
      "below\n"
      "the median of where random ends; median over trials, of random itself too.\n",
      summary.last_step);
  if (std::ranges::any_of(summary.systems, [](const trials::SystemSummary& s) { return !s.violations.empty(); })) {
    fmt::print(
        "Outside the limits: share of the chosen steps whose true output, noise apart, lies outside; what the model "
        "made "
        "of\n"
        "it beforehand; steps for which no plan kept the limits; the same share of the initial measurements.\n");
  }
  fmt::print(
      "Wrote results.csv, timings.csv, summary.json and comparison.json to {} ({} trials, {} of them found there)\n",
      arguments.output, outcome.total, outcome.found);
}

/// Throws NumericalError if a trial failed.
void check_failures(const ComparisonOutcome& outcome) {
  if (!outcome.failed.empty()) {
    const trials::FailedTrial& first = outcome.failed.front();
    throw NumericalError(fmt::format("{} of {} trials failed, first: {} {} trial {}: {}", outcome.failed.size(),
                                     outcome.total, first.job.system, first.job.strategy, first.job.trial,
                                     first.message));
  }
}

void run_compare(const CLI::App& command, const CompareArguments& arguments) {
  const ComparisonOptions options = options_from(command, arguments);
  const InterruptGuard guard;
  const ComparisonOutcome outcome = run_with_progress(options, arguments);
  if (!outcome.summary) {
    throw Interrupted(fmt::format("interrupted: {} of {} trials are stored in {}; the same command goes on from there",
                                  outcome.done, outcome.total, arguments.output));
  }
  if (arguments.format == Format::kJson) {
    if (!outcome.tests.empty()) {
      fmt::print(stderr, "gpilot: note: {}\n", outcome.tests);
    }
    fmt::print("{}", trials::format_summary(*outcome.summary));
  } else {
    print_text(arguments, outcome);
  }
  check_failures(outcome);
}

void add_trial_options(CLI::App& command, CompareArguments& arguments) {
  ComparisonOptions& o = arguments.options;
  CliArchive cli(command);
  command
      .add_option("--strategies", arguments.strategies,
                  fmt::format("ways to choose the control, of {}", fmt::join(plan::strategy_names(), ", ")))
      ->type_name("NAME,..")
      ->default_str(fmt::format("{}", fmt::join(o.strategies, ",")));
  cli.add("", {}, [&](auto& a) {
    a.count({.key = "trials", .meaning = "trials of each strategy; trial i has the same start for all"}, o.trials, 1,
            options::kMostSteps);
  });
  cli.add("", {"strategy", "until_sd"}, [&](auto& a) { options::describe_exploring(a, o.explore); });
  command.add_flag("--paper", o.paper, "the paper's kernels, initial values and training");
  command.add_flag("--angles", o.angles,
                   "tell the models which states are angles; errors of angles are those to the nearest turn");
  command
      .add_option("--know", arguments.knowledge,
                  fmt::format("tell the models what else is true of the systems, of {}; parameters of physics start "
                              "within a factor of 3 of the truth",
                              fmt::join(trials::knowledge_names(), ", ")))
      ->type_name("NAME,..");
  command.add_flag("--wide-tests", o.wide_tests,
                   "test up to three times as far out as the models' declared ranges, as the first results did");
  command.add_option("--box", arguments.boxes, "range of a system's controls; may be repeated")
      ->type_name("SYSTEM=LOW:HIGH,..")
      ->allow_extra_args(false);
  add_observe_states(command, o.observe_states);
  add_limits(command, arguments.limits);
  arguments.planning = add_planning(cli, o.explore.planning);
  command
      .add_option("--rig", arguments.rig,
                  "command that starts the rig of a trial; {seed} in it becomes 100000 * seed + trial")
      ->type_name("COMMAND");
  command.add_option("--tests", arguments.tests, "directory of CSV files to test the rig's models by")
      ->type_name("DIR");
  command
      .add_option("--test-rig", arguments.test_rig, "or a command that starts a rig to measure such tests, with {seed}")
      ->type_name("COMMAND");
  cli.add("", {}, [&](auto& a) {
    a.count({.key = "threads", .meaning = "trials at a time; results do not depend on it", .otherwise = "one per core"},
            arguments.threads, 1, options::kMostThreads);
  });
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command =
      app.add_subcommand("compare", "compare strategies on simulated systems, or on a rig, by paired trials");
  command
      ->add_option("SYSTEM", arguments->options.systems,
                   "systems to learn ('gpilot systems' lists them), or the configuration FILE.toml of a rig")
      ->required()
      ->type_name("");
  add_trial_options(*command, *arguments);
  command->add_option("-o,--output", arguments->output, "directory to write; it may hold a part of this comparison")
      ->required()
      ->type_name("DIR");
  add_format(*command, arguments->format);
  command->footer(
      "Every finished trial is stored at once: interrupt with Ctrl-C, and the same command goes on. With more trials,\n"
      "strategies or systems it extends what is there. DIR/results.csv has the columns system, strategy, trial, step,\n"
      "metric, value; DIR/summary.json, which --format json prints, the statistics of all metrics. With\n"
      "--observe-states the rmse is still that of the outputs which are measured without it: figures compare. With\n"
      "--limit the table also has the share of steps in which the true output, noise apart, was outside. Examples:\n"
      "  gpilot compare kink --trials 10 --steps 10 -o kink\n"
      "  gpilot compare pendulum cart-pole --strategies random,totmi --threads 2 -o swing\n"
      "  gpilot compare cart-pole --know cyclic,odd --angles --strategies random,auto -o told\n"
      "  gpilot compare pendulum --box pendulum=-1:1 --angles --trials 50 -o strong\n"
      "  gpilot compare pendulum cart-pole --observe-states --strategies random,totmi -o observed\n"
      "  gpilot compare pendulum --box pendulum=-1:1 --limit y_th=-0.8:0.8 --delta 0.05 -o within\n"
      "  gpilot compare kink pendulum --paper --trials 20 -o paper\n"
      "A rig is a simulator of yours that speaks the protocol of docs/rig-protocol.md; every trial starts it, with "
      "the\n"
      "same seed under each strategy. Its models are tested by recordings, or by what another seed of it does under "
      "test\n"
      "controls; a test ends where it leaves the declared ranges of outputs. Examples:\n"
      "  gpilot compare rig.toml --rig \"python3 my_rig.py --seed {seed}\" --test-rig \"python3 my_rig.py --seed "
      "{seed}\" "
      "-o mine\n"
      "  gpilot compare rig.toml --rig \"./my_rig {seed}\" --tests recordings --strategies random,prbs,auto -o mine");
  command->callback([arguments, command] { run_compare(*command, *arguments); });
}

}  // namespace gpilot::cli
