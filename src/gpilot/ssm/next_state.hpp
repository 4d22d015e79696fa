#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/prediction.hpp"

namespace gpilot::ssm {

/// The next state from every row of `states` [N x D] and `controls` [N x P], user units. With z = L x' per row of the
/// structure, E x' = L^-1 E z and var x' = diag(L^-1 diag(var z) L^-T): a declared position moves, and is uncertain,
/// with the next value of its velocity. Throws InputError for other shapes or values that are not finite.
NextState next_state(const Model& model, MatrixRef states, MatrixRef controls);

}  // namespace gpilot::ssm
