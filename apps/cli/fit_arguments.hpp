#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/identify/identify.hpp"
#include "gpilot/inference/batches.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"
#include "options.hpp"

namespace gpilot::cli {

/// What the user typed after `gpilot fit`; an empty text was not given.
struct FitArguments {
  const CLI::App* command = nullptr;
  std::vector<std::string> files;
  std::string inputs, outputs, states;
  std::string kernel, nodes;
  ssm::ModelSpec model;  ///< its mean and inducing points
  std::vector<std::string> derivatives;
  std::vector<std::string> angles;
  std::vector<std::string> cyclic, depends_on, odd, centres, control_affine, coefficients;
  std::string physics;
  std::string x0, x0_sd;
  std::vector<std::string> fixed;
  std::string emission, offset;
  std::vector<std::string> learn;
  std::vector<std::string> ranges;
  std::string dt, rows;
  std::string structure, lags;
  bool linear = false;
  inference::FitOptions fit{};
  inference::BatchOptions batches;
  identify::IdentifyOptions identify{};
  std::vector<std::string> of_declared;  ///< names of the options that only models with declared states have
  std::string from;
  bool suggest = false;
  bool verbose = false;
  std::string output;
  Format format = Format::kText;

  /// Whether an option was given: "--mean".
  bool given(const std::string& option) const { return command->count(option) > 0; }
};

/// Adds the options and their help.
void add_fit_options(CLI::App& command, FitArguments& arguments);

/// What is declared about the model, dt apart (it is in the data). Options that were not given are as in `previous`.
ssm::ModelSpec spec_from(const FitArguments& arguments, const ssm::ModelSpec* previous);

/// State names out of "a,b" or of a number: x1, x2, ..
std::vector<std::string> parse_states(const std::string& text);

/// Whether an option about identified structures was given.
bool asks_for_structure(const FitArguments& arguments);

/// Whether the states are to be identified rather than declared: asked for, or nothing but their number is given.
bool identifies(const FitArguments& arguments);

/// Throws InputError for options that a fit of this kind would ignore.
void check_fit_options(const FitArguments& arguments, bool identified);

/// Columns, kernel and inducing points of a model whose states are identified, dt apart.
ssm::ModelSpec identified_spec_from(const FitArguments& arguments);

/// How to identify.
identify::IdentifyOptions identify_options_from(const FitArguments& arguments);

/// The options that say what is known about functions, and what they say.
void add_knowledge_options(CLI::App& command, FitArguments& arguments);
void parse_knowledge(const FitArguments& arguments, ssm::ModelSpec& spec);

/// "NAME=REST"; `form` is what to expect.
std::pair<std::string, std::string> split_assignment(std::string_view option, std::string_view text,
                                                     std::string_view form);

/// "a,b,c" in parts, each non-empty.
std::vector<std::string> split_names(std::string_view option, std::string_view text);

}  // namespace gpilot::cli
