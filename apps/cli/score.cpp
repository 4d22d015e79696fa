#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "gpilot/study/metrics.hpp"
#include "new_data.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

using nlohmann::ordered_json;
using study::Score;
using study::Scoreboard;

struct ScoreArguments {
  NewDataArguments data;
  Format format = Format::kText;
};

/// {"rmse": {"y": ..}, "nlpd": {"y": ..}, "coverage": {"y": {"50": .., ..}}, "pit": {"y": [ten shares]},
/// "count": {"y": ..}}; null is "no value".
ordered_json to_json(const Score& score, const std::vector<std::string>& outputs) {
  ordered_json rmse, nlpd, coverage, pit, count;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto e = static_cast<Index>(i);
    rmse[outputs[i]] = score.rmse(e);
    nlpd[outputs[i]] = score.nlpd(e);
    for (std::size_t k = 0; k < study::kIntervals.size(); ++k) {
      coverage[outputs[i]][std::to_string(study::kIntervals[k])] = score.coverage(e, static_cast<Index>(k));
    }
    const Vector bins = score.pit.row(e).transpose();
    if (bins.allFinite()) {
      pit[outputs[i]] = std::vector<double>(bins.begin(), bins.end());
    }
    count[outputs[i]] = score.count[i];
  }
  return {{"rmse", rmse}, {"nlpd", nlpd}, {"coverage", coverage}, {"pit", pit}, {"count", count}};
}

void print_json(const NewData& data, const Scoreboard& board) {
  const std::vector<std::string>& outputs = data.model.spec.outputs;
  ordered_json linear = to_json(board.linear_free_run, outputs);
  linear["one_step"] = to_json(board.linear_one_step, outputs);
  const ordered_json result = {
      {"free_run", to_json(board.free_run, outputs)},
      {"one_step", to_json(board.one_step, outputs)},
      {"baselines", {{"mean", to_json(board.mean, outputs)}, {"linear", linear}}},
      {"rows", data.sequence.rows()},
      {"warmup", data.options.warmup},
      {"draws", data.options.draws},
      {"diverged", board.diverged},
      {"seed", data.options.seed},
  };
  fmt::print("{}\n", result.dump(2));
}

void print_text(const ScoreArguments& arguments, const NewData& data, const Scoreboard& board) {
  const std::array<std::pair<std::string_view, const Score&>, 5> predictors{
      {{"free run", board.free_run},
       {"one step", board.one_step},
       {"linear, free run", board.linear_free_run},
       {"linear, one step", board.linear_one_step},
       {"training mean", board.mean}}};
  const std::vector<std::string>& outputs = data.model.spec.outputs;
  std::size_t width = std::string_view("output").size();
  for (const std::string& name : outputs) {
    width = std::max(width, name.size());
  }
  fmt::print("{} on {}: {} rows, {} of them warm-up; free run by {}\n\n", arguments.data.model, arguments.data.file,
             data.sequence.rows(), data.options.warmup, describe_method(data.options));
  fmt::print("{:<{}}  {:<16}  {:>7}  {:>10}  {:>10}  {:>6}  {:>6}  {:>6}\n", "output", width, "predictor", "values",
             "RMSE", "NLPD", "in 50%", "in 90%", "in 95%");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto e = static_cast<Index>(i);
    for (const auto& [name, score] : predictors) {
      fmt::print("{:<{}}  {:<16}  {:>7}  {:>10.4g}  {:>10.4g}  {:>5.0f}%  {:>5.0f}%  {:>5.0f}%\n", outputs[i], width,
                 name, score.count[i], score.rmse(e), score.nlpd(e), 100.0 * score.coverage(e, 0),
                 100.0 * score.coverage(e, 1), 100.0 * score.coverage(e, 2));
    }
  }
}

/// How often values fell into each tenth of the free run's distribution: 10 % in each, if it is calibrated.
void print_pit(const NewData& data, const Score& score) {
  fmt::print("\nWhere the values fell in the free run's distribution, by tenths (10 % each if it is calibrated)\n");
  for (std::size_t i = 0; i < data.model.spec.outputs.size(); ++i) {
    fmt::print("{}:", data.model.spec.outputs[i]);
    for (Index k = 0; k < study::kPitBins; ++k) {
      fmt::print(" {:>3.0f}%", 100.0 * score.pit(static_cast<Index>(i), k));
    }
    fmt::print("\n");
  }
}

void run_score(const ScoreArguments& arguments) {
  const NewData data = load_new_data(arguments.data, Outputs::kRequired);
  const Scoreboard board = study::score_model(data.model, data.sequence, data.options);
  if (arguments.format == Format::kJson) {
    print_json(data, board);
    return;
  }
  print_text(arguments, data, board);
  print_pit(data, board.free_run);
  if (board.diverged > 0) {
    fmt::print("\n{}\n", describe_diverged(data.options, board.diverged));
  }
}

}  // namespace

void add_score(CLI::App& app) {
  const auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = app.add_subcommand("score", "compare predictions with measured outputs, beside two baselines");
  add_new_data_options(*command, arguments->data);
  add_format(*command, arguments->format);
  command->footer(
      "RMSE, negative log predictive density (NLPD, mean per value; lower is better) and the share of the values\n"
      "inside the central 50, 90 and 95 % intervals, over the measured outputs after the warm-up. 'free run' uses the\n"
      "inputs alone, 'one step' every output up to the row before. The histogram of probability integral transforms "
      "says\n"
      "where the values fell in the predicted distribution. Baselines: the linear model that was fitted beside it\n"
      "(linear) and the training outputs' mean and standard deviation. Examples:\n"
      "  gpilot score model.json test.csv\n"
      "  gpilot score model.json test.csv --warmup 10 --format json\n"
      "  gpilot score model.json data.csv --rows 300: --draws 1000 --seed 1");
  command->callback([arguments] { run_score(*arguments); });
}

}  // namespace gpilot::cli
