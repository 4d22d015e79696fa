#pragma once

#include <cstdint>
#include <vector>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/plan/criterion.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::test {

/// A choice to make, with every part at random values: a model, a belief about the state, a history, a box.
struct RandomContext {
  struct Options {
    Index states = 2;
    Index controls = 1;
    Index outputs = 1;
    Index inducing = 5;
    kernels::Kind kernel = kernels::Kind::kSquaredExponential;
    bool linear_kernel = true;
    bool kinematics = false;
    bool angle = false;  ///< the first state
    std::uint64_t seed = 1;
  };

  explicit RandomContext(const Options& options);

  plan::DecisionContext context() const;
  /// Uniform in the box.
  Vector random_control(RandomStream& random) const;
  /// Multiplies the standard deviations of the belief.
  void narrow_belief(double factor);
  /// Takes all doubt about the function away.
  void know_the_function();
  /// Makes the belief the marginal of the history's last row.
  void end_history_at_belief();
  /// f(x, c) for x from the belief and f from its posterior, one draw a row [count x D].
  Matrix sample_function_values(VectorRef control, Index count, RandomStream& random) const;

  ssm::Transition transition;
  gp::Nodes nodes;
  ssm::StateBelief belief;
  Box box;
  ssm::Series history;
  ssm::StatePosterior q;
};

}  // namespace gpilot::test
