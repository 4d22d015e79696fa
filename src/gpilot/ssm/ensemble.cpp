#include "gpilot/ssm/ensemble.hpp"

#include <algorithm>
#include <vector>

#include "gpilot/core/central_interval.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

namespace {

/// Between the values of the ranks around it.
double quantile_of_sorted(const std::vector<double>& sorted, double level) {
  const double at = level * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

}  // namespace

CentralDraws central(VectorRef draws) {
  std::vector<double> sorted(draws.begin(), draws.end());
  std::ranges::sort(sorted);
  return {.median = quantile_of_sorted(sorted, 0.5),
          .sd = (quantile_of_sorted(sorted, 0.95) - quantile_of_sorted(sorted, 0.05)) / (2.0 * kNormal90)};
}

DrawnFunctions::DrawnFunctions(const Transition& transition, Index draws, std::uint64_t seed)
    : transition_(transition), draws_(draws), f_(draws) {
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    functions_.emplace_back(transition.bases()[g], transition.weights()[g], draws, seed, static_cast<std::uint32_t>(g));
  }
}

const Matrix& DrawnFunctions::next(const Matrix& X) {
  z_ = transition_.mean_part(X);
  for (std::size_t g = 0; g < functions_.size(); ++g) {
    functions_[g].evaluate(X, f_);
    z_.col(transition_.row_states()[g]) += f_;
  }
  return z_;
}

Ensemble::Ensemble(DrawnFunctions& functions, const StateBelief& start, std::uint64_t seed)
    : functions_(functions),
      limits_(prediction_limits(functions.transition().structure())),
      q_sd_(functions.transition().process_variance().cwiseSqrt()),
      states_(functions.draws(), functions.transition().structure().states),
      diverged_(static_cast<std::size_t>(functions.draws()), false),
      X_(functions.draws(), functions.transition().structure().inputs()),
      moved_(states_.cols()),
      next_(states_.cols()) {
  const Index draws = functions.draws();
  Matrix P_chol;
  linalg::cholesky(start.covariance, P_chol, "covariance of the state that draws start from");
  for (Index n = 0; n < draws; ++n) {
    noise_.emplace_back(seed, Purpose::kStateDraw, static_cast<std::uint32_t>(n));
    states_.row(n) = (start.mean + P_chol * noise_.back().normal_vector(states_.cols())).transpose();
  }
}

void Ensemble::advance(VectorRef control) {
  const Transition& transition = functions_.transition();
  X_.leftCols(states_.cols()) = states_;
  X_.rightCols(control.size()).rowwise() = control.transpose();
  const Matrix& z = functions_.next(X_);
  for (Index n = 0; n < states_.rows(); ++n) {
    const auto k = static_cast<std::size_t>(n);
    if (diverged_[k]) {
      continue;
    }
    for (double& value : moved_) {
      value = noise_[k].normal();
    }
    moved_.array() *= q_sd_.array();
    moved_ += z.row(n).transpose();
    next_.noalias() = transition.left_inverse() * moved_;
    if (next_.allFinite()) {
      states_.row(n) = next_.cwiseMax(-limits_).cwiseMin(limits_).transpose();
    }
    diverged_[k] = !next_.allFinite() || (next_.array().abs() > limits_.array()).any();
  }
}

Matrix Ensemble::outputs() const {
  const Parameters& p = functions_.transition().parameters();
  return (states_ * p.C.transpose()).rowwise() + p.d.transpose();
}

}  // namespace gpilot::ssm
