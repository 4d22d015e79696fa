#pragma once

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/system.hpp"

namespace gpilot::trials {

/// What a model of a simulated system is told: names, dt, the emission, p(x_0), which states are derivatives of others
/// (if `declare_derivatives`), which are angles (if `declare_angles`), and ranges, so that scales do not depend on
/// data: the box of the controls, the region of interest for outputs and declared derivatives. Noises and the
/// transition are left to learn.
ssm::ModelSpec model_spec(const systems::System& system, bool declare_derivatives = true, bool declare_angles = false);

/// Changes a model and its training to the paper's: the kernel, its initial values and the epochs of the paper's table,
/// an identity mean function, nothing declared about derivatives, raw units, Adam on the sampled bound. What the paper
/// does not give (50 samples, rate 0.01, 20 inducing points by k-means, one full-batch step an epoch) is ours.
void apply_paper_settings(const systems::System& system, ssm::ModelSpec& spec, inference::FitOptions& fit);

}  // namespace gpilot::trials
