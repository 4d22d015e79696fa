#include "gpilot/plan/latest_information.hpp"

#include <Eigen/Dense>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/plan/belief_nodes.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::plan {

LatestInformation::LatestInformation(const DecisionContext& context, const ssm::StateBelief& belief)
    : context_(context),
      X_(belief_nodes(context, belief)),
      C_L_inverse_(context.transition.parameters().C * context.transition.left_inverse()),
      noise_(output_noise(context.transition.parameters(), context.transition.process_covariance())) {
  Matrix L;
  linalg::cholesky(noise_, L, "covariance of an output given the function");
  noise_log_det_ = linalg::log_determinant(L);
}

double LatestInformation::value(VectorRef control, Vector* gradient) const {
  auto [mean, variance, mean_slope, variance_slope] =
      node_moments(context_.transition, X_, control, gradient != nullptr);
  const Vector& w = context_.nodes.w;
  // In the transition's rows z = L x': V_z = sum_j w_j (z_j - z)(z_j - z)^T + diag(variance).
  mean.rowwise() -= (w.transpose() * mean).eval();
  const Matrix weighted = w.asDiagonal() * mean;
  Matrix V_z = weighted.transpose() * mean;
  V_z.diagonal() += variance.transpose() * w;
  Matrix S_chol;
  linalg::cholesky(noise_ + C_L_inverse_ * V_z * C_L_inverse_.transpose(), S_chol, "covariance of the next output");
  if (gradient != nullptr) {
    // d/dc 1/2 log det S = 1/2 tr(G dV_z), G = (C L^-1)^T S^-1 (C L^-1).
    const Matrix half = S_chol.triangularView<Eigen::Lower>().solve(C_L_inverse_);
    const Matrix G = half.transpose() * half;
    gradient->resize(control.size());
    for (Index p = 0; p < control.size(); ++p) {
      const auto k = static_cast<std::size_t>(p);
      (*gradient)(p) =
          (weighted * G).cwiseProduct(mean_slope[k]).sum() + 0.5 * G.diagonal().dot(variance_slope[k].transpose() * w);
    }
  }
  return 0.5 * (linalg::log_determinant(S_chol) - noise_log_det_);
}

std::unique_ptr<Criterion> latest_information(const DecisionContext& context) {
  return std::make_unique<LatestInformation>(context, context.belief);
}

std::unique_ptr<Criterion> latest_information_from_x0(const DecisionContext& context) {
  if (context.history == nullptr) {
    throw InputError("latmi-x0 predicts from the first row on: it needs the data, not the model alone");
  }
  const ssm::Series& series = *context.history;
  const ssm::Filter filter(context.transition, context.nodes);
  const Index first = series.start[series.start.size() - 2];
  ssm::StateBelief belief = filter.initial(series.broad[static_cast<std::size_t>(first)]);
  for (Index t = first; t + 1 < series.rows(); ++t) {
    belief = filter.predict(belief, series.controls.col(t));
  }
  return std::make_unique<LatestInformation>(context, belief);
}

}  // namespace gpilot::plan
