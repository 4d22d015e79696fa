#include "fit_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "gpilot/core/error.hpp"
#include "gpilot/options/layout.hpp"

namespace gpilot::cli {

namespace {

constexpr const char* kDeclared = "declared";  ///< beside the names of identify::StateKind

std::vector<std::string> structures() {
  std::vector<std::string> words = options::names_of(options::kStateKinds);
  words.emplace_back(kDeclared);
  return words;
}

void add_data_options(CLI::App& command, FitArguments& a) {
  command.add_option("FILE", a.files, "data files; each is a sequence of its own")->required()->type_name("FILE.csv");
  command.add_option("--inputs", a.inputs, "columns that are controls (default: none)")->type_name("NAME,..");
  command.add_option("--outputs", a.outputs, "columns that are measured outputs")->type_name("NAME,..");
  command.add_option("--rows", a.rows, "rows A to B - 1 of each file (default: all)")->type_name("A:B");
  command.add_option("--dt", a.dt, "seconds between rows (default: from the column t, else 1)")->type_name("S");
}

void add_model_options(CLI::App& command, CliArchive& cli, FitArguments& a) {
  const auto text = [&command](const char* option, std::string& value, const char* type, const char* help) {
    command.add_option(option, value, help)->type_name(type);
  };
  const auto repeated = [&command](const char* option, std::vector<std::string>& values, const char* type,
                                   const char* help) {
    command.add_option(option, values, help)->type_name(type)->allow_extra_args(false);
  };
  text("--states", a.states, "D|NAME,..",
       "states, by name, or at most so many, to be identified where nothing else is declared");
  text("--structure", a.structure, fmt::format("{}", fmt::join(structures(), "|")).c_str(),
       "what the states are made of (default: auto if only their number is given, else declared)");
  command.add_flag("--linear", a.linear, "a linear model alone, as --structure linear");
  text("--lags", a.lags, "NY:NU", "rows of outputs and of past inputs in a delay state (default: chosen)");
  text("--kernel", a.kernel,
       fmt::format("{}[+linear]|linear", fmt::join(options::names_of(kernels::kKinds), "|")).c_str(),
       "covariance of the transition function (default: se+linear)");
  cli.add("", {"kernel", "nodes"}, [&](auto& archive) { options::describe_dynamics(archive, a.model); });
  repeated("--derivative-of", a.derivatives, "VELOCITY=POSITION,..",
           "state VELOCITY is the time derivative of state POSITION; may be repeated");
  repeated("--angle", a.angles, "STATE,..",
           "the state is an angle in radians, the same after a full turn; outputs that measure it may jump by one");
  add_knowledge_options(command, a);
  text("--x0", a.x0, "V,..", "mean of the first state (default: 0 in scaled units)");
  text("--x0-sd", a.x0_sd, "SD,..", "its standard deviation (default: 1 in scaled units)");
  repeated("--fix", a.fixed, "output-noise=SD,..|process-noise=SD,..",
           "hold a noise instead of learning it; may be repeated");
  text("--emission", a.emission, "ROW;ROW..", "C of y = C x + d, a row of numbers for each output");
  text("--offset", a.offset, "V,..", "d of y = C x + d (default 0)");
  repeated("--learn", a.learn, "emission|offset", "learn C or d from the given start; may be repeated");
  repeated("--range", a.ranges, "NAME=LOW:HIGH,..",
           "scale a column or a velocity by its range instead of by training statistics");
}

void add_training_options(CLI::App& command, CliArchive& cli, FitArguments& a) {
  a.of_declared.insert(a.of_declared.end(), {"--mean", "--derivative-of", "--angle", "--x0", "--x0-sd", "--fix",
                                             "--emission", "--offset", "--learn", "--from"});
  const auto of_declared = [&a](const std::vector<std::string>& names) {
    a.of_declared.insert(a.of_declared.end(), names.begin(), names.end());
  };
  of_declared(cli.add("", {}, [&](auto& archive) { options::describe_training(archive, a.fit); }));
  of_declared(cli.add("", {}, [&](auto& archive) { options::describe_batches(archive, a.batches); }));
  command.get_option("--batch")->default_str("");  // all rows at once, unless given
  command
      .add_option("--nodes", a.nodes,
                  fmt::format("expectations over states, and of how many points; 1 to {}", options::kMostNodePoints))
      ->type_name(fmt::format("{}[:N]", fmt::join(options::names_of(options::kNodeRules), "|")))
      ->default_str("auto");
  cli.add("", {}, [&](auto& archive) { archive.seed(options::kSeed, a.fit.seed); });
  cli.add("", {"structure", "states"}, [&](auto& archive) { options::describe_identifying(archive, a.identify); });
  std::erase(a.of_declared, "--polish");  // both ways to fit have these
  std::erase(a.of_declared, "--threads");
  command.get_option("--threads")->default_str("1, to identify one per core");
  command
      .add_option("--from", a.from, "start also from this model of the same columns; options not given are as in it")
      ->type_name("MODEL");
}

}  // namespace

void add_fit_options(CLI::App& command, FitArguments& arguments) {
  arguments.command = &command;
  CliArchive cli(command);
  add_data_options(command, arguments);
  add_model_options(command, cli, arguments);
  add_training_options(command, cli, arguments);
  command.add_flag("--verbose", arguments.verbose, "print progress as plain lines on standard error");
  command.add_option("-o,--output", arguments.output, "model file to write")->required()->type_name("MODEL.json");
  add_format(command, arguments.format);
  command.footer(
      "Which state an output measures, where no --emission is given: an output NAME or y_NAME measures the state\n"
      "NAME, if that holds for all outputs; otherwise output k measures the k-th state that is not declared a\n"
      "derivative. The fit prints it. Units are those of the files. Examples:\n"
      "  gpilot fit recording.csv --inputs u --outputs y --states 4 -o model.json      # states identified\n"
      "  gpilot fit recording.csv --inputs u --outputs y --linear --rows :512 -o linear.json\n"
      "  gpilot fit recording.csv --inputs u --outputs y --structure delay --lags 2:1 --dead-time 3 -o model.json\n"
      "  gpilot fit pendulum.csv --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th -o model.json\n"
      "  gpilot fit turning.csv --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th --angle th -o "
      "model.json\n"
      "  gpilot fit cart.csv --inputs c --outputs x,th --states x,th,v,w --derivative-of v=x,w=th --cyclic x --odd v,w "
      "-o model.json\n"
      "  gpilot fit pendulum.csv --inputs c --outputs y_th --states th,th_dot --derivative-of th_dot=th --physics "
      "pendulum.toml -o model.json\n"
      "  gpilot fit a.csv b.csv --inputs u --outputs y --states 3 --kernel matern32+linear --mean linear -o "
      "model.json\n"
      "  gpilot fit kink.csv --inputs c --outputs y --states 1 --fix output-noise=0.09 --format json -o kink.json\n"
      "  gpilot fit more.csv --from model.json -o model2.json\n"
      "  gpilot fit year.csv --inputs u --outputs y --states 2 --batch 2000 --threads 2 -o model.json\n"
      "Ctrl-C ends training and writes the best model so far (status \"interrupted\", exit code 130).");
}

bool asks_for_structure(const FitArguments& a) {
  return !a.structure.empty() || a.linear || !a.lags.empty() || a.given("--order") || a.given("--dead-time") ||
         a.given("--offset-per-recording");
}

bool identifies(const FitArguments& a) {
  const std::string linear(identify::name(identify::StateKind::kLinear));
  if (a.linear && !a.structure.empty() && a.structure != linear) {
    throw InputError(fmt::format("--linear: contradicts --structure {}", a.structure));
  }
  if (!a.structure.empty()) {
    const std::string complaint = options::complaint("structure", a.structure, structures());
    if (!complaint.empty()) {
      throw InputError("--structure: " + complaint);
    }
    return a.structure != kDeclared;
  }
  const bool number = !a.states.empty() && a.states.find_first_not_of("0123456789") == std::string::npos;
  const bool declared =
      a.given("--kernel") || std::ranges::any_of(a.of_declared, [&](const std::string& name) { return a.given(name); });
  return asks_for_structure(a) || (number && !declared);
}

identify::IdentifyOptions identify_options_from(const FitArguments& a) {
  identify::IdentifyOptions options = a.identify;
  options.structure = a.linear              ? identify::StateKind::kLinear
                      : a.structure.empty() ? identify::StateKind::kAuto
                                            : identify::state_kind_from_name(a.structure);
  if (!a.states.empty()) {
    options.states = static_cast<Index>(parse_states(a.states).size());
  }
  if (!a.given("--threads")) {  // candidates are trained side by side
    options.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  if (!a.lags.empty()) {
    const std::size_t colon = a.lags.find(':');
    if (colon == std::string::npos) {
      throw InputError(fmt::format("--lags: expected NY:NU, not '{}'", a.lags));
    }
    options.output_lags = parse_count("--lags", std::string_view(a.lags).substr(0, colon), 1);
    options.input_lags = parse_count("--lags", std::string_view(a.lags).substr(colon + 1), 0);
  }
  return options;
}

void check_fit_options(const FitArguments& a, bool identified) {
  using identify::StateKind;
  using inference::Method;
  const Method method = a.fit.method;
  const StateKind kind = identified ? identify_options_from(a).structure : StateKind::kAuto;
  const bool linear = identified && kind == StateKind::kLinear;
  const std::string not_with = fmt::format("not with {}", inference::name(method));
  const bool named = !a.states.empty() && a.states.find_first_not_of("0123456789") != std::string::npos;
  refuse_ignored(
      *a.command,
      {{{"--offset-per-recording"},
        !named || a.linear || !a.structure.empty(),
        fmt::format("goes with identified states (--states N), and --states {} declares them", a.states)},
       {a.of_declared, !identified,
        "goes with declared states (--states NAME,.. or --structure declared), and here they are identified"},
       {{"--order", "--dead-time", "--lags", "--offset-per-recording"},
        identified,
        "goes with identified states, not with --structure declared"},
       {{"--batch-length", "--batches"}, a.given("--batch"), "goes with --batch ROWS only"},
       {{"--batch"}, a.from.empty(), "does not go with --from"},
       {{"--suggest"}, !a.given("--batch"), "does not go with --batch"},
       {{"--batch"}, method != Method::kAdam, "goes with the methods em and lbfgs, not with adam"},
       {{"--epochs", "--samples", "--learning-rate", "--tied"},
        method == Method::kAdam,
        "goes with --method adam, " + not_with},
       {{"--rounds", "--e-steps", "--m-iterations"}, method == Method::kEm, "goes with --method em, " + not_with},
       {{"--restarts", "--noise-path"}, method != Method::kAdam, "goes with the methods em and lbfgs, " + not_with},
       {{"--kernel", "--inducing", "--nodes", "--polish"},
        !linear,
        "goes with a Gaussian process, and here a linear model stands alone"},
       {{"--inducing"}, a.kernel != "linear", "goes with a kernel other than linear, which has no inducing points"},
       {{"--lags"},
        kind == StateKind::kDelay || kind == StateKind::kAuto,
        fmt::format("goes with the structures delay and auto, not with {}", identify::name(kind))},
       {{"--states"}, !(linear && a.given("--order")), "--order says how many states the linear model has; give one"}});
}

}  // namespace gpilot::cli
