#include <Eigen/Dense>
#include <cmath>
#include <utility>

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/plan/plan_criterion.hpp"

namespace gpilot::plan {

double InformationGain::value(const RollOut& paths, Index n, const PlannedOutputs& outputs) {
  const Index H = paths.horizon();
  linalg::cholesky(outputs.noise, chol_, "covariance of planned outputs given the function");
  const double known = linalg::log_determinant(chol_);
  const Vector worth = paths.worth(n);
  sum_ = outputs.noise;
  for (std::size_t g = 0; g < outputs.V.size(); ++g) {
    response_.noalias() = outputs.response.middleCols(paths.transition().row_states()[g] * H, H) * worth.asDiagonal();
    scratch_.noalias() = response_ * outputs.V[g];
    sum_.noalias() += scratch_ * response_.transpose();
  }
  linalg::cholesky(sum_, chol_, "covariance of planned outputs");
  return 0.5 * (linalg::log_determinant(chol_) - known);
}

double PathEntropy::value(const RollOut& paths, Index /*n*/, const PlannedOutputs& outputs) {
  double total = 0.0;
  for (std::size_t g = 0; g < outputs.V.size(); ++g) {
    const Index d = paths.transition().row_states()[g];
    scaled_ = outputs.V[g] / std::exp(paths.transition().parameters().log_q(d));
    scaled_.diagonal().array() += 1.0;
    linalg::cholesky(scaled_, chol_, "covariance of a function along a plan");
    total += 0.5 * linalg::log_determinant(chol_);
  }
  return total;
}

ReferenceVariance::ReferenceVariance(Reference reference) : reference_(std::move(reference)) {
  for (const Vector& sd : reference_.sd) {
    now_ += sd.array().pow(4).sum();
  }
}

void ReferenceVariance::prepare(const RollOut& paths) {
  cross_.resize(reference_.points.size());
  for (std::size_t g = 0; g < cross_.size(); ++g) {
    paths.uncertainty(g).covariance(paths.points(g), reference_.points[g], cross_[g]);
  }
}

double ReferenceVariance::value(const RollOut& paths, Index n, const PlannedOutputs& outputs) {
  using Strided = Eigen::Map<const Matrix, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  const Index H = paths.horizon();
  const Index N = paths.paths();
  const Index R = reference_.X.rows();
  sum_ = outputs.noise + outputs.signal;
  linalg::cholesky(sum_, chol_, "covariance of planned outputs");
  const Vector worth = paths.worth(n);
  double reduction = 0.0;
  for (std::size_t g = 0; g < cross_.size(); ++g) {
    const Strided cross(cross_[g].data() + n, H, R, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(H * N, N));
    own_.noalias() = worth.asDiagonal() * cross * reference_.sd[g].asDiagonal();
    answer_.noalias() = outputs.response.middleCols(paths.transition().row_states()[g] * H, H) * own_;
    chol_.triangularView<Eigen::Lower>().solveInPlace(answer_);
    reduction += answer_.squaredNorm();
  }
  return reduction / now_;
}

}  // namespace gpilot::plan
