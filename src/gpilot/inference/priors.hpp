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
  static constexpr double kPhysicsShift = -4.0;  ///< of a row with physics: its function has an sd of .08. By feel
  static constexpr double kNothing = -24.0;      ///< of a row without a function: an sd of 4e-6, which no data move

  NormalPrior log_variance{-1.0, 1.5};
  NormalPrior log_length_scale{1.1, 1.0};
  NormalPrior log_linear_sd{-1.0, 1.0};
  double log_q_sd = 2.0;        ///< around centre.log_q
  double log_r_sd = 2.5;        ///< around centre.log_r
  double mean_weight_sd = 1.0;  ///< around centre.mean_weights
  double Z_sd = 3.0;            ///< around 0
  double emission_sd = 1.0;     ///< C and d around their start
  /// [G] added to the mean of a row's log_variance, and half of it to that of its log_linear_sd; empty: 0. A row with
  /// declared physics has a function that is small a priori.
  Vector shift = {};
  ssm::Parameters centre;  ///< centres of log_q, log_r, mean_weights, C and d

  double log_variance_mean(Index g) const { return log_variance.mean + (shift.size() > 0 ? shift(g) : 0.0); }
  double log_linear_sd_mean(Index g) const { return log_linear_sd.mean + (shift.size() > 0 ? 0.5 * shift(g) : 0.0); }
  /// log p(parameters) up to a constant; adds its gradient to p_bar when given.
  double log_density(const ssm::Parameters& p, ssm::Parameters* p_bar) const;
};

}  // namespace gpilot::inference
