#include "gpilot/ssm/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "new_data.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

struct PredictArguments {
  NewDataArguments data;
  std::string output;
  Format format = Format::kText;
};

/// The columns t, then NAME_mean, NAME_sd, NAME_q05 .. NAME_q95 of every output, and beyond, which is 1 where the run
/// has left what the training data support; before them, where there are several recordings, their number in the column
/// sequence.
io::Table to_table(const NewData& data, const std::vector<ssm::Prediction>& predictions) {
  io::Table table;
  const Index rows = data.rows();
  const auto add = [&](const std::string& name, const auto& column_of) {
    Vector column(rows);
    Index row = 0;
    for (std::size_t k = 0; k < predictions.size(); ++k) {
      const Index length = data.recordings[k].sequence.rows();
      column.segment(row, length) = column_of(k);
      row += length;
    }
    table.append(std::vector<std::string>{name}, column);
  };
  if (predictions.size() > 1) {
    add("sequence", [&](std::size_t k) -> Vector {
      return Vector::Constant(data.recordings[k].sequence.rows(), static_cast<double>(k + 1));
    });
  }
  add("t", [&](std::size_t k) -> Vector { return data.recordings[k].times; });
  for (std::size_t i = 0; i < data.model.spec.outputs.size(); ++i) {
    const std::string& name = data.model.spec.outputs[i];
    const auto e = static_cast<Index>(i);
    add(name + "_mean", [&](std::size_t k) -> Vector { return predictions[k].mean.col(e); });
    add(name + "_sd", [&](std::size_t k) -> Vector { return predictions[k].sd.col(e); });
    for (std::size_t q = 1; q + 1 < ssm::kQuantileLevels.size(); ++q) {  // the outermost are for scores
      add(fmt::format("{}_q{:02.0f}", name, 100.0 * ssm::kQuantileLevels[q]),
          [&](std::size_t k) -> Vector { return predictions[k].quantiles[q].col(e); });
    }
  }
  add("beyond", [&](std::size_t k) -> Vector {
    const std::vector<bool>& beyond = predictions[k].beyond;
    return Vector::NullaryExpr(std::ssize(beyond),
                               [&](Index t) { return beyond[static_cast<std::size_t>(t)] ? 1.0 : 0.0; });
  });
  return table;
}

void print_summary(const PredictArguments& arguments, const NewData& data, Index diverged, Index beyond) {
  const Index rows = data.rows();
  const Index filtered = data.options.warmup * static_cast<Index>(data.recordings.size());
  if (arguments.format == Format::kText) {
    fmt::print("wrote {} rows of {} to {}: {} filtered, {} predicted by {}\n", rows,
               fmt::join(data.model.spec.outputs, ", "), arguments.output, filtered, rows - filtered,
               describe_method(data.options));
    return;
  }
  const nlohmann::ordered_json summary = {{"file", arguments.output},
                                          {"rows", rows},
                                          {"filtered", filtered},
                                          {"predicted", rows - filtered},
                                          {"outputs", data.model.spec.outputs},
                                          {"draws", data.options.draws},
                                          {"diverged", diverged},
                                          {"beyond", beyond},
                                          {"seed", data.options.seed}};
  fmt::print("{}\n", summary.dump(2));
}

void run_predict(const PredictArguments& arguments) {
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.format == Format::kJson) {
    throw InputError("--format json prints a summary, so the predictions need a file: give -o FILE.csv, not -o -");
  }
  io::check_not_input(arguments.output, arguments.data.files);
  io::check_not_input(arguments.output, std::vector<std::string>{arguments.data.model});
  if (!to_stdout) {
    io::check_writable(arguments.output);
    io::check_replaceable(arguments.output, io::FileKind::kTable);
  }
  const NewData data = load_new_data(arguments.data, Outputs::kForWarmup);
  const ssm::Predictor predictor(data.model, data.model.gp);
  std::vector<ssm::Prediction> predictions;
  Index diverged = 0;
  Index beyond = 0;
  for (const NewRecording& recording : data.recordings) {
    predictions.push_back(predictor.free_run(recording.sequence, data.options));
    diverged = std::max(diverged, predictions.back().diverged);
    beyond += std::ranges::count(predictions.back().beyond, true);
  }
  const io::Table table = to_table(data, predictions);
  if (to_stdout) {
    fmt::print("{}", io::format_csv(table));
  } else {
    io::write_csv(arguments.output, table);
    print_summary(arguments, data, diverged, beyond);
  }
  if (diverged > 0) {
    fmt::print(stderr, "gpilot: warning: {}\n", describe_diverged(data.options, diverged));
  }
  if (beyond > 0) {
    fmt::print(stderr, "gpilot: warning: {}\n", describe_beyond(beyond));
  }
}

}  // namespace

void add_predict(CLI::App& app) {
  const auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = app.add_subcommand("predict", "predict the outputs of new data from their inputs");
  add_new_data_options(*command, arguments->data);
  command->add_option("-o,--output", arguments->output, "file to write; - is standard output")
      ->required()
      ->type_name("PRED.csv");
  add_format(*command, arguments->format);
  command->footer(
      "Writes t, then NAME_mean, NAME_sd, NAME_q05, _q25, _q50, _q75, _q95 of every output, output noise included.\n"
      "NAME_mean is the point prediction: of draws their median, which draws that diverge do not move. The column\n"
      "'beyond' is 1 from where a run has left what the training data support: there the model extrapolates.\n"
      "Rows 0 to K - 1 (--warmup K) hold the filtered estimate, which has seen their outputs; later rows use the\n"
      "inputs alone. Without a warm-up the run starts from the model's x0, and the file needs no outputs. Every draw\n"
      "follows one possible dynamics from start to end. Several files, or the sequences of a file with a column\n"
      "'sequence', are predicted one by one; a column 'sequence' then numbers them. Examples:\n"
      "  gpilot predict model.json new.csv -o pred.csv\n"
      "  gpilot predict model.json new.csv --warmup 10 --draws 1000 --seed 1 -o pred.csv\n"
      "  gpilot predict model.json new.csv --rows 100:200 --draws 0 -o -");
  command->callback([arguments] { run_predict(*arguments); });
}

}  // namespace gpilot::cli
