#pragma once

#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

/// A normal prior on a parameter (on its logarithm, where the parameter is one).
struct NormalPrior {
  double mean = 0.0;
  double sd = 1.0;

  bool operator==(const NormalPrior&) const = default;
};

/// Weak priors in scaled units. They keep few data from running into degenerate corners (length scales of 0, noise of
/// 0) and are forgotten with many. Tight ones hurt.
struct Priors {
  NormalPrior log_variance{-1.0, 1.5};
  NormalPrior log_length_scale{1.1, 1.0};
  NormalPrior log_linear_sd{-1.0, 1.0};
  double log_q_sd = 2.0;        ///< around centre.log_q
  double log_r_sd = 2.5;        ///< around centre.log_r
  double mean_weight_sd = 1.0;  ///< around centre.mean_weights
  double Z_sd = 3.0;            ///< around 0
  double emission_sd = 1.0;     ///< C and d around their start
  ssm::Parameters centre;       ///< centres of log_q, log_r, mean_weights, C and d

  /// log p(parameters) up to a constant; adds its gradient to p_bar when given.
  double log_density(const ssm::Parameters& p, ssm::Parameters* p_bar) const;
};

}  // namespace gpilot::inference
