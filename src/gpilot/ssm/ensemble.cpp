#include "gpilot/ssm/ensemble.hpp"

#include <algorithm>
#include <vector>

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

namespace {

constexpr double kNormal90 = 1.6448536269514722;  ///< half a central 90 % interval

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
    : transition_(transition), draws_(draws) {
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    functions_.emplace_back(transition.bases()[g], transition.weights()[g], draws, seed, static_cast<std::uint32_t>(g));
  }
}

Matrix DrawnFunctions::next(const Matrix& X) {
  Matrix z = transition_.mean_part(X);
  Vector f(draws_);
  for (std::size_t g = 0; g < functions_.size(); ++g) {
    functions_[g].evaluate(X, f);
    z.col(transition_.row_states()[g]) += f;
  }
  return z;
}

Ensemble::Ensemble(DrawnFunctions& functions, const StateBelief& start, std::uint64_t seed)
    : functions_(functions),
      limits_(prediction_limits(functions.transition().structure())),
      states_(functions.draws(), functions.transition().structure().states),
      diverged_(static_cast<std::size_t>(functions.draws()), false) {
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
  const Structure& s = transition.structure();
  Matrix X(states_.rows(), s.inputs());
  X.leftCols(s.states) = states_;
  X.rightCols(s.controls).rowwise() = control.transpose();
  const Matrix z = functions_.next(X);
  const Vector q_sd = transition.process_variance().cwiseSqrt();
  for (Index n = 0; n < states_.rows(); ++n) {
    const auto k = static_cast<std::size_t>(n);
    if (diverged_[k]) {
      continue;
    }
    const Vector noise = q_sd.cwiseProduct(noise_[k].normal_vector(s.states));
    const Vector next = transition.left_inverse() * (z.row(n).transpose() + noise);
    if (next.allFinite()) {
      states_.row(n) = next.cwiseMax(-limits_).cwiseMin(limits_).transpose();
    }
    diverged_[k] = !next.allFinite() || (next.array().abs() > limits_.array()).any();
  }
}

Matrix Ensemble::outputs() const {
  const Parameters& p = functions_.transition().parameters();
  return (states_ * p.C.transpose()).rowwise() + p.d.transpose();
}

}  // namespace gpilot::ssm
