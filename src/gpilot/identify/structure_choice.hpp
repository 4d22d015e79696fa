#pragma once

#include <string>
#include <vector>

#include "gpilot/inference/identify.hpp"
#include "gpilot/inference/linear_model.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::inference {

/// A structure to be trained: everything that validation chooses between.
struct Recipe {
  StateKind kind = StateKind::kLinear;
  LinearChoice linear = {};  ///< of the linear model that it is or starts from
  Index dead_time = 0;       ///< of the delay embedding
  Index output_lags = 0;     ///< rows of outputs in the state
  Index input_lags = 0;

  std::string name() const;
};

/// Training data of a fold or of the whole, scaled by their own statistics.
struct Problem {
  Problem(ssm::Dataset data, const ssm::ModelSpec& spec);

  ssm::Dataset scaled;
  ssm::Scaling scaling;  ///< states apart
};

/// A model that a recipe led to.
struct Cooked {
  ssm::Component component;
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

/// Trains a recipe. `linear` is the linear model of the same data that a Gaussian process starts from.
Cooked cook_linear(const Problem& problem, const LinearChoice& choice, const IdentifyOptions& options);
Cooked cook(const Problem& problem, const Recipe& recipe, const Cooked& linear, const ssm::ModelSpec& spec,
            const IdentifyOptions& options);

}  // namespace gpilot::inference
