#include "support/kalman.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <vector>

#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::test {

namespace {

struct Gaussian {
  Vector mean;
  Matrix covariance;
};

/// Conditions on all observed outputs of a row at once; returns their log density.
double update(const inference::LinearGaussian& model, const Vector& y, Gaussian& x) {
  std::vector<Index> seen;
  for (Index e = 0; e < y.size(); ++e) {
    if (!std::isnan(y(e))) {
      seen.push_back(e);
    }
  }
  const auto E = static_cast<Index>(seen.size());
  if (E == 0) {
    return 0.0;
  }
  const Matrix C = model.C(seen, Eigen::all);
  const Matrix R = Vector(model.r(seen)).asDiagonal();
  const Vector residual = y(seen) - C * x.mean - model.d(seen);
  const Matrix V = C * x.covariance * C.transpose() + R;
  const Matrix V_inverse = V.inverse();
  const Matrix gain = x.covariance * C.transpose() * V_inverse;
  x.mean += gain * residual;
  x.covariance -= gain * V * gain.transpose();
  return -0.5 * (static_cast<double>(E) * std::log(2.0 * std::numbers::pi) + std::log(V.determinant()) +
                 residual.dot(V_inverse * residual));
}

}  // namespace

KalmanResult kalman_rts(const inference::LinearGaussian& model, const ssm::Series& series) {
  const Index D = model.F.rows();
  const Index n = series.rows();
  const Matrix L_inverse = model.L.inverse();
  const Matrix F = L_inverse * model.F;
  const Matrix W = L_inverse * model.W;
  const Matrix Q = L_inverse * model.q.asDiagonal() * L_inverse.transpose();
  std::vector<Gaussian> predicted(static_cast<std::size_t>(n));
  std::vector<Gaussian> filtered(static_cast<std::size_t>(n));
  KalmanResult result{Matrix(D, n), Matrix(D, D * n), Matrix::Zero(D, D * n), 0.0};
  for (Index t = 0; t < n; ++t) {
    const auto k = static_cast<std::size_t>(t);
    if (series.first[k]) {
      const ssm::StartPrior& x0 = series.broad[k] ? model.broad_start : model.start;
      predicted[k] = {x0.mean, Matrix(x0.sd.cwiseAbs2().asDiagonal())};
    } else {
      Vector input(W.cols());
      input << series.controls.col(t - 1), 1.0;
      predicted[k] = {F * filtered[k - 1].mean + W * input, F * filtered[k - 1].covariance * F.transpose() + Q};
    }
    filtered[k] = predicted[k];
    result.log_evidence += update(model, series.outputs.col(t), filtered[k]);
  }
  for (Index t = n - 1; t >= 0; --t) {
    const auto k = static_cast<std::size_t>(t);
    Gaussian smoothed = filtered[k];
    if (t + 1 < n && !series.first[k + 1]) {
      const Matrix gain = filtered[k].covariance * F.transpose() * predicted[k + 1].covariance.inverse();
      const Matrix P_next = result.covariance.middleCols(D * (t + 1), D);
      smoothed.mean += gain * (result.mean.col(t + 1) - predicted[k + 1].mean);
      smoothed.covariance += gain * (P_next - predicted[k + 1].covariance) * gain.transpose();
      result.cross.middleCols(D * (t + 1), D) = P_next * gain.transpose();
    }
    result.mean.col(t) = smoothed.mean;
    result.covariance.middleCols(D * t, D) = smoothed.covariance;
  }
  return result;
}

inference::LinearGaussian linear_model(const ssm::Structure& structure, const ssm::Parameters& p) {
  const Index D = structure.states;
  const std::vector<Index> rows = structure.gp_rows();
  inference::LinearGaussian model;
  model.L = structure.left();
  model.F = structure.right();
  model.W = Matrix::Zero(D, structure.controls + 1);
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const Vector w = p.mean_weights.col(static_cast<Index>(g));
    model.F.row(rows[g]) = w.head(D).transpose();
    model.W.row(rows[g]) = w.tail(structure.controls + 1).transpose();
  }
  model.q = p.log_q.array().exp();
  model.C = p.C;
  model.d = p.d;
  model.r = p.log_r.array().exp();
  model.start = ssm::start_prior(structure, false);
  model.broad_start = ssm::start_prior(structure, true);
  return model;
}

}  // namespace gpilot::test
