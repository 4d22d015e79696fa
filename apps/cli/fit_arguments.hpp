#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/inference/batches.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/inference/identify.hpp"
#include "gpilot/ssm/model.hpp"
#include "options.hpp"

namespace gpilot::cli {

/// What the user typed after `gpilot fit`; an empty text was not given.
struct FitArguments {
  std::vector<std::string> files;
  std::string inputs, outputs, states;
  std::string kernel, mean, inducing;
  std::vector<std::string> derivatives;
  std::vector<std::string> angles;
  std::string x0, x0_sd;
  std::vector<std::string> fixed;
  std::string emission, offset;
  std::vector<std::string> learn;
  std::vector<std::string> ranges;
  std::string nodes;
  std::string dt, rows;
  std::string method, epochs, samples, learning_rate;
  std::string rounds, polish, restarts, noise_path, horizon, threads;
  std::string batch, batch_length, batches;
  bool tied = false;
  std::string structure, order, dead_time, lags;
  bool linear = false;
  bool offset_per_recording = false;
  std::string from;
  std::uint64_t seed = 0;
  bool verbose = false;
  std::string output;
  Format format = Format::kText;
};

/// Adds the options and their help.
void add_fit_options(CLI::App& command, FitArguments& arguments);

/// What is declared about the model, dt apart (it is in the data). Options that were not given are as in `previous`.
ssm::ModelSpec spec_from(const FitArguments& arguments, const ssm::ModelSpec* previous);

/// How to train.
inference::FitOptions options_from(const FitArguments& arguments);

/// How to train by batches; nothing if that was not asked for.
std::optional<inference::BatchOptions> batches_from(const FitArguments& arguments);

/// State names out of "a,b" or of a number: x1, x2, ..
std::vector<std::string> parse_states(const std::string& text);

/// Whether an option about identified structures was given.
bool asks_for_structure(const FitArguments& arguments);

/// Whether the states are to be identified rather than declared: asked for, or nothing but their number is given.
bool identifies(const FitArguments& arguments);

/// Columns, kernel and inducing points of a model whose states are identified, dt apart.
ssm::ModelSpec identified_spec_from(const FitArguments& arguments);

/// How to identify.
inference::IdentifyOptions identify_options_from(const FitArguments& arguments);

/// "a,b,c" in parts, each non-empty.
std::vector<std::string> split_names(std::string_view option, std::string_view text);

}  // namespace gpilot::cli
