#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/trials/test_set.hpp"

/// Predictions of a model along test trajectories, and what they are worth (docs/results/protocol.md).
namespace gpilot::trials {

// Part of the protocol (docs/results/protocol.md): published figures depend on them.
/// Free runs start from row 0, which is p(x_0), and from filtered rows: the first of them, and every so many after it.
inline constexpr Index kFirstFiltered = 10;
inline constexpr Index kBetweenStarts = 15;
inline constexpr Index kFreeSteps = 20;
inline constexpr Index kFewestFreeSteps = 10;     ///< of a run at the end of a sequence
inline constexpr Index kFreeDraws = 64;           ///< of the function in free runs
inline constexpr std::uint64_t kDrawSeed = 5021;  ///< of those draws: the same for every model, so that they compare

/// A free run over rows start + 1 .. start + steps of a trajectory.
struct FreeRun {
  Index trajectory = 0;
  Index start = 0;
  Index steps = 0;
};

/// The trajectories' columns side by side at every row, as a batch needs them. User units. After its end the outputs of
/// a trajectory are NaN.
struct Trajectories {
  std::vector<Matrix> controls;  ///< per row [P x N]
  std::vector<Matrix> outputs;   ///< per row [E x N], NaN = not measured
  std::vector<Matrix> truth;     ///< per row [E x N], NaN = unknown
  std::vector<bool> broad;       ///< [N] whose first state is unknown
  std::vector<FreeRun> runs;     ///< by their start
  Vector output_sd;              ///< [E]
  std::vector<Index> judged;     ///< the outputs whose errors are pooled
  Vector turns;                  ///< [E] of outputs whose errors are wrapped, in units of output_sd; 0 for others
  bool measured = false;         ///< the truth is a measurement: its noise is part of what a model predicts

  Index count() const { return static_cast<Index>(broad.size()); }
  Index rows() const { return static_cast<Index>(truth.size()); }
};

/// All trajectories of a set; the errors of the outputs `judged` are pooled.
Trajectories side_by_side(const TestSet& set, std::vector<Index> judged);

/// The names of what test_on_trajectories() gives.
std::vector<std::string> trajectory_metrics(const std::vector<std::string>& outputs);
std::vector<double> test_on_trajectories(const Trajectories& trajectories, const ssm::Model& model);
/// The first of them for holding the last measured output in all free runs; NaN if none was measured before any.
double held_rmse(const Trajectories& trajectories);

}  // namespace gpilot::trials
