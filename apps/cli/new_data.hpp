#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/types.hpp"

/// What `predict` and `score` share: a model, a file of new data, and how to run ahead of it.
namespace gpilot::cli {

/// What the user typed; an empty text was not given.
struct NewDataArguments {
  std::string model;
  std::string file;
  std::string rows;
  std::string dt;
  std::string warmup = "0";
  std::string draws = "200";
  std::uint64_t seed = 0;
};

void add_new_data_options(CLI::App& command, NewDataArguments& arguments);

/// The outputs' columns may be absent: when there is no warm-up, predicting needs the controls alone.
enum class Outputs { kRequired, kForWarmup };

struct NewData {
  ssm::Model model;
  ssm::Sequence sequence;
  Vector times;  ///< [rows] seconds: the column t, or counted in steps of the model
  ssm::PredictOptions options;
};

/// Reads model and data. Throws InputError when they do not belong together.
NewData load_new_data(const NewDataArguments& arguments, Outputs outputs);

/// Throws InputError for a model whose transition takes past inputs: it has no value at a state and an input alone.
void check_present_inputs(const ssm::Model& model, const std::string& file);

/// "200 function draws, seed 0" or "moment matching".
std::string describe_method(const ssm::PredictOptions& options);
/// A sentence about runs that diverged, or "".
std::string describe_diverged(const ssm::PredictOptions& options, Index diverged);

}  // namespace gpilot::cli
