#pragma once

#include <cstdint>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::test {

/// One state, one control, one output of a mildly nonlinear system: x' = 0.8 x + 0.3 sin(2 x) + 0.4 c, y = x + noise.
/// `rows` rows, random controls; the last row's control is missing.
ssm::Sequence toy_sequence(Index rows, std::uint64_t seed = 1, double output_sd = 0.02);

/// Its declarations: names u, y, x; few inducing points.
ssm::ModelSpec toy_spec();

/// Options under which a fit of it takes a few hundredths of a second.
inference::FitOptions quick_options();

}  // namespace gpilot::test
