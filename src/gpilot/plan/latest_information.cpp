#include "gpilot/acquisition/latest_information.hpp"

#include <Eigen/Dense>
#include <vector>

#include "belief_nodes.hpp"
#include "gpilot/error.hpp"
#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::acquisition {

LatestInformation::LatestInformation(const Situation& situation, const ssm::StateBelief& belief)
    : situation_(situation),
      X_(belief_nodes(situation, belief)),
      C_L_inverse_(situation.transition.parameters().C * situation.transition.left_inverse()),
      noise_(output_noise(situation.transition.parameters(), situation.transition.process_covariance())) {
  Matrix L;
  linalg::cholesky(noise_, L, "covariance of an output given the function");
  noise_log_det_ = linalg::log_determinant(L);
}

double LatestInformation::value(VectorRef control, Vector* gradient) const {
  Matrix X = X_;
  set_control(X, control);
  Matrix mean;
  Matrix variance;
  std::vector<Matrix> mean_slope;
  std::vector<Matrix> variance_slope;
  if (gradient != nullptr) {
    situation_.transition.moments(X, mean, variance, mean_slope, variance_slope);
  } else {
    situation_.transition.moments(X, mean, variance);
  }
  const Vector& w = situation_.nodes.w;
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

std::unique_ptr<Criterion> latest_information(const Situation& situation) {
  return std::make_unique<LatestInformation>(situation, situation.belief);
}

std::unique_ptr<Criterion> latest_information_from_x0(const Situation& situation) {
  if (situation.history == nullptr) {
    throw InputError("latmi-x0 predicts from the first row on: it needs the data, not the model alone");
  }
  const ssm::Series& series = *situation.history;
  const ssm::Filter filter(situation.transition, situation.nodes);
  const Index first = series.start[series.start.size() - 2];
  ssm::StateBelief belief = filter.initial(series.broad[static_cast<std::size_t>(first)]);
  for (Index t = first; t + 1 < series.rows(); ++t) {
    belief = filter.predict(belief, series.controls.col(t));
  }
  return std::make_unique<LatestInformation>(situation, belief);
}

}  // namespace gpilot::acquisition
