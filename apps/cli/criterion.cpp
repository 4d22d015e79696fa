#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/grid.hpp"
#include "gpilot/explore/online_model.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "new_data.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

using plan::DecisionContext;

/// What the user typed; an empty text was not given.
struct CriterionArguments {
  std::string model;
  std::string criterion = "totmi";
  std::string grid = "101";
  std::string box;
  std::string data;
  std::uint64_t seed = 0;
  std::string output;
  Format format = Format::kText;
};

/// --box, or the ranges that were declared when the model was trained. User units.
Box control_box(const CriterionArguments& arguments, const ssm::ModelSpec& spec) {
  const auto P = static_cast<Index>(spec.inputs.size());
  Box box{Vector(P), Vector(P)};
  if (!arguments.box.empty()) {
    box = parse_box("--box", arguments.box);
    if (box.low.size() != P) {
      throw InputError(fmt::format("--box: {} interval(s), the model has {} control(s): {}", box.low.size(), P,
                                   fmt::join(spec.inputs, ", ")));
    }
  }
  for (Index p = 0; p < P; ++p) {
    const std::string& input = spec.inputs[static_cast<std::size_t>(p)];
    if (arguments.box.empty()) {
      const ssm::Range* range = ssm::range_of(spec, input);
      if (range == nullptr) {
        throw InputError(fmt::format("{}: no range was declared for the control '{}': give --box LOW:HIGH,..",
                                     arguments.model, input));
      }
      box.low(p) = range->low;
      box.high(p) = range->high;
    }
    if (!(box.low(p) < box.high(p))) {
      throw InputError(fmt::format("--box: [{}, {}] of the control '{}' is empty, expected LOW below HIGH", box.low(p),
                                   box.high(p), input));
    }
  }
  return box;
}

Matrix control_grid(const CriterionArguments& arguments, const Box& box) {
  constexpr double kMostPoints = 1e6;
  const Index points = parse_count("--grid", arguments.grid, 2);
  const double total = std::pow(static_cast<double>(points), static_cast<double>(box.low.size()));
  if (total > kMostPoints) {
    throw InputError(fmt::format("--grid: {} points for each of {} controls are {:.0f}, at most {:.0f} are allowed",
                                 points, box.low.size(), total, kMostPoints));
  }
  return regular_grid(box, std::vector<Index>(static_cast<std::size_t>(box.low.size()), points));
}

/// Why a recording (scaled units) cannot be the one that the model was trained on, or "" if it can. The model file
/// holds no data, but the states it smoothed: of its own recording every output is explained by them but for noise.
std::string not_trained_on(const ssm::Model& model, const ssm::Sequence& recording) {
  constexpr double kMostNoise = 5.0;  // standard deviations
  if (model.starts.size() != 2) {
    return fmt::format("the training had {} recordings", model.starts.size() - 1);
  }
  if (model.states.rows() != recording.rows()) {
    return fmt::format("{} rows, the training's had {}", recording.rows(), model.states.rows());
  }
  const ssm::Parameters& p = model.gp.parameters;
  const Matrix explained = (p.C * model.states.m).colwise() + p.d;  // [E x rows]
  for (Index e = 0; e < recording.outputs.cols(); ++e) {
    double squares = 0.0;
    Index measured = 0;
    for (Index t = 0; t < recording.rows(); ++t) {
      if (!std::isnan(recording.outputs(t, e))) {
        squares += std::pow(recording.outputs(t, e) - explained(e, t), 2);
        ++measured;
      }
    }
    if (squares > static_cast<double>(measured) * kMostNoise * kMostNoise * std::exp(p.log_r(e))) {
      return fmt::format("the values of '{}' are not those the model has smoothed",
                         model.spec.outputs[static_cast<std::size_t>(e)]);
    }
  }
  return "";
}

/// Where the model stands: at the end of its training data, where `run` has it stand, too, or of another recording that
/// it follows.
struct Place {
  explore::OnlineModel online;
  std::optional<ssm::Series> history;  ///< scaled
  std::string not_training;            ///< why the recording is not that of the training; "" if it is, or there is none
};

Place find_place(const ssm::Model& model, const Box& box, const std::optional<ssm::Sequence>& recording) {
  Place place{explore::OnlineModel(std::make_shared<const ssm::Model>(model), box, {.seed = model.seed}), {}, ""};
  if (!recording) {
    return place;
  }
  place.history = place.online.scaled(ssm::Dataset{*recording});
  ssm::Sequence scaled = model.scaling.to_scaled(*recording);
  ssm::unwrap(model.gp.structure, model.gp.parameters, scaled);
  place.not_training = not_trained_on(model, scaled);
  if (!place.not_training.empty()) {
    const ssm::Sequence& s = *recording;
    place.online.begin(s.broad_start, s.outputs.row(0).transpose());
    for (Index t = 1; t < s.rows(); ++t) {
      place.online.follow(s.controls.row(t - 1).transpose(), s.outputs.row(t).transpose());
    }
  }
  return place;
}

/// The best control, user units, and the criterion over the grid.
struct Landscape {
  Vector best;
  double best_value = 0.0;
  Vector values;  ///< at the grid's rows
};

Landscape evaluate(const CriterionArguments& arguments, Place& place, const Box& box, const Matrix& grid) {
  const std::unique_ptr<plan::Strategy> strategy = plan::make_strategy(arguments.criterion);
  if (arguments.criterion == "totmi-sampled" && !place.not_training.empty()) {
    throw InputError(
        fmt::format("{}: totmi-sampled needs the recording that {} was trained on, and this is another one: {}",
                    arguments.data, arguments.model, place.not_training));
  }
  explore::OnlineModel& online = place.online;
  const Box inside = online.scaled(box);
  DecisionContext context = online.context(inside, place.history ? &*place.history : nullptr);
  context.seed = arguments.seed;
  if (!place.history || !place.not_training.empty()) {
    context.q = nullptr;  // it belongs to the training's rows
  }
  const std::unique_ptr<plan::Criterion> criterion = strategy->criterion(context);
  if (!criterion) {
    throw InputError(fmt::format(
        "--criterion: {} has no criterion of one control to show: it draws its controls or plans sequences of them",
        arguments.criterion));
  }
  const plan::Choice choice = strategy->choose(context);
  // Rounding on the way through scaled units must not leave the box.
  Landscape landscape{online.user_control(choice.control).cwiseMax(box.low).cwiseMin(box.high), choice.criterion,
                      Vector(grid.rows())};
  for (Index n = 0; n < grid.rows(); ++n) {
    landscape.values(n) = criterion->value(online.scaled_control(grid.row(n).transpose()), nullptr);
  }
  return landscape;
}

void print_summary(const CriterionArguments& arguments, const ssm::ModelSpec& spec, const Box& box, const Place& place,
                   const Landscape& landscape) {
  const bool filtered = !place.not_training.empty();
  const double low = landscape.values.minCoeff();
  const double high = landscape.values.maxCoeff();
  if (arguments.format == Format::kJson) {
    nlohmann::ordered_json best;
    nlohmann::ordered_json ranges;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
      best[spec.inputs[i]] = landscape.best(static_cast<Index>(i));
      ranges[spec.inputs[i]] = {box.low(static_cast<Index>(i)), box.high(static_cast<Index>(i))};
    }
    nlohmann::ordered_json summary = {{"criterion", arguments.criterion},
                                      {"model", arguments.model},
                                      {"state", filtered ? "filtered" : "smoothed"},
                                      {"box", ranges},
                                      {"best", best},
                                      {"value", landscape.best_value},
                                      {"points", landscape.values.size()},
                                      {"lowest", low},
                                      {"highest", high}};
    if (!arguments.output.empty()) {
      summary["file"] = arguments.output;
    }
    fmt::print("{}\n", summary.dump(2));
    return;
  }
  std::vector<std::string> best;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    best.push_back(fmt::format("{} = {:.6g}", spec.inputs[i], landscape.best(static_cast<Index>(i))));
  }
  fmt::print("{} is largest at {}: {:.6g} nats; over the {} points of the grid it goes from {:.6g} to {:.6g} nats\n",
             arguments.criterion, fmt::join(best, ", "), landscape.best_value, landscape.values.size(), low, high);
  if (filtered) {
    fmt::print("the state is the filter's at the end of {}, which is not the training's recording: {}\n",
               arguments.data, place.not_training);
  } else {
    fmt::print("the state is the smoothed one at the end of the training data\n");
  }
  if (!arguments.output.empty()) {
    fmt::print("wrote the values (columns {}, value) to {}\n", fmt::join(spec.inputs, ", "), arguments.output);
  }
}

void run_criterion(const CriterionArguments& arguments) {
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.format == Format::kJson) {
    throw InputError("--format json prints a summary, so the values need a file: give -o FILE.csv, not -o -");
  }
  io::check_not_input(arguments.output, std::vector<std::string>{arguments.model, arguments.data});
  ssm::Model model;
  std::optional<ssm::Sequence> recording;
  if (arguments.data.empty()) {
    model = io::load_model(arguments.model);
  } else {
    NewDataArguments both;
    both.model = arguments.model;
    both.files = {arguments.data};
    NewData data = load_new_data(both, Outputs::kRequired);
    model = std::move(data.model);
    recording = std::move(data.recordings.back().sequence);
  }
  check_present_inputs(model, arguments.model);
  const Box box = control_box(arguments, model.spec);
  const Matrix grid = control_grid(arguments, box);
  Place place = find_place(model, box, recording);
  const Landscape landscape = evaluate(arguments, place, box, grid);
  io::Table table;
  table.append(model.spec.inputs, grid);
  table.append(std::vector<std::string>{"value"}, landscape.values);
  if (to_stdout) {
    fmt::print("{}", io::format_csv(table));
    return;
  }
  if (!arguments.output.empty()) {
    io::write_csv(arguments.output, table);
  }
  print_summary(arguments, model.spec, box, place, landscape);
}

}  // namespace

void add_criterion(CLI::App& app) {
  const auto arguments = std::make_shared<CriterionArguments>();
  CLI::App* command =
      app.add_subcommand("criterion", "what each control would teach a model: a criterion over its box");
  command->add_option("MODEL", arguments->model, "model file written by 'gpilot fit' or 'gpilot run'")->required();
  command
      ->add_option("-c,--criterion", arguments->criterion,
                   fmt::format("a strategy that has one, of {}", fmt::join(plan::strategy_names(), ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--grid", arguments->grid, "points along each control")->type_name("N")->capture_default_str();
  command->add_option("--box", arguments->box, "range of each control (default: as declared in the model)")
      ->type_name("LOW:HIGH,..");
  command->add_option("--data", arguments->data, "recording whose end is the current state (default: the training's)")
      ->type_name("FILE.csv");
  add_seed(*command, arguments->seed);
  command->add_option("-o,--output", arguments->output, "file to write the values to; - is standard output")
      ->type_name("FILE.csv");
  add_format(*command, arguments->format);
  command->footer(
      "The file has a column for each control and the column value. The current state is the smoothed one at the end "
      "of\n"
      "the training's recording, as in 'gpilot run', also if --data gives that recording: one as long whose outputs "
      "the\n"
      "model explains. At the end of any other it is the filter's. latmi-x0 and totmi-sampled look at the whole "
      "history:\n"
      "they need --data, totmi-sampled the very recording that the model was trained on. Examples:\n"
      "  gpilot criterion model.json -c totmi --grid 101 -o landscape.csv\n"
      "  gpilot criterion model.json -c latmi --box -1:1\n"
      "  gpilot criterion pendulum/model.json -c totmi-sampled --data pendulum/data.csv");
  command->callback([arguments] { run_criterion(*arguments); });
}

}  // namespace gpilot::cli
