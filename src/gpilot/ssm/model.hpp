#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/inducing.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/report.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/spec.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

/// The model's shape and start in scaled units.
Structure make_structure(const ModelSpec& spec, const Scaling& scaling, Index transitions);
/// Emission and noises the user gave, in scaled units, on top of the defaults; `free` says what is left to learn.
Parameters make_parameters(const ModelSpec& spec, const Scaling& scaling, const Structure& structure, Free& free);

/// A trained transition and emission in scaled units.
struct Dynamics {
  Structure structure;
  Parameters parameters;
  std::vector<gp::Weights> weights;
  Index dead_time = 0;                        ///< rows by which every input acts later
  Index input_lags = 0;                       ///< past inputs that the transition takes beside the present one
  Vector spread = {};                         ///< [E] calibrated factor on the sd of a free run; empty is 1
  Vector support = {};                        ///< [G] largest variance of f at a training row; empty: not known
  std::vector<std::string> state_names = {};  ///< [D] states of its own, in scaled units; empty: those of the spec

  /// A scaled sequence with the controls that the transition takes: c_{t-k}, c_{t-k-1}, .., c_{t-k-lags} for a dead
  /// time of k rows. Before the first row the inputs are taken to have been as in it.
  Sequence delayed(Sequence scaled) const;
};

/// A fitted model: complete, self-contained, in the user's units outside.
struct Model {
  ModelSpec spec;
  Scaling scaling;
  Dynamics gp;                    ///< the model
  Dynamics linear;                ///< the baseline: the same without its Gaussian process
  Vector output_mean, output_sd;  ///< the other baseline, user units
  StatePosterior states;          ///< q(x) of the training rows, scaled
  std::vector<Index> starts;      ///< first row of each training sequence, then n
  FitReport report;
  std::uint64_t seed = 0;
  std::string version;
};

}  // namespace gpilot::ssm
