#pragma once

#include <cstdint>
#include <vector>

#include "gpilot/gp/function_draws.hpp"
#include "gpilot/random.hpp"
#include "gpilot/ssm/transition.hpp"
#include "gpilot/types.hpp"

namespace gpilot::ssm {

/// A scaled state beyond this has left every sensible range: data lie within a few units.
inline constexpr double kDivergedState = 1e3;

/// That limit of each state; an angle may turn for ever.
Vector state_limits(const Structure& structure);

/// Trajectories of a transition that advance together, each under one draw of f. Scaled units. Trajectory n depends on
/// (seed, n) alone. Keeps a reference to the transition.
class Ensemble {
 public:
  /// States drawn from a belief.
  Ensemble(const Transition& transition, const StateBelief& start, Index draws, std::uint64_t seed);

  /// x_t -> x_{t+1} under a control, process noise included. A trajectory that diverges stays at the limit.
  void advance(VectorRef control);

  const Matrix& states() const { return states_; }  ///< [draws x D]
  const std::vector<bool>& diverged() const { return diverged_; }

 private:
  const Transition& transition_;
  std::vector<gp::FunctionDraws> functions_;  ///< one a GP row
  std::vector<RandomStream> noise_;           ///< one a trajectory
  Vector limits_;                             ///< [D]
  Matrix states_;
  std::vector<bool> diverged_;
};

}  // namespace gpilot::ssm
