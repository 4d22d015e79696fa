#pragma once

#include <cmath>

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/angles.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/structure.hpp"

/// Outputs that measure an angle. A rig may report it within one turn, so that it jumps, while the state counts turns:
/// measurements are moved by whole turns to where they are expected. The filter expects what it predicts; training,
/// whose bound is to stay smooth, unwraps a recording once, before it begins.
namespace gpilot::ssm {

/// `y`, moved by whole turns to within half a turn of `expected`; as it is where `turn` is 0.
inline double nearest_turn(double y, double expected, double turn) {
  return turn > 0.0 ? y - turn * std::round((y - expected) / turn) : y;
}

/// A full turn of each output that measures an angle and nothing else, 0 for all others, in the units of C [E x D].
Vector output_turns(const kernels::Angles& angles, const Matrix& C);

/// Moves the outputs of a scaled sequence that are angles by whole turns: each value to within half a turn of the one
/// before, the first to within half a turn of its prior mean. Right as long as an angle moves less than half a turn
/// from one measurement to the next.
void unwrap(const Structure& structure, const Parameters& parameters, Sequence& scaled);

}  // namespace gpilot::ssm
