#pragma once

#include <cstdint>

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/series.hpp"
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

/// The points (x_t, c_t) that transitions start from, at the means of q(x); [transitions x I].
Matrix transition_inputs(const ssm::Structure& structure, const ssm::Series& series, const ssm::StatePosterior& q);

/// Throws NumericalError that names the state and the place where a formula has no value within the step from one of
/// these points.
void check_formulas(const ssm::ModelSpec& spec, const ssm::Scaling& scaling, const ssm::Structure& structure,
                    const ssm::Parameters& p, MatrixRef points);

/// The points, or as many of them (rows) as k-means or a linearisation gain anything from, evenly spread: 4000.
Matrix thinned(MatrixRef points);

/// M representatives of those points, by k-means; [M x I].
Matrix inducing_start(const ssm::Structure& structure, const ssm::Series& series, const ssm::StatePosterior& q,
                      std::uint64_t seed, std::uint32_t restart = 0);

/// `count` cluster centres of the rows of `points` [N x I] (k-means++, Lloyd); [count x I], count <= N.
Matrix k_means(MatrixRef points, Index count, std::uint64_t seed, std::uint32_t restart = 0);

}  // namespace gpilot::inference
