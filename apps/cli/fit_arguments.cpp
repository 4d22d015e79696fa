#include "fit_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/suggest.hpp"

namespace gpilot::cli {

namespace {

void parse_int(std::string_view option, const std::string& text, int lowest, int& value) {
  if (text.empty()) {
    return;
  }
  const Index number = parse_count(option, text, lowest);
  if (number > std::numeric_limits<int>::max()) {
    throw InputError(fmt::format("{}: '{}' is too large", option, text));
  }
  value = static_cast<int>(number);
}

void add_data_options(CLI::App& command, FitArguments& a) {
  command.add_option("FILE", a.files, "data files; each is a sequence of its own")->required()->type_name("FILE.csv");
  command.add_option("--inputs", a.inputs, "columns that are controls (default: none)")->type_name("NAME,..");
  command.add_option("--outputs", a.outputs, "columns that are measured outputs")->type_name("NAME,..");
  command.add_option("--rows", a.rows, "rows A to B - 1 of each file (default: all)")->type_name("A:B");
  command.add_option("--dt", a.dt, "seconds between rows (default: from the column t, else 1)")->type_name("S");
}

void add_model_options(CLI::App& command, FitArguments& a) {
  const auto text = [&command](const char* option, std::string& value, const char* type, const char* help) {
    command.add_option(option, value, help)->type_name(type);
  };
  const auto repeated = [&command](const char* option, std::vector<std::string>& values, const char* type,
                                   const char* help) {
    command.add_option(option, values, help)->type_name(type)->allow_extra_args(false);
  };
  text("--states", a.states, "D|NAME,..",
       "states, by name, or at most so many, to be identified where nothing else is declared");
  text("--structure", a.structure, "auto|linear|delay|subspace|declared",
       "what the states are made of (default: auto if only their number is given, else declared)");
  command.add_flag("--linear", a.linear, "a linear model alone, as --structure linear");
  text("--order", a.order, "N", "states of the linear model (default: chosen by validation)");
  text("--dead-time", a.dead_time, "K", "rows by which inputs act later than the next one (default: chosen)");
  text("--lags", a.lags, "NY:NU", "rows of outputs and of past inputs in a delay state (default: chosen)");
  command.add_flag("--offset-per-recording", a.offset_per_recording,
                   "the outputs of every file have an offset of their own");
  text("--kernel", a.kernel, "se|matern12|matern32|matern52[+linear]|linear",
       "covariance of the transition function (default se+linear)");
  text("--mean", a.mean, "zero|identity|linear", "its mean function (default identity)");
  repeated("--derivative-of", a.derivatives, "VELOCITY=POSITION,..",
           "state VELOCITY is the time derivative of state POSITION; may be repeated");
  repeated("--angle", a.angles, "STATE,..",
           "the state is an angle in radians, the same after a full turn; outputs that measure it may jump by one");
  text("--x0", a.x0, "V,..", "mean of the first state (default: 0 in scaled units)");
  text("--x0-sd", a.x0_sd, "SD,..", "its standard deviation (default: 1 in scaled units)");
  text("--inducing", a.inducing, "M", "inducing points (default 20)");
  repeated("--fix", a.fixed, "output-noise=SD,..|process-noise=SD,..",
           "hold a noise instead of learning it; may be repeated");
  text("--emission", a.emission, "ROW;ROW..", "C of y = C x + d, a row of numbers for each output");
  text("--offset", a.offset, "V,..", "d of y = C x + d (default 0)");
  repeated("--learn", a.learn, "emission|offset", "learn C or d from the given start; may be repeated");
  repeated("--range", a.ranges, "NAME=LOW:HIGH,..",
           "scale a column or a velocity by its range instead of by training statistics");
}

void add_training_options(CLI::App& command, FitArguments& a) {
  const inference::FitOptions defaults;
  const auto number = [&command](const char* option, std::string& value, const char* type, const std::string& help) {
    command.add_option(option, value, help)->type_name(type);
  };
  number("--method", a.method, "em|lbfgs|adam", "smoothing with quasi-Newton steps (default), either alone");
  number("--nodes", a.nodes, "auto|gauss-hermite|cubature3|cubature5|qmc|samples[:N]",
         "how expectations over the state are taken (default auto)");
  number("--rounds", a.rounds, "N", fmt::format("rounds of smoothing and learning (default {})", defaults.rounds));
  number("--polish", a.polish, "N", fmt::format("joint steps at the end (default {})", defaults.polish));
  number("--restarts", a.restarts, "N", fmt::format("different starts (default {})", defaults.restarts));
  number("--noise-path", a.noise_path, "N",
         fmt::format("how often the process noise is cut in search of better predictions (default {})",
                     defaults.noise_path));
  number("--horizon", a.horizon, "K",
         fmt::format("steps ahead at which candidates are compared (default {})", defaults.horizon));
  number("--epochs", a.epochs, "N", fmt::format("epochs of adam (default {})", defaults.epochs));
  number("--samples", a.samples, "N", fmt::format("samples of adam (default {})", defaults.samples));
  number("--learning-rate", a.learning_rate, "R", fmt::format("of adam (default {})", defaults.learning_rate));
  const inference::BatchOptions batches;
  number("--batch", a.batch, "ROWS",
         "learn parameters from batches of so many rows, the function from all: for long data, in little memory");
  number("--batch-length", a.batch_length, "ROWS", fmt::format("of a sub-sequence (default {})", batches.length));
  number("--batches", a.batches, "N", fmt::format("batches (default {})", batches.count));
  command.add_flag("--tied", a.tied, "tie q(x) to the transition as the paper writes it");
  number("--from", a.from, "MODEL", "start also from this model of the same columns; options not given are as in it");
  number("--threads", a.threads, "N",
         fmt::format("threads (default {}); the result does not depend on it", defaults.threads));
  add_seed(command, a.seed);
}

}  // namespace

void add_fit_options(CLI::App& command, FitArguments& arguments) {
  add_data_options(command, arguments);
  add_model_options(command, arguments);
  add_training_options(command, arguments);
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
      "  gpilot fit a.csv b.csv --inputs u --outputs y --states 3 --kernel matern32+linear --mean linear -o "
      "model.json\n"
      "  gpilot fit kink.csv --inputs c --outputs y --states 1 --fix output-noise=0.09 --format json -o kink.json\n"
      "  gpilot fit more.csv --from model.json -o model2.json\n"
      "  gpilot fit year.csv --inputs u --outputs y --states 2 --batch 2000 --threads 2 -o model.json\n"
      "Ctrl-C ends training and writes the best model so far (status \"interrupted\", exit code 130).");
}

std::optional<inference::BatchOptions> batches_from(const FitArguments& a) {
  if (a.batch.empty()) {
    for (const auto& [option, text] : {std::pair{"--batch-length", a.batch_length}, {"--batches", a.batches}}) {
      if (!text.empty()) {
        throw InputError(fmt::format("{}: goes with --batch ROWS only", option));
      }
    }
    return std::nullopt;
  }
  if (!a.from.empty()) {
    throw InputError("--batch: does not go with --from");
  }
  if (a.method == "adam") {
    throw InputError("--batch: goes with the methods em and lbfgs, not with adam");
  }
  constexpr Index kFewest = 10;
  inference::BatchOptions batches;
  batches.rows = parse_count("--batch", a.batch, kFewest);
  if (!a.batch_length.empty()) {
    batches.length = parse_count("--batch-length", a.batch_length, kFewest);
  }
  parse_int("--batches", a.batches, 1, batches.count);
  return batches;
}

bool asks_for_structure(const FitArguments& a) {
  return !a.structure.empty() || a.linear || !a.order.empty() || !a.dead_time.empty() || !a.lags.empty() ||
         a.offset_per_recording;
}

bool identifies(const FitArguments& a) {
  if (a.linear && !a.structure.empty() && a.structure != "linear") {
    throw InputError(fmt::format("--linear: contradicts --structure {}", a.structure));
  }
  if (!a.structure.empty()) {
    const std::vector<std::string> known{"auto", "linear", "delay", "subspace", "declared"};
    if (std::find(known.begin(), known.end(), a.structure) == known.end()) {
      throw InputError("--structure: " + unknown_name_message("structure", a.structure, known));
    }
    return a.structure != "declared";
  }
  const bool number = !a.states.empty() && a.states.find_first_not_of("0123456789") == std::string::npos;
  const bool declared = !a.kernel.empty() || !a.mean.empty() || !a.derivatives.empty() || !a.angles.empty() ||
                        !a.x0.empty() || !a.x0_sd.empty() || !a.fixed.empty() || !a.emission.empty() ||
                        !a.offset.empty() || !a.learn.empty() || !a.method.empty() || !a.rounds.empty() ||
                        !a.restarts.empty() || !a.noise_path.empty() || !a.horizon.empty() || !a.from.empty() ||
                        !a.batch.empty() || a.tied;
  return asks_for_structure(a) || (number && !declared);
}

inference::IdentifyOptions identify_options_from(const FitArguments& a) {
  inference::IdentifyOptions options;
  options.seed = a.seed;
  options.structure = a.linear              ? inference::StateKind::kLinear
                      : a.structure.empty() ? inference::StateKind::kAuto
                                            : inference::state_kind_from_name(a.structure);
  if (!a.states.empty()) {
    options.states = static_cast<Index>(parse_states(a.states).size());
  }
  if (!a.order.empty()) {
    options.order = parse_count("--order", a.order, 1);
  }
  if (!a.dead_time.empty()) {
    options.dead_time = parse_count("--dead-time", a.dead_time, 0);
  }
  if (!a.lags.empty()) {
    const std::size_t colon = a.lags.find(':');
    if (colon == std::string::npos) {
      throw InputError(fmt::format("--lags: expected NY:NU, not '{}'", a.lags));
    }
    options.output_lags = parse_count("--lags", std::string_view(a.lags).substr(0, colon), 1);
    options.input_lags = parse_count("--lags", std::string_view(a.lags).substr(colon + 1), 0);
  }
  options.offset_per_sequence = a.offset_per_recording;
  parse_int("--polish", a.polish, 1, options.iterations);
  parse_int("--threads", a.threads, 1, options.threads);
  return options;
}

inference::FitOptions options_from(const FitArguments& a) {
  inference::FitOptions options;
  options.seed = a.seed;
  options.tied = a.tied;
  if (!a.method.empty()) {
    const std::vector<std::string> known{"em", "lbfgs", "adam"};
    if (std::find(known.begin(), known.end(), a.method) == known.end()) {
      throw InputError("--method: " + unknown_name_message("method", a.method, known));
    }
    options.method = inference::method_from_name(a.method);
  }
  parse_int("--rounds", a.rounds, 0, options.rounds);
  parse_int("--polish", a.polish, 1, options.polish);
  parse_int("--noise-path", a.noise_path, 0, options.noise_path);
  parse_int("--restarts", a.restarts, 1, options.restarts);
  parse_int("--horizon", a.horizon, 1, options.horizon);
  parse_int("--epochs", a.epochs, 1, options.epochs);
  parse_int("--threads", a.threads, 1, options.threads);
  if (!a.samples.empty()) {
    options.samples = parse_count("--samples", a.samples, 1);
  }
  if (!a.learning_rate.empty()) {
    options.learning_rate = parse_number("--learning-rate", a.learning_rate);
    if (!(options.learning_rate > 0.0)) {
      throw InputError(fmt::format("--learning-rate: expected a positive number, not '{}'", a.learning_rate));
    }
  }
  return options;
}

}  // namespace gpilot::cli
