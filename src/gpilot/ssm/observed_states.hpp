#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::ssm {

/// The state that each output measures where no emission is given; `spec` needs its outputs, states and derivatives.
///   1. An output NAME or y_NAME measures the state NAME, if that holds for every output.
///   2. Otherwise output k measures the k-th state that is not declared the derivative of another (with as many outputs
///      as states: the k-th state).
/// Throws InputError where there are too few states for that.
std::vector<Index> observed_states(const ModelSpec& spec);

/// C [E x D] with a 1 where output e measures state observed[e].
Matrix emission_matrix(const std::vector<Index>& observed, Index states);

}  // namespace gpilot::ssm
