#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/gp/packed_posterior.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::ssm {

/// Beliefs N(m_n, P_n) about the states of N trajectories.
struct BeliefBatch {
  Matrix mean;        ///< [D x N]
  Matrix covariance;  ///< [D x D N], block n at columns D n

  Index count() const { return mean.cols(); }
};

/// The same as Filter, for many trajectories in lock step: the nodes of all beliefs go through the transition together,
/// in products of whole matrices. Scaled units. Keeps a reference to the transition.
class BatchFilter {
 public:
  BatchFilter(const Transition& transition, gp::Nodes nodes);

  /// p(x_0) of the model, or of a sequence that may begin anywhere, `count` times.
  BeliefBatch initial(Index count, bool broad = false) const;
  /// x_t -> x_{t+1}, trajectory n under column n of `controls` [P x N]. A belief that would leave every sensible range
  /// (or is no distribution any more) stays where it is, and its entry of `diverged` [N] is set; none is ever cleared.
  void predict(BeliefBatch& beliefs, MatrixRef controls, std::vector<bool>& diverged) const;
  /// Conditions trajectory n on the outputs in column n of `outputs` [E x N] that are not NaN.
  void update(BeliefBatch& beliefs, MatrixRef outputs) const;
  /// Mean and variance of C x + d [E x N] under each belief, without output noise.
  void outputs(const BeliefBatch& beliefs, Matrix& mean, Matrix& variance) const;

 private:
  template <int N>
  void spread(const BeliefBatch& beliefs, Matrix& X, std::vector<bool>& held) const;
  template <int N>
  void collect(const Matrix& mean, const Matrix& variance, BeliefBatch& beliefs, std::vector<bool>& held) const;

  const Transition& transition_;
  gp::Nodes nodes_;
  Vector turns_;                                ///< [E], see Filter
  std::vector<gp::PackedPosterior> functions_;  ///< one a GP row
};

}  // namespace gpilot::ssm
