#pragma once

#include "gpilot/identify/options.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"

/// System identification from recordings: models whose states nobody declared. Linear models come first (subspace
/// identification, output-error refinement, a Kalman filter); Gaussian processes start from them and must beat them in
/// free runs over training rows that they have not seen. docs/math/recordings.md.
namespace gpilot::identify {

/// Identifies a model of `spec.outputs` under `spec.inputs`; its states, emission and mean are chosen here, its kernel,
/// inducing points, ranges and nodes are the spec's. User units.
ssm::Model identify(const ssm::Dataset& data, const ssm::ModelSpec& spec, const IdentifyOptions& options);

}  // namespace gpilot::identify
