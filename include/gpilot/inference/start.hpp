#pragma once

#include <cstdint>

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/structure.hpp"

/// Where training starts.
namespace gpilot::inference {

/// Noise variances (scaled) from the data: half of what a second difference of each output suggests, which is an upper
/// bound where the output is smooth and harmless where it is not.
Vector output_variance_guess(const ssm::Series& series);

/// A constant-velocity smoother on the data: declared velocities (and, where nothing is declared, unobserved states as
/// rates of the outputs) drift with standard deviation `drift_sd` a step; observed states without a velocity wander.
ssm::StatePosterior kinematic_start(const ssm::Structure& structure, const ssm::Series& series,
                                    const ssm::Parameters& p, double drift_sd);

/// M representatives of the points (x_t, c_t) at the means of q(x), by k-means; [M x I].
Matrix inducing_start(const ssm::Structure& structure, const ssm::Series& series, const ssm::StatePosterior& q,
                      std::uint64_t seed);

/// Rows of `points` [N x I] nearest to `count` cluster centres, seeded by k-means++; [count x I], count <= N.
Matrix k_means(MatrixRef points, Index count, std::uint64_t seed);

}  // namespace gpilot::inference
