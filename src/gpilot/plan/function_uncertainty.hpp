#pragma once

#include <vector>

#include "gpilot/gp/packed_posterior.hpp"
#include "gpilot/plan/criterion.hpp"

namespace gpilot::plan {

/// What is not known about the transition function, a posterior for each of its Gaussian processes; their means are not
/// used. It differs from the model's q(f) in three ways (docs/math/planning.md):
///
/// - Conditioned on the outputs, not on the states. q(f) takes q(x) for measurements of the states and is too sure of
///   itself where a state is latent. Here f at the points of the smoothed path is a Gaussian vector, and the outputs
///   are linear in it along the linearised path.
/// - A model that has not found a nonlinearity yet, or has no Gaussian process, still allows for one: kernels have at
///   least a small variance and at most a certain length scale.
/// - What is not known about parameters of declared physics is part of it: learning them counts as learning functions.
///
/// The model's q(f) serves where there is no history, and after a long one, which has made it good enough.
std::vector<gp::PackedPosterior> function_uncertainty(const DecisionContext& context);

/// The model's own q(f).
std::vector<gp::PackedPosterior> model_posteriors(const DecisionContext& context);

}  // namespace gpilot::plan
