#include "gpilot/systems/simulate.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "controls_file.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/systems/system.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

using systems::System;

/// What the user typed; an empty text was not given.
struct SimulateArguments {
  std::string system;
  std::string variant = "corrected";
  std::vector<std::string> parameters;
  std::string dt;
  std::string box;
  std::string steps;
  std::uint64_t seed = 0;
  std::string controls = "random";
  std::string hold;
  std::string x0;
  std::string process_noise;
  std::string output_noise;
  bool with_states = false;
  bool observe_states = false;
  std::string output;
  Format format = Format::kText;
};

systems::Hold parse_hold(const std::string& text) {
  if (text.empty()) {
    return {};
  }
  const std::size_t colon = text.find(':');
  const Index shortest = parse_count("--hold", std::string_view(text).substr(0, colon), 1);
  if (colon == std::string::npos) {
    return {shortest, shortest};
  }
  return {shortest, parse_count("--hold", std::string_view(text).substr(colon + 1), shortest)};
}

std::optional<Vector> parse_noise(std::string_view option, const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  return text == "none" ? Vector::Zero(1) : parse_numbers(option, text);
}

std::unique_ptr<System> configured_system(const SimulateArguments& arguments) {
  std::unique_ptr<System> system =
      systems::make_system(arguments.system, systems::variant_from_name(arguments.variant));
  for (const std::string& text : arguments.parameters) {
    const auto [name, value] = parse_assignment("--set", text);
    system->set_parameter(name, value);
  }
  if (!arguments.dt.empty()) {
    system->set_dt(parse_number("--dt", arguments.dt));
  }
  if (!arguments.box.empty()) {
    system->set_control_box(parse_box("--box", arguments.box));
  }
  if (arguments.observe_states) {
    system->observe_states();
  }
  return system;
}

/// Not "random", "extremes" or numbers: controls are read from this file, even if it is not there.
bool is_file_of_controls(const std::string& controls) {
  return controls != "random" && controls != "extremes" && !looks_like_numbers(controls) &&
         (controls.ends_with(".csv") || std::filesystem::exists(controls));
}

Matrix make_controls(const System& system, Index steps, const SimulateArguments& arguments) {
  const std::string& kind = arguments.controls;
  const systems::Hold hold = parse_hold(arguments.hold);
  if (kind == "random") {
    return systems::random_controls(system, steps, hold, arguments.seed);
  }
  if (kind == "extremes") {
    return systems::extreme_controls(system, steps, hold, arguments.seed);
  }
  if (looks_like_numbers(kind)) {
    return systems::constant_controls(system, steps, parse_numbers("--controls", kind));
  }
  if (is_file_of_controls(kind)) {
    return read_controls(system, kind, steps);
  }
  throw InputError(
      fmt::format("--controls: expected random, extremes, a number for each control or a CSV file, not '{}'", kind));
}

io::Table to_table(const System& system, const systems::Trajectory& run, bool with_states) {
  io::Table table;
  table.append(std::vector<std::string>{"t"}, run.times);
  table.append(systems::channel_names(system.spec().controls), run.controls);
  table.append(systems::channel_names(system.spec().outputs), run.outputs);
  if (with_states) {
    table.append(systems::channel_names(system.spec().states), run.states);
  }
  return table;
}

void print_summary(const SimulateArguments& arguments, const System& system, const io::Table& table) {
  if (arguments.format == Format::kText) {
    fmt::print("wrote {} rows of {} (columns {}) to {}, seed {}\n", table.rows(), system.spec().name,
               fmt::join(table.columns, ", "), arguments.output, arguments.seed);
    return;
  }
  const nlohmann::ordered_json summary = {{"file", arguments.output},
                                          {"rows", table.rows()},
                                          {"columns", table.columns},
                                          {"system", system.spec().name},
                                          {"variant", systems::variant_name(system.variant())},
                                          {"dt", system.spec().dt},
                                          {"seed", arguments.seed}};
  fmt::print("{}\n", summary.dump(2));
}

void run_simulate(const CLI::App& command, const SimulateArguments& arguments) {
  const bool random = arguments.controls == "random" || arguments.controls == "extremes";
  refuse_ignored(command, {{{"--hold"}, random, "goes with random controls (--controls random or extremes)"}});
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.format == Format::kJson) {
    throw InputError("--format json prints a summary, so the data need a file: give -o FILE.csv, not -o -");
  }
  if (is_file_of_controls(arguments.controls)) {
    io::check_not_input(arguments.output, std::vector<std::string>{arguments.controls});
  }
  const std::unique_ptr<System> system = configured_system(arguments);
  systems::SimulateOptions options{.seed = arguments.seed};
  if (!arguments.x0.empty()) {
    options.x0 = parse_numbers("--x0", arguments.x0);
  }
  options.process_sd = parse_noise("--process-noise", arguments.process_noise);
  options.output_sd = parse_noise("--output-noise", arguments.output_noise);
  const Index steps = parse_count("--steps", arguments.steps, 1);
  if (constexpr Index kMostSteps = 10'000'000; steps > kMostSteps) {  // held in memory, up to a gigabyte
    throw InputError(fmt::format("--steps: at most {} steps, not {}", kMostSteps, steps));
  }
  const systems::Trajectory run = systems::simulate(*system, make_controls(*system, steps, arguments), options);
  const io::Table table = to_table(*system, run, arguments.with_states);
  if (to_stdout) {
    fmt::print("{}", io::format_csv(table));
    return;
  }
  io::write_csv(arguments.output, table);
  print_summary(arguments, *system, table);
}

void add_run_options(CLI::App& command, SimulateArguments& arguments) {
  command.add_option("--steps", arguments.steps, "steps to simulate; the file has rows 0..N")
      ->required()
      ->type_name("N");
  add_seed(command, arguments.seed);
  command.add_option("--controls", arguments.controls, "uniform in the box, at its corners, constant, or from a file")
      ->type_name("random|extremes|VALUE,..|FILE.csv")
      ->capture_default_str();
  command.add_option("--hold", arguments.hold, "hold each random control K steps, or A to B steps at random")
      ->type_name("K|A:B");
  command.add_option("--x0", arguments.x0, "initial state (default: drawn; without any noise, its mean)")
      ->type_name("a,b,..");
  command.add_option("--process-noise", arguments.process_noise, "sd per state, or one for all")
      ->type_name("none|SD,..");
  command.add_option("--output-noise", arguments.output_noise, "sd per output, or one for all")
      ->type_name("none|SD,..");
  command.add_flag("--with-states", arguments.with_states, "add the true states by name");
}

void add_system_options(CLI::App& command, SimulateArguments& arguments) {
  command.add_option("--variant", arguments.variant, "equations: as corrected, or as the paper prints them")
      ->type_name("corrected|paper")
      ->capture_default_str();
  command.add_option("--set", arguments.parameters, "change a parameter of the system; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--dt", arguments.dt, "seconds per step")->type_name("DT");
  command.add_option("--box", arguments.box, "range of each control")->type_name("LOW:HIGH,..");
  add_observe_states(command, arguments.observe_states);
}

}  // namespace

void add_simulate(CLI::App& app) {
  const auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* command = app.add_subcommand("simulate", "simulate a system and write its data to a CSV file");
  command->add_option("SYSTEM", arguments->system, "name of the system; 'gpilot systems' lists them")->required();
  add_run_options(*command, *arguments);
  add_system_options(*command, *arguments);
  command->add_option("-o,--output", arguments->output, "file to write; - is standard output")
      ->required()
      ->type_name("FILE.csv");
  add_format(*command, arguments->format);
  command->footer(
      "Row t holds the control applied from t to t + 1 and the output measured at t; row 0 has no output,\n"
      "the last row no control. Examples:\n"
      "  gpilot simulate pendulum --steps 100 --seed 1 -o pendulum.csv\n"
      "  gpilot simulate kink --steps 600 --controls 0.8 --output-noise 0.09 -o kink.csv\n"
      "  gpilot simulate cart-pole --steps 35 --hold 1:5 --with-states -o cart.csv\n"
      "  gpilot simulate tras --steps 50 --controls 0.3,-0.1 --process-noise none --output-noise none -o -\n"
      "  gpilot simulate pendulum --steps 50 --x0 -1,0 --set b=0 --box -1:1 -o swing.csv\n"
      "  gpilot simulate pendulum --steps 50 --observe-states -o observed.csv");
  command->callback([arguments, command] { run_simulate(*command, *arguments); });
}

}  // namespace gpilot::cli
