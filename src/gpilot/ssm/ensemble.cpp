#include "gpilot/ssm/ensemble.hpp"

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

Ensemble::Ensemble(const Transition& transition, const StateBelief& start, Index draws, std::uint64_t seed)
    : transition_(transition),
      limits_(prediction_limits(transition.structure())),
      states_(draws, transition.structure().states),
      diverged_(static_cast<std::size_t>(draws), false) {
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    functions_.emplace_back(transition.bases()[g], transition.weights()[g], draws, seed, static_cast<std::uint32_t>(g));
  }
  Matrix P_chol;
  linalg::cholesky(start.covariance, P_chol, "covariance of the state that draws start from");
  for (Index n = 0; n < draws; ++n) {
    noise_.emplace_back(seed, Purpose::kStateDraw, static_cast<std::uint32_t>(n));
    states_.row(n) = (start.mean + P_chol * noise_.back().normal_vector(states_.cols())).transpose();
  }
}

void Ensemble::advance(VectorRef control) {
  const Structure& s = transition_.structure();
  Matrix X(states_.rows(), s.inputs());
  X.leftCols(s.states) = states_;
  X.rightCols(s.controls).rowwise() = control.transpose();
  Matrix z = transition_.linear_part(X);  // L x'
  Vector f(states_.rows());
  for (std::size_t g = 0; g < functions_.size(); ++g) {
    functions_[g].evaluate(X, f);
    z.col(transition_.row_states()[g]) += f;
  }
  const Vector q_sd = transition_.process_variance().cwiseSqrt();
  for (Index n = 0; n < states_.rows(); ++n) {
    const auto k = static_cast<std::size_t>(n);
    if (diverged_[k]) {
      continue;
    }
    const Vector noise = q_sd.cwiseProduct(noise_[k].normal_vector(s.states));
    const Vector next = transition_.left_inverse() * (z.row(n).transpose() + noise);
    if (next.allFinite()) {
      states_.row(n) = next.cwiseMax(-limits_).cwiseMin(limits_).transpose();
    }
    diverged_[k] = !next.allFinite() || (next.array().abs() > limits_.array()).any();
  }
}

}  // namespace gpilot::ssm
