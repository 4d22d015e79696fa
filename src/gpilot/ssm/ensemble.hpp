#pragma once

#include <cstdint>
#include <vector>

#include "gpilot/core/random.hpp"
#include "gpilot/core/types.hpp"
#include "gpilot/gp/function_draws.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::ssm {

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
