#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "gpilot/ssm/prediction.hpp"
#include "gpilot/ssm/residual_tests.hpp"
#include "new_data.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

using nlohmann::ordered_json;
using ssm::Score;
using ssm::Scoreboard;

struct ScoreArguments {
  NewDataArguments data;
  std::string lags = "20";
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
    for (std::size_t k = 0; k < ssm::kIntervals.size(); ++k) {
      coverage[outputs[i]][std::to_string(ssm::kIntervals[k])] = score.coverage(e, static_cast<Index>(k));
    }
    const Vector bins = score.pit.row(e).transpose();
    if (bins.allFinite()) {
      pit[outputs[i]] = std::vector<double>(bins.begin(), bins.end());
    }
    count[outputs[i]] = score.count[i];
  }
  return {{"rmse", rmse}, {"nlpd", nlpd}, {"coverage", coverage}, {"pit", pit}, {"count", count}};
}

/// The scores of all recordings as one: every value counts the same.
Score pooled(const std::vector<const Score*>& scores) {
  Score total = *scores.front();
  for (Index e = 0; e < total.rmse.size(); ++e) {
    const auto i = static_cast<std::size_t>(e);
    Index count = 0;
    for (const Score* score : scores) {
      count += score->count[i];
    }
    if (count == 0) {
      continue;
    }
    double squares = 0.0;
    double nlpd = 0.0;
    Vector coverage = Vector::Zero(total.coverage.cols());
    Vector pit = Vector::Zero(total.pit.cols());
    for (const Score* score : scores) {
      const double share = static_cast<double>(score->count[i]) / static_cast<double>(count);
      if (score->count[i] > 0) {
        squares += share * score->rmse(e) * score->rmse(e);
        nlpd += share * score->nlpd(e);
        coverage += share * score->coverage.row(e).transpose();
        pit += share * score->pit.row(e).transpose();
      }
    }
    total.count[i] = count;
    total.rmse(e) = std::sqrt(squares);
    total.nlpd(e) = nlpd;
    total.coverage.row(e) = coverage.transpose();
    total.pit.row(e) = pit.transpose();
  }
  return total;
}

Scoreboard pooled(const std::vector<Scoreboard>& boards) {
  const auto all = [&](Score Scoreboard::*part) {
    std::vector<const Score*> scores;
    for (const Scoreboard& board : boards) {
      scores.push_back(&(board.*part));
    }
    return pooled(scores);
  };
  Scoreboard total{.free_run = all(&Scoreboard::free_run),
                   .one_step = all(&Scoreboard::one_step),
                   .mean = all(&Scoreboard::mean),
                   .hold = all(&Scoreboard::hold),
                   .linear_free_run = all(&Scoreboard::linear_free_run),
                   .linear_one_step = all(&Scoreboard::linear_one_step),
                   .diverged = 0,
                   .beyond = 0};
  for (const Scoreboard& board : boards) {
    total.diverged = std::max(total.diverged, board.diverged);
    total.beyond += board.beyond;
  }
  return total;
}

ordered_json to_json(const Scoreboard& board, const std::vector<std::string>& outputs) {
  ordered_json linear = to_json(board.linear_free_run, outputs);
  linear["one_step"] = to_json(board.linear_one_step, outputs);
  return {{"free_run", to_json(board.free_run, outputs)},
          {"one_step", to_json(board.one_step, outputs)},
          {"baselines",
           {{"mean", to_json(board.mean, outputs)}, {"hold", to_json(board.hold, outputs)}, {"linear", linear}}}};
}

/// The tests over recordings `first` to `last`, that one excluded.
ssm::ResidualTests tests_of(const NewData& data, const std::vector<Scoreboard>& boards, std::size_t first,
                            std::size_t last, Index lags) {
  std::vector<ssm::ResidualRows> rows;
  for (std::size_t k = first; k < last; ++k) {
    rows.push_back({boards[k].residuals, data.recordings[k].sequence.controls});
  }
  return ssm::test_residuals(rows, lags);
}

ordered_json to_json(const ssm::CorrelationTest& test) {
  return {{"statistic", test.statistic},
          {"degrees", test.degrees},
          {"p", test.p},
          {"correlation", std::vector<double>(test.correlation.begin(), test.correlation.end())}};
}

/// {"y": {"count": .., "whiteness": {..}, "inputs": {"u": {..}}}}; correlations from lag 1 on, those of inputs from 0
/// on.
ordered_json to_json(const ssm::ResidualTests& tests, const ssm::ModelSpec& spec) {
  ordered_json result = ordered_json::object();
  for (std::size_t e = 0; e < spec.outputs.size(); ++e) {
    ordered_json inputs = ordered_json::object();
    for (std::size_t p = 0; p < spec.inputs.size(); ++p) {
      inputs[spec.inputs[p]] = to_json(tests.inputs[e][p]);
    }
    result[spec.outputs[e]] = {
        {"count", tests.count[e]}, {"whiteness", to_json(tests.whiteness[e])}, {"inputs", inputs}};
  }
  return result;
}

void print_json(const NewData& data, const std::vector<Scoreboard>& boards, Index lags) {
  const std::vector<std::string>& outputs = data.model.spec.outputs;
  const Scoreboard total = pooled(boards);
  ordered_json result = to_json(total, outputs);
  result["rows"] = data.rows();
  result["warmup"] = data.options.warmup;
  result["draws"] = data.options.draws;
  result["diverged"] = total.diverged;
  result["beyond"] = total.beyond;
  result["seed"] = data.options.seed;
  result["residuals"] = to_json(tests_of(data, boards, 0, boards.size(), lags), data.model.spec);
  for (std::size_t k = 0; k < boards.size() && boards.size() > 1; ++k) {
    ordered_json recording = {{"name", data.recordings[k].name}, {"rows", data.recordings[k].sequence.rows()}};
    recording.update(to_json(boards[k], outputs));
    recording["diverged"] = boards[k].diverged;
    recording["beyond"] = boards[k].beyond;
    recording["residuals"] = to_json(tests_of(data, boards, k, k + 1, lags), data.model.spec);
    result["recordings"].push_back(recording);
  }
  fmt::print("{}\n", result.dump(2));
}

/// A share in per cent that says 0 and 100 only where it is: 99.96 % is ">99%".
std::string percent(double share) {
  if (std::isnan(share)) {
    return "-";
  }
  const double rounded = std::round(100.0 * share);
  if (rounded == 100.0 && share < 1.0) {
    return ">99%";
  }
  return rounded == 0.0 && share > 0.0 ? "<1%" : fmt::format("{:.0f}%", rounded);
}

std::string value_or_dash(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.4g}", value);
}

void print_table(const NewData& data, const Scoreboard& board) {
  const std::array<std::pair<std::string_view, const Score&>, 6> predictors{
      {{"free run", board.free_run},
       {"one step", board.one_step},
       {"linear, free run", board.linear_free_run},
       {"linear, one step", board.linear_one_step},
       {"last value held", board.hold},
       {"training mean", board.mean}}};
  const std::vector<std::string>& outputs = data.model.spec.outputs;
  std::size_t width = std::string_view("output").size();
  for (const std::string& name : outputs) {
    width = std::max(width, name.size());
  }
  fmt::print("{:<{}}  {:<16}  {:>7}  {:>10}  {:>10}  {:>6}  {:>6}  {:>6}\n", "output", width, "predictor", "values",
             "RMSE", "NLPD", "in 50%", "in 90%", "in 95%");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto e = static_cast<Index>(i);
    for (const auto& [name, score] : predictors) {
      fmt::print("{:<{}}  {:<16}  {:>7}  {:>10}  {:>10}  {:>6}  {:>6}  {:>6}\n", outputs[i], width, name,
                 score.count[i], value_or_dash(score.rmse(e)), value_or_dash(score.nlpd(e)),
                 percent(score.coverage(e, 0)), percent(score.coverage(e, 1)), percent(score.coverage(e, 2)));
    }
  }
}

/// What each recording has of the pooled scores.
void print_recordings(const NewData& data, const std::vector<Scoreboard>& boards) {
  const std::vector<std::string>& outputs = data.model.spec.outputs;
  std::size_t width = std::string_view("output").size();
  for (const std::string& name : outputs) {
    width = std::max(width, name.size());
  }
  fmt::print("\nFree run, by recording\n{:<{}}  {:>7}  {:>10}  {:>10}  {:>6}  {:>16}  {}\n", "output", width, "values",
             "RMSE", "NLPD", "in 90%", "RMSE, linear", "recording");
  for (std::size_t k = 0; k < boards.size(); ++k) {
    const Score& score = boards[k].free_run;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto e = static_cast<Index>(i);
      fmt::print("{:<{}}  {:>7}  {:>10.4g}  {:>10.4g}  {:>6}  {:>16.4g}  {}\n", outputs[i], width, score.count[i],
                 score.rmse(e), score.nlpd(e), percent(score.coverage(e, 1)), boards[k].linear_free_run.rmse(e),
                 data.recordings[k].name);
    }
  }
}

void print_text(const ScoreArguments& arguments, const NewData& data, const std::vector<Scoreboard>& boards,
                const Scoreboard& total) {
  const std::size_t count = boards.size();
  fmt::print("{} on {}: {} rows, {} of them warm-up; free run by {}\n\n", arguments.data.model,
             count == 1 ? data.recordings.front().name : fmt::format("{} recordings", count), data.rows(),
             data.options.warmup * static_cast<Index>(count), describe_method(data.options));
  print_table(data, total);
  if (count > 1) {
    print_recordings(data, boards);
  }
}

/// How often values fell into each tenth of the free run's distribution: 10 % in each, if it is calibrated.
void print_pit(const NewData& data, const Score& score) {
  fmt::print("\nWhere the values fell in the free run's distribution, by tenths (10 % each if it is calibrated)\n");
  for (std::size_t i = 0; i < data.model.spec.outputs.size(); ++i) {
    fmt::print("{}:", data.model.spec.outputs[i]);
    for (Index k = 0; k < ssm::kPitBins; ++k) {
      fmt::print(" {:>4}", percent(score.pit(static_cast<Index>(i), k)));
    }
    fmt::print("\n");
  }
}

/// One line of the table of residual tests.
void print_test(const std::string& output, std::size_t width, const std::string& what, const ssm::CorrelationTest& test,
                Index first_lag) {
  if (test.correlation.size() == 0) {
    fmt::print("{:<{}}  {:<20}  {:>9}\n", output, width, what, "-");
    return;
  }
  constexpr double kSurprising = 0.01;
  Index at = 0;
  test.correlation.cwiseAbs().maxCoeff(&at);
  const std::string p = test.p < 1e-4 ? "<0.0001" : fmt::format("{:.4f}", test.p);
  fmt::print("{:<{}}  {:<20}  {:>9.4g}  {:>7}  {:>7}  {:>7.3f} at lag {}{}\n", output, width, what, test.statistic,
             test.degrees, p, test.correlation(at), at + first_lag,
             test.p < kSurprising ? "  the model leaves something here" : "");
}

void print_residuals(const NewData& data, const std::vector<Scoreboard>& boards, Index lags) {
  const ssm::ModelSpec& spec = data.model.spec;
  const ssm::ResidualTests tests = tests_of(data, boards, 0, boards.size(), lags);
  std::size_t width = std::string_view("output").size();
  for (const std::string& name : spec.outputs) {
    width = std::max(width, name.size());
  }
  fmt::print("\nOne-step residuals: white, and not correlated with inputs, if the model leaves nothing to learn\n");
  fmt::print("{:<{}}  {:<20}  {:>9}  {:>7}  {:>7}  {}\n", "output", width, "test", "statistic", "degrees", "p",
             "largest correlation");
  for (std::size_t e = 0; e < spec.outputs.size(); ++e) {
    print_test(spec.outputs[e], width, "white (Ljung-Box)", tests.whiteness[e], 1);
    for (std::size_t p = 0; p < spec.inputs.size(); ++p) {
      print_test(spec.outputs[e], width, "input " + spec.inputs[p], tests.inputs[e][p], 0);
    }
  }
}

void run_score(const ScoreArguments& arguments) {
  const Index lags = parse_count("--residual-lags", arguments.lags, 1);
  const NewData data = load_new_data(arguments.data, Outputs::kRequired);
  std::vector<Scoreboard> boards;
  for (const NewRecording& recording : data.recordings) {
    boards.push_back(ssm::score_model(data.model, recording.sequence, data.options));
  }
  if (arguments.format == Format::kJson) {
    print_json(data, boards, lags);
    return;
  }
  const Scoreboard board = pooled(boards);
  print_text(arguments, data, boards, board);
  print_pit(data, board.free_run);
  print_residuals(data, boards, lags);
  if (board.diverged > 0) {
    fmt::print("\n{}\n", describe_diverged(data.options, board.diverged));
  }
  if (board.beyond > 0) {
    fmt::print("\n{}\n", describe_beyond(board.beyond));
  }
}

}  // namespace

void add_score(CLI::App& app) {
  const auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = app.add_subcommand("score", "compare predictions with measured outputs, beside baselines");
  add_new_data_options(*command, arguments->data);
  command->add_option("--residual-lags", arguments->lags, "most rows between two residuals, or a residual and an input")
      ->type_name("N")
      ->capture_default_str();
  add_format(*command, arguments->format);
  command->footer(
      "RMSE (in the unit of the output), negative log predictive density (NLPD, mean per value; lower is better) and "
      "the share of the values\n"
      "inside the central 50, 90 and 95 % intervals, over the measured outputs after the warm-up. 'free run' uses the\n"
      "inputs alone, 'one step' every output up to the row before. The histogram of probability integral transforms "
      "says\n"
      "where the values fell in the predicted distribution. Baselines: the linear model that was fitted beside it\n"
      "(linear), the last value measured in the warm-up, held, and the training outputs' mean and standard deviation.\n"
      "Several files, or the sequences of a file with a column 'sequence', are scored together and one by one; each "
      "has its warm-up. The residuals are the errors of "
      "'one\n"
      "step' in units of their predicted sd: a small p says that they are correlated over time, or with an input so\n"
      "many rows before, so that there is more to learn. Examples:\n"
      "  gpilot score model.json test.csv\n"
      "  gpilot score model.json monday.csv tuesday.csv --warmup 20\n"
      "  gpilot score model.json test.csv --warmup 10 --format json\n"
      "  gpilot score model.json data.csv --rows 300: --draws 1000 --seed 1");
  command->callback([arguments] { run_score(*arguments); });
}

}  // namespace gpilot::cli
