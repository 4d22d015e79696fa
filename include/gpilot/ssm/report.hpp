#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpilot/ssm/model.hpp"
#include "gpilot/types.hpp"

/// A model's content for people: everything in user units. Inputs of the transition are the states, then the controls.
namespace gpilot::ssm {

/// Settings of a model whose q(x) holds only part of its training rows: how many rows and sequences there were.
inline constexpr const char* kRowsSetting = "rows";
inline constexpr const char* kSequencesSetting = "sequences";

/// How one state moves.
struct RowSummary {
  std::string state;
  std::optional<Index> velocity;  ///< a kinematic row: this state's derivative. Then only the process noise is set.
  std::optional<Index> copied;    ///< a shift row: the state whose last value it holds
  double process_sd = 0.0;        ///< per step
  bool process_fixed = false;     ///< given by the user
  Vector weights;                 ///< [terms] x' = weights . terms + offset + g(inputs): mean function, linear kernel
  double offset = 0.0;
  double function_sd = 0.0;         ///< prior standard deviation of g; 0 = there is no g
  Vector length_scales;             ///< [I] of g
  Vector relative_length_scales;    ///< [I] in units of each input's spread: small = relevant
  std::optional<double> explained;  ///< share of the motion that the function explains
};

struct Summary {
  Index sequences = 0;
  Index rows = 0;                   ///< of the training data
  std::vector<std::string> inputs;  ///< [I] states, then controls
  std::vector<std::string> terms;   ///< of linear parts: the inputs, then sine and cosine of each angle
  std::vector<RowSummary> states;   ///< [D]
  Matrix C;                         ///< [E x D]
  Vector d;                         ///< [E]
  Vector output_sd;                 ///< [E]
  std::vector<bool> output_fixed;   ///< [E]
  Vector x0_mean, x0_sd;            ///< [D]
};

/// The model itself, or with `component` = model.linear its baseline.
Summary summarize(const Model& model, const Component& component);

}  // namespace gpilot::ssm
