#pragma once

#include "gpilot/identify/subspace.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::identify {

/// What is chosen about a linear model before it is fitted.
struct LinearChoice {
  Index order = 2;            ///< states
  Index dead_time = 0;        ///< rows
  double max_radius = 0.999;  ///< of its poles

  bool operator==(const LinearChoice&) const = default;
};

struct LinearFit {
  ssm::Dynamics dynamics;    ///< of a diagonal process noise, its Gaussian process switched off
  Vector singular_values;    ///< of the subspace
  double mean_square = 0.0;  ///< of the simulated training outputs' error, scaled
};

/// A linear state-space model of scaled data: subspace identification, output-error refinement, and noises for a Kalman
/// filter. The ratio of process to output noise is the one whose filtered states start the best free runs over the
/// training rows; their size is that of the one-step errors. With an offset per sequence every output gains a state
/// that is constant along a sequence, which the filter finds from the first rows of a new one.
LinearFit fit_linear(const ssm::Dataset& scaled, const LinearChoice& choice, bool offset_per_sequence = false);

}  // namespace gpilot::identify
