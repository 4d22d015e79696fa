#pragma once

#include <string>
#include <vector>

#include "gpilot/identify/identify.hpp"
#include "gpilot/identify/linear_model.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/scaling.hpp"

namespace gpilot::identify {

/// A structure to be trained: everything that validation chooses between.
struct StructureChoice {
  StateKind kind = StateKind::kLinear;
  LinearChoice linear = {};  ///< of the linear model that it is or starts from
  Index dead_time = 0;       ///< of the delay embedding
  Index output_lags = 0;     ///< rows of outputs in the state
  Index input_lags = 0;

  std::string name() const;
};

/// Training data of a fold or of the whole, scaled by their own statistics.
struct Problem {
  Problem(const ssm::Dataset& data, const ssm::ModelSpec& spec);

  ssm::Dataset scaled;
  ssm::Scaling scaling;  ///< states apart
};

/// A model that a choice led to.
struct FittedCandidate {
  ssm::Dynamics dynamics;
  ssm::StatePosterior q;     ///< of the training rows
  double mean_square = 0.0;  ///< linear: of the simulated training outputs' error, scaled
  double bound = 0.0;        ///< ELBO; NaN for a linear model
  double objective = 0.0;
  bool converged = true;
  int evaluations = 0;
  double extra_jitter = 0.0;
  std::vector<double> trace;
  Vector singular_values;
};

/// How much is spent on the training of a Gaussian process.
struct Effort {
  int iterations = 100;  ///< of the joint L-BFGS
  /// Nodes of degree 3 for three and more states, where the model's own are chosen by themselves: smoothed states are
  /// sharp, so that a candidate errs alike, for a third of the time. For candidates, not for the model that is kept.
  bool coarse = false;
  /// For the rows of one candidate. Candidates that are trained side by side take one each.
  int threads = 1;
};

/// Trains a choice. `linear` is the linear model of the same data that a Gaussian process starts from.
FittedCandidate fit_linear_candidate(const Problem& problem, const LinearChoice& choice,
                                     const IdentifyOptions& options);
FittedCandidate fit_candidate(const Problem& problem, const StructureChoice& choice, const FittedCandidate& linear,
                              const ssm::ModelSpec& spec, const IdentifyOptions& options, const Effort& effort);

}  // namespace gpilot::identify
