#pragma once

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

/// q(x) tied to the model as the paper writes it (docs/math/errata.md):
///   S = (Q^-1 + C^T R^-1 C)^-1,   A = S Q^-1,   b_t = S C^T R^-1 (y_t - d),   q(x_0) = p(x_0),
/// missing outputs left out of C and R. It has no parameter of its own, and unobserved states are never informed by the
/// data; it is here for comparison.
namespace gpilot::inference {

/// Throws InputError for a structure with kinematic rows, for which the formulas say nothing.
ssm::StatePosterior tied_states(const ssm::Structure& structure, const ssm::Series& series, const ssm::Parameters& p);

/// Adds to p_bar (log_q, log_r) the gradient that reaches them through the tied q(x), whose gradient is q_bar.
void tied_pull_back(const ssm::Series& series, const ssm::Parameters& p, const ssm::StatePosterior& q,
                    const ssm::StatePosterior& q_bar, ssm::Parameters& p_bar);

}  // namespace gpilot::inference
