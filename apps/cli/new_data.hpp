#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"

/// What `predict` and `score` share: a model, files of new data, and how to run ahead of it.
namespace gpilot::cli {

/// What the user typed; an empty text was not given.
struct NewDataArguments {
  const CLI::App* command = nullptr;  ///< null: not typed by a user
  std::string model;
  std::vector<std::string> files;
  std::string rows;
  std::string dt;
  std::string warmup = "0";
  std::string draws = "200";
  std::uint64_t seed = 0;
};

void add_new_data_options(CLI::App& command, NewDataArguments& arguments);
/// The part of them that says how to run ahead of which rows.
void add_prediction_options(CLI::App& command, NewDataArguments& arguments);

/// The outputs' columns may be absent: when there is no warm-up, predicting needs the controls alone.
enum class Outputs { kRequired, kForWarmup };

/// One recording of the new data.
struct NewRecording {
  std::string name;  ///< of the file, and of the sequence within it
  ssm::Sequence sequence;
  Vector times;  ///< [rows] seconds: the times of the file, or counted in steps of the model
};

struct NewData {
  ssm::Model model;
  std::vector<NewRecording> recordings;
  ssm::PredictOptions options;

  Index rows() const;
};

/// Reads model and data; notes about the files go to standard error. Throws InputError when they do not belong
/// together.
NewData load_new_data(const NewDataArguments& arguments, Outputs outputs);

/// "gpilot: note: .." on standard error; nothing for an empty note.
void print_note(const std::string& note);

/// Throws InputError for a model whose transition takes past inputs: it has no value at a state and an input alone.
void check_present_inputs(const ssm::Model& model, const std::string& file);

/// Says that so many rows of free runs have left what the training data support.
std::string describe_beyond(Index rows);

/// "200 function draws, seed 0" or "moment matching".
std::string describe_method(const ssm::PredictOptions& options);
/// A sentence about runs that diverged, or "".
std::string describe_diverged(const ssm::PredictOptions& options, Index diverged);

}  // namespace gpilot::cli
