#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/systems/system.hpp"

/// The trajectories that learned models of a simulated system are tested on (docs/results/protocol.md).
namespace gpilot::trials {

inline constexpr Index kTestTrajectories = 40;
inline constexpr Index kTestSteps = 60;

struct TestSet {
  ssm::Dataset sequences;     ///< what a filter sees: controls and noisy outputs (none in row 0), user units
  std::vector<Matrix> truth;  ///< [kTestSteps + 1 x E] the outputs without noise
  Vector output_sd;           ///< [E] standard deviation of the true outputs, at least that of the output noise
};

/// Depends on the system alone (its box included): ten trajectories each under random controls held for 1 to 5 steps,
/// sines, steps, and extremes held for 1 to 5 steps, each drawn again while it leaves the region of interest too far.
/// Observing all states adds columns and changes nothing else.
TestSet make_test_set(const systems::System& system);

}  // namespace gpilot::trials
