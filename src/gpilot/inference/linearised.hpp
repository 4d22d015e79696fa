#pragma once

#include "gpilot/inference/smoother.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::inference {

/// The linear-Gaussian model nearest to a trained one in the mean square over the points X [N x I]: what its mean
/// misses of the function, and the function's own variance, become process noise. A start for smoothing new rows.
LinearGaussian linearised(const ssm::Dynamics& dynamics, MatrixRef X);

}  // namespace gpilot::inference
