#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "comparison_table.hpp"
#include "fit_arguments.hpp"
#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/error.hpp"
#include "gpilot/study/comparison.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress_line.hpp"

namespace gpilot::cli {

namespace {

using study::ComparisonOptions;
using study::ComparisonOutcome;

/// What the user typed; an empty text was not given.
struct CompareArguments {
  std::vector<std::string> systems;
  std::string strategies, trials, steps, initial, retrain_every, threads;
  std::vector<std::string> boxes;
  std::uint64_t seed = 0;
  bool paper = false;
  bool angles = false;
  bool observe_states = false;
  LimitArguments limits;
  PlanningArguments planning;
  std::string output;
  Format format = Format::kText;
};

/// "SYSTEM=LOW:HIGH,..", an interval for each control.
study::SystemBox parse_system_box(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw InputError(fmt::format("--box: expected SYSTEM=LOW:HIGH, not '{}'", text));
  }
  return {text.substr(0, equals), parse_box("--box", std::string_view(text).substr(equals + 1))};
}

ComparisonOptions options_from(const CompareArguments& arguments) {
  ComparisonOptions options{.systems = arguments.systems,
                            .seed = arguments.seed,
                            .paper = arguments.paper,
                            .angles = arguments.angles,
                            .boxes = {},
                            .observe_states = arguments.observe_states,
                            .limits = arguments.limits.parsed(),
                            .delta = arguments.limits.parsed_delta(),
                            .planning = arguments.planning.parsed()};
  const auto count = [](std::string_view option, const std::string& text, Index lowest, Index& value) {
    if (!text.empty()) {
      value = parse_count(option, text, lowest);
    }
  };
  if (!arguments.strategies.empty()) {
    options.strategies = split_names("--strategies", arguments.strategies);
  }
  count("--trials", arguments.trials, 1, options.trials);
  count("--steps", arguments.steps, 1, options.steps);
  count("--initial", arguments.initial, 2, options.initial);
  count("--retrain-every", arguments.retrain_every, 1, options.retrain_every);
  for (const std::string& text : arguments.boxes) {
    options.boxes.push_back(parse_system_box(text));
  }
  return options;
}

ComparisonOutcome run_with_progress(const ComparisonOptions& options, const CompareArguments& arguments) {
  using Clock = std::chrono::steady_clock;
  ProgressLine line(true);
  study::ComparisonExecution execution{.stop = &InterruptGuard::requested()};
  if (!arguments.threads.empty()) {
    constexpr Index kMostThreads = 1024;
    const Index threads = parse_count("--threads", arguments.threads, 1);
    if (threads > kMostThreads) {
      throw InputError(fmt::format("--threads: at most {}, not {}", kMostThreads, threads));
    }
    execution.threads = static_cast<int>(threads);
  }
  const Clock::time_point start = Clock::now();
  execution.on_progress = [&](const study::ComparisonProgress& progress) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    std::string text =
        fmt::format("{} of {} trials, {} elapsed", progress.done, progress.total, describe_seconds(elapsed));
    if (progress.fraction > 0.0) {
      text += fmt::format(", {} left", describe_seconds(elapsed * (1.0 - progress.fraction) / progress.fraction));
    }
    line.show(progress.fraction, text);
  };
  execution.on_damaged = [](const std::string& file) {
    fmt::print(stderr, "gpilot: note: {} was damaged, so its trial counts as not done\n", file);
  };
  return study::run_comparison(options, arguments.output, execution);
}

void print_text(const CompareArguments& arguments, const ComparisonOutcome& outcome) {
  const study::ComparisonSummary& summary = *outcome.summary;
  for (const study::SystemSummary& system : summary.systems) {
    fmt::print("{}\n", format_tables(system, summary.trials, summary.last_step));
  }
  fmt::print(
      "area: under the curve from step 0 to {}. p: Wilcoxon's signed-rank test over paired trials, two-sided, "
      "adjusted\n"
      "by Holm for the strategies of its column. Steps to random's end: the first step from which the rmse stays at or "
      "below\n"
      "the median of where random ends; median over trials, of random itself too.\n",
      summary.last_step);
  if (std::ranges::any_of(summary.systems, [](const study::SystemSummary& s) { return !s.violations.empty(); })) {
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
    const study::FailedTrial& first = outcome.failed.front();
    throw NumericalError(fmt::format("{} of {} trials failed, first: {} {} trial {}: {}", outcome.failed.size(),
                                     outcome.total, first.job.system, first.job.strategy, first.job.trial,
                                     first.message));
  }
}

void run_compare(const CompareArguments& arguments) {
  const ComparisonOptions options = options_from(arguments);
  const InterruptGuard guard;
  const ComparisonOutcome outcome = run_with_progress(options, arguments);
  if (!outcome.summary) {
    throw Interrupted(fmt::format("interrupted: {} of {} trials are stored in {}; the same command goes on from there",
                                  outcome.done, outcome.total, arguments.output));
  }
  if (arguments.format == Format::kJson) {
    fmt::print("{}", study::format_summary(*outcome.summary));
  } else {
    print_text(arguments, outcome);
  }
  check_failures(outcome);
}

void add_trial_options(CLI::App& command, CompareArguments& arguments) {
  const ComparisonOptions defaults;
  const auto number = [&command](const std::string& name, std::string& value, const std::string& type,
                                 const std::string& help, Index standard) {
    command.add_option(name, value, help)->type_name(type)->default_str(std::to_string(standard));
  };
  command
      .add_option("--strategies", arguments.strategies,
                  fmt::format("ways to choose the control, of {}", fmt::join(acquisition::strategy_names(), ", ")))
      ->type_name("NAME,..")
      ->default_str(fmt::format("{}", fmt::join(defaults.strategies, ",")));
  number("--trials", arguments.trials, "N", "trials of each strategy; trial i has the same start for all",
         defaults.trials);
  number("--steps", arguments.steps, "N", "controls chosen in a trial", defaults.steps);
  number("--initial", arguments.initial, "N", "measurements before the first choice", defaults.initial);
  number("--retrain-every", arguments.retrain_every, "K", "steps between two trainings", defaults.retrain_every);
  add_seed(command, arguments.seed);
  command.add_flag("--paper", arguments.paper, "the paper's kernels, initial values and training");
  command.add_flag("--angles", arguments.angles,
                   "tell the models which states are angles; errors of angles are those to the nearest turn");
  command.add_option("--box", arguments.boxes, "range of a system's controls; may be repeated")
      ->type_name("SYSTEM=LOW:HIGH,..")
      ->allow_extra_args(false);
  add_observe_states(command, arguments.observe_states);
  add_limits(command, arguments.limits);
  add_planning(command, arguments.planning);
}

}  // namespace

void add_compare(CLI::App& app) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = app.add_subcommand("compare", "compare strategies on simulated systems by paired trials");
  command->add_option("SYSTEM", arguments->systems, "systems to learn; 'gpilot systems' lists them")
      ->required()
      ->type_name("");
  add_trial_options(*command, *arguments);
  command
      ->add_option("--threads", arguments->threads,
                   "trials at a time (default: one per core); results do not depend on it")
      ->type_name("N");
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
      "  gpilot compare pendulum --box pendulum=-1:1 --angles --trials 50 -o strong\n"
      "  gpilot compare pendulum cart-pole --observe-states --strategies random,totmi -o observed\n"
      "  gpilot compare pendulum --box pendulum=-1:1 --limit y_th=-0.8:0.8 --delta 0.05 -o within\n"
      "  gpilot compare kink pendulum --paper --trials 20 -o paper");
  command->callback([arguments] { run_compare(*arguments); });
}

}  // namespace gpilot::cli
