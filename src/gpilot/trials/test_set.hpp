#pragma once

#include <cstdint>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/systems/system.hpp"

/// The trajectories that learned models of a simulated system are tested on (docs/results/protocol.md).
namespace gpilot::trials {

inline constexpr Index kTestTrajectories = 40;
inline constexpr Index kTestSteps = 60;

/// What the controls of a test are: random values held for 1 to 5 steps, sines, random values held for 12 to 30 steps,
/// random corners held for 1 to 5.
enum class TestKind { kRandom, kSines, kSteps, kExtremes };
inline constexpr Index kTestKinds = 4;

/// Trials of a user count from 0; tests have the upper half, so that no test shares a stream with a training run.
inline constexpr std::uint32_t kFirstTestTrial = 0x8000'0000;

/// [kTestSteps x P] of a test; `trial` names its random streams.
Matrix test_controls(const Box& box, TestKind kind, std::uint32_t trial);

/// Where the tests of a simulator go.
enum class TestRange {
  kRegion,  ///< within the region of interest, which a model is told as its ranges: a run that leaves it ends there
  kWide,    ///< up to three times as far: the protocol of the first results
};

struct TestSet {
  ssm::Dataset sequences;     ///< what a filter sees: controls and noisy outputs (none in row 0), user units
  std::vector<Matrix> truth;  ///< per sequence [rows x E] the outputs that predictions are compared with; NaN = unknown
  Vector output_sd;           ///< [E] standard deviation of the true outputs, at least that of the output noise
};

/// Depends on the system alone (its box included): ten trajectories each under random controls held for 1 to 5 steps,
/// sines, steps, and extremes held for 1 to 5 steps, each drawn again while it leaves the region of interest (or, wide,
/// strays too far from it). Observing all states adds columns and changes nothing else.
TestSet make_test_set(const systems::System& system, TestRange range = TestRange::kRegion);

}  // namespace gpilot::trials
