#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"

/// What training did, and what a model says, for people.
namespace gpilot::ssm {

struct Dynamics;
struct Model;

/// How a training ended.
enum class FitStatus {
  kNone,            ///< not trained; the word is empty
  kConverged,       ///< the bound settled
  kIterationLimit,  ///< it stopped before the bound settled
  kNotUseful,       ///< over rows that it had not learned from it is no better than holding the last value
  kMotionAsNoise,   ///< the function explains too little of the motion, the rest is process noise
  kInterrupted,     ///< stopped from outside; the model is the best so far
  kFailed,          ///< there is no model
};

/// The word in files and output: "converged", "iteration limit", "not yet useful", "motion as noise", "interrupted",
/// "failed".
std::string_view name(FitStatus status);
/// Throws InputError for another word.
FitStatus fit_status_from_name(std::string_view text);

/// One model that training arrived at, and how it was judged.
struct Candidate {
  std::string name;
  double bound = 0.0;               ///< ELBO
  double predictive_density = 0.0;  ///< mean log density per value a few steps ahead, less the price of the weights
  /// RMSE of free runs over rows that were left out of its training, in units of the outputs' sd; NaN: not judged so.
  double validation = kNaN;
};

/// Free runs over training rows that the function had not learned from (docs/math/prediction.md): root mean squared
/// errors, a value for each step ahead, pooled over outputs in scaled units (a declared range is 3.5 wide).
struct HeldOut {
  std::vector<double> model;   ///< of the model
  std::vector<double> linear;  ///< of its linear baseline
  std::vector<double> hold;    ///< of holding the last value
  Index runs = 0;              ///< 0: there were too few rows

  /// Over all steps ahead, as shares of the error of holding the last value; NaN if there were no runs, or
  /// nothing changed in them.
  double model_ratio() const;
  double linear_ratio() const;
  /// The farthest step ahead at which the model was better than holding the last value, 0 if none; not given if there
  /// were no runs.
  std::optional<Index> skilled_steps() const;
};

/// One training option as it was set, e.g. {"method", "em"}.
struct Setting {
  std::string name;
  std::string value;
};

/// A parameter of declared physics as it was learned, in its units.
struct ParameterEstimate {
  std::string name;
  std::string unit;
  double value = 0.0;
  double sd = 0.0;   ///< standard error, by a Laplace approximation at the optimum
  double low = 0.0;  ///< the central 95 % of it
  double high = 0.0;
  double determined = 0.0;  ///< share of the prior's variance that the data removed: 0 = they say nothing
};

/// What training did.
struct FitReport {
  std::vector<Setting> settings;  ///< every option that the result depends on
  FitStatus status = FitStatus::kNone;
  std::string message;                ///< one sentence
  double bound = 0.0;                 ///< ELBO of the model
  double objective = 0.0;             ///< ELBO plus log prior
  std::vector<double> trace;          ///< objective after every accepted step of the chosen start
  std::vector<Candidate> candidates;  ///< all that were compared
  std::string chosen;
  std::string structure;    ///< what the states are, in words; empty where they were declared
  std::string reason;       ///< why it was chosen
  std::string calibration;  ///< what was done to the intervals of free runs; empty: nothing
  HeldOut held_out;
  std::vector<ParameterEstimate> parameters;  ///< of declared physics, those that are learned
  std::vector<std::string> warnings;          ///< about them: which cannot be told apart, which the data do not reach
  Vector explained;  ///< [G] share of a GP row's motion that the function explains, the rest is noise
  double extra_jitter = 0.0;
  int evaluations = 0;
  double seconds = 0.0;
};

// A model's content, everything in user units. Inputs of the transition are the states, then the controls.

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

/// The model itself, or with `dynamics` = model.linear its baseline.
Summary summarize(const Model& model, const Dynamics& dynamics);

}  // namespace gpilot::ssm
