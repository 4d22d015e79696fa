#pragma once

#include <functional>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::ssm {

/// A Physics::function that is asked about many points at once, and may know its derivatives. Where a call costs more
/// than what it computes (Python), only this is fast enough.
struct RatesFunction {
  /// Rates (or next values) of the function's states at N points [N x states], from all states [N x D], inputs [N x P]
  /// and parameters in their order [K], user units. Where `slopes` is not null, it may be given an element for each of
  /// the states: derivatives in states, inputs and parameters [N x D + P + K]. Left empty, differences take their
  /// place.
  using Rows =
      std::function<Matrix(MatrixRef states, MatrixRef inputs, VectorRef parameters, std::vector<Matrix>* slopes)>;
  Rows rows;

  Vector operator()(VectorRef states, VectorRef inputs, VectorRef parameters) const {
    return rows(states.transpose(), inputs.transpose(), parameters, nullptr).row(0).transpose();
  }
};

/// The function of a spec for many points, whichever of the two it is; it throws InputError where it gives others than
/// it was asked for.
RatesFunction::Rows checked_function(const Physics& physics);

}  // namespace gpilot::ssm
