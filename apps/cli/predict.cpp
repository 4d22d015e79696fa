#include "gpilot/ssm/predict.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpilot/error.hpp"
#include "gpilot/study/table.hpp"
#include "new_data.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

struct PredictArguments {
  NewDataArguments data;
  std::string output;
  Format format = Format::kText;
};

/// The columns t, then NAME_mean, NAME_sd, NAME_q05 .. NAME_q95 of every output.
study::Table to_table(const NewData& data, const ssm::Prediction& prediction) {
  study::Table table;
  table.append(std::vector<std::string>{"t"}, data.times);
  for (std::size_t i = 0; i < data.model.spec.outputs.size(); ++i) {
    const std::string& name = data.model.spec.outputs[i];
    const auto e = static_cast<Index>(i);
    const auto add = [&](const std::string& suffix, const Matrix& values) {
      table.append(std::vector<std::string>{name + suffix}, values.col(e));
    };
    add("_mean", prediction.mean);
    add("_sd", prediction.sd);
    for (std::size_t k = 1; k + 1 < ssm::kQuantileLevels.size(); ++k) {  // the outermost are for scores
      add(fmt::format("_q{:02.0f}", 100.0 * ssm::kQuantileLevels[k]), prediction.quantiles[k]);
    }
  }
  return table;
}

void print_summary(const PredictArguments& arguments, const NewData& data, const ssm::Prediction& prediction) {
  const Index rows = data.sequence.rows();
  const Index filtered = data.options.warmup;
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
                                          {"diverged", prediction.diverged},
                                          {"seed", data.options.seed}};
  fmt::print("{}\n", summary.dump(2));
}

void run_predict(const PredictArguments& arguments) {
  const bool to_stdout = arguments.output == "-";
  if (to_stdout && arguments.format == Format::kJson) {
    throw InputError("--format json prints a summary, so the predictions need a file: give -o FILE.csv, not -o -");
  }
  const NewData data = load_new_data(arguments.data, Outputs::kForWarmup);
  const ssm::Prediction prediction = ssm::Predictor(data.model, data.model.gp).free_run(data.sequence, data.options);
  const study::Table table = to_table(data, prediction);
  if (to_stdout) {
    fmt::print("{}", study::format_csv(table));
  } else {
    study::write_csv(arguments.output, table);
    print_summary(arguments, data, prediction);
  }
  if (prediction.diverged > 0) {
    fmt::print(stderr, "gpilot: warning: {}\n", describe_diverged(data.options, prediction.diverged));
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
      "Rows 0 to K - 1 (--warmup K) hold the filtered estimate, which has seen their outputs; later rows use the\n"
      "inputs alone. Without a warm-up the run starts from the model's x0, and the file needs no outputs. Every draw\n"
      "follows one possible dynamics from start to end. Examples:\n"
      "  gpilot predict model.json new.csv -o pred.csv\n"
      "  gpilot predict model.json new.csv --warmup 10 --draws 1000 --seed 1 -o pred.csv\n"
      "  gpilot predict model.json new.csv --rows 100:200 --draws 0 -o -");
  command->callback([arguments] { run_predict(*arguments); });
}

}  // namespace gpilot::cli
