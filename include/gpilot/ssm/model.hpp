#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/gp/inducing.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/types.hpp"

namespace gpilot::ssm {

/// A declared range of a column, in user units.
struct Range {
  std::string name;
  double low = 0.0;
  double high = 1.0;

  bool operator==(const Range&) const = default;
};

/// State `velocity` is the time derivative of state `position` (indices of states).
struct DerivativeOf {
  Index velocity = 0;
  Index position = 0;

  bool operator==(const DerivativeOf&) const = default;
};

/// What the user declares about a model, in user units. An entry that is NaN is "not given".
struct ModelSpec {
  std::vector<std::string> inputs;   ///< P names
  std::vector<std::string> outputs;  ///< E names
  std::vector<std::string> states;   ///< D names
  double dt = 1.0;                   ///< seconds between rows
  kernels::Kind kernel = kernels::Kind::kSquaredExponential;
  bool linear_kernel = true;
  MeanKind mean = MeanKind::kIdentity;
  Index inducing = 20;
  std::vector<DerivativeOf> derivatives;
  std::vector<std::string> angles;  ///< states that are angles, in radians
  Vector x0_mean;                   ///< [D] or empty
  Vector x0_sd;                     ///< [D] or empty
  Matrix C;                         ///< [E x D] or empty for [I 0]
  Vector d;                         ///< [E] or empty for 0
  bool learn_C = false;
  bool learn_d = false;
  Vector output_sd;   ///< [E] fixed noise, or empty / NaN to learn
  Vector process_sd;  ///< [D] fixed noise, or empty / NaN to learn
  std::vector<Range> ranges;
  gp::NodeRule nodes = gp::NodeRule::kAuto;
  Index node_points = 0;

  /// Throws InputError naming the field.
  void validate() const;
  /// A full turn of each output [E] that measures an angle and nothing else, in its units; 0 for all others.
  Vector turns() const;
};

/// user = offset + scale * scaled, per column.
struct Scaling {
  Vector control_offset, control_scale;  ///< [P]
  Vector output_offset, output_scale;    ///< [E]
  Vector state_offset, state_scale;      ///< [D]

  Sequence to_scaled(const Sequence& user) const;
  /// Scaled units that are the user's.
  static Scaling identity(const ModelSpec& spec);
};

/// Mean and standard deviation of output `e` over all rows that have it (user units). Of an angle, with a `turn` that
/// is not 0, both are taken over the turn about the mean direction.
void column_statistics(const Dataset& data, Index e, double turn, double& mean, double& sd);

/// Scales from declared ranges or training statistics. Observed states (a row of C that is a unit vector) carry their
/// output's scale, a declared derivative the spread of its position's rate of change, any other state is scaled
/// already.
Scaling make_scaling(const ModelSpec& spec, const Dataset& data);

/// The model's shape and start in scaled units.
Structure make_structure(const ModelSpec& spec, const Scaling& scaling, Index transitions);
/// Emission and noises the user gave, in scaled units, on top of the defaults; `free` says what is left to learn.
Parameters make_parameters(const ModelSpec& spec, const Scaling& scaling, const Structure& structure, Free& free);

/// A trained transition and emission in scaled units.
struct Component {
  Structure structure;
  Parameters parameters;
  std::vector<gp::Weights> weights;
  Index dead_time = 0;                        ///< rows by which every input acts later
  Index input_lags = 0;                       ///< past inputs that the transition takes beside the present one
  Vector spread = {};                         ///< [E] calibrated factor on the sd of a free run; empty is 1
  std::vector<std::string> state_names = {};  ///< [D] states of its own, in scaled units; empty: those of the spec

  /// A scaled sequence with the controls that the transition takes: c_{t-k}, c_{t-k-1}, .., c_{t-k-lags} for a dead
  /// time of k rows. Before the first row the inputs are taken to have been as in it.
  Sequence delayed(Sequence scaled) const;
};

/// One model that training arrived at, and how it was judged.
struct Candidate {
  std::string name;
  double bound = 0.0;               ///< ELBO
  double predictive_density = 0.0;  ///< mean log density per value a few steps ahead, less the price of the weights
  /// RMSE of free runs over rows that were left out of its training, in units of the outputs' sd; NaN: not judged so.
  double validation = std::numeric_limits<double>::quiet_NaN();
};

/// One training option as it was set, e.g. {"method", "em"}.
struct Setting {
  std::string name;
  std::string value;
};

/// What training did.
struct FitReport {
  std::vector<Setting> settings;      ///< every option that the result depends on
  std::string status;                 ///< "converged", "iteration limit", "motion as noise" or "interrupted"
  std::string message;                ///< one sentence
  double bound = 0.0;                 ///< ELBO of the model
  double objective = 0.0;             ///< ELBO plus log prior
  std::vector<double> trace;          ///< objective after every accepted step of the chosen start
  std::vector<Candidate> candidates;  ///< all that were compared
  std::string chosen;
  std::string structure;    ///< what the states are, in words; empty where they were declared
  std::string reason;       ///< why it was chosen
  std::string calibration;  ///< what was done to the intervals of free runs; empty: nothing
  Vector explained;         ///< [G] share of a GP row's motion that the function explains, the rest is noise
  double extra_jitter = 0.0;
  int evaluations = 0;
  double seconds = 0.0;
};

/// A fitted model: complete, self-contained, in the user's units outside.
struct Model {
  ModelSpec spec;
  Scaling scaling;
  Component gp;                   ///< the model
  Component linear;               ///< the baseline: the same without its Gaussian process
  Vector output_mean, output_sd;  ///< the other baseline, user units
  StatePosterior states;          ///< q(x) of the training rows, scaled
  std::vector<Index> starts;      ///< first row of each training sequence, then n
  FitReport report;
  std::uint64_t seed = 0;
  std::string version;
};

}  // namespace gpilot::ssm
