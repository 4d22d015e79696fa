#pragma once

#include <cstdint>
#include <vector>

#include "gpilot/core/random.hpp"
#include "gpilot/core/types.hpp"
#include "gpilot/gp/function_draws.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::ssm {

/// Draws of all functions of a transition. Ensembles from many starts may share them. Keeps a reference to the
/// transition.
class DrawnFunctions {
 public:
  DrawnFunctions(const Transition& transition, Index draws, std::uint64_t seed);

  const Transition& transition() const { return transition_; }
  Index draws() const { return draws_; }
  /// L x' of row n of X [draws x I] under draw n, process noise apart [draws x D]; good until the next call.
  const Matrix& next(const Matrix& X);

 private:
  const Transition& transition_;
  Index draws_;
  std::vector<gp::FunctionDraws> functions_;  ///< one a GP row
  Matrix z_;                                  ///< scratch, as f_
  Vector f_;
};

/// Trajectories of a transition that advance together, each under one draw of f. Scaled units. Trajectory n depends on
/// (seed, n) alone. Keeps a reference to the functions.
class Ensemble {
 public:
  /// States drawn from a belief.
  Ensemble(DrawnFunctions& functions, const StateBelief& start, std::uint64_t seed);

  /// x_t -> x_{t+1} under a control, process noise included. A trajectory that diverges stays at the limit.
  void advance(VectorRef control);

  const Matrix& states() const { return states_; }  ///< [draws x D]
  /// C x + d of every trajectory [draws x E].
  Matrix outputs() const;
  const std::vector<bool>& diverged() const { return diverged_; }

 private:
  DrawnFunctions& functions_;
  std::vector<RandomStream> noise_;  ///< one a trajectory
  Vector limits_;                    ///< [D]
  Vector q_sd_;                      ///< [D]
  Matrix states_;
  std::vector<bool> diverged_;
  Matrix X_;  ///< scratch, as moved_, next_
  Vector moved_, next_;
};

/// What draws say about a value. A function learned from little has unstable draws, and a mean over draws is theirs
/// alone; these are not moved by a few of them.
struct CentralDraws {
  double median = 0.0;
  double sd = 0.0;  ///< of the normal distribution with the same central 90 %
};

CentralDraws central(VectorRef draws);

}  // namespace gpilot::ssm
