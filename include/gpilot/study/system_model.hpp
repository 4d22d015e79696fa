#pragma once

#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/system.hpp"

namespace gpilot::study {

/// What a model of a simulated system is told: names, dt, the emission, p(x_0), which states are derivatives of others
/// (if `declare_derivatives`), and the ranges of controls (the box) and outputs (the region of interest), so that scales
/// do not depend on data. Noises and the transition are left to learn.
ssm::ModelSpec model_spec(const systems::System& system, bool declare_derivatives = true);

}  // namespace gpilot::study
