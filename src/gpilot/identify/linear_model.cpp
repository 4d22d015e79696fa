#include "gpilot/identify/linear_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/identify/output_error.hpp"
#include "gpilot/linalg/symmetric_eigen.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::identify {

namespace {

constexpr Index kBlockRows = 10;  ///< of the subspace, at most
constexpr double kSmallestVariance = 1e-6;
/// Process noise in units of the states' own variance.
constexpr std::array<double, 6> kNoiseRatios{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
/// Where free runs over the training rows begin, as parts of a sequence; they go on to its end.
constexpr std::array<double, 5> kStarts{0.125, 0.25, 0.375, 0.5, 0.625};

/// Covariance of the simulated states, and their mean, over all rows.
void state_moments(const LinearDynamics& m, const ssm::Series& series, Vector& mean, Matrix& covariance) {
  mean.setZero(m.order());
  covariance.setZero(m.order(), m.order());
  Vector x;
  Index sequence = -1;
  for (Index t = 0; t < series.rows(); ++t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      x = m.x0.col(++sequence);
    } else {
      x = m.A * x + m.B * series.controls.col(t - 1);
    }
    mean += x;
    covariance += x * x.transpose();
  }
  const auto n = static_cast<double>(series.rows());
  mean /= n;
  covariance = covariance / n - mean * mean.transpose();
}

/// x = V z: a basis in which the states are uncorrelated and of unit variance, the largest first.
void to_principal_axes(LinearDynamics& m, const ssm::Series& series) {
  Vector mean;
  Matrix covariance;
  state_moments(m, series, mean, covariance);
  const linalg::SymmetricEigen eigen(covariance);
  const Vector variances = eigen.values.reverse();
  const Vector sd = variances.cwiseMax(1e-9 * std::max(variances.maxCoeff(), kSmallestVariance)).cwiseSqrt();
  const Matrix V = eigen.vectors.rowwise().reverse() * sd.asDiagonal();
  const Matrix V_inverse = sd.cwiseInverse().asDiagonal() * eigen.vectors.rowwise().reverse().transpose();
  m.A = V_inverse * m.A * V;
  m.B = V_inverse * m.B;
  m.C = m.C * V;
  m.x0 = V_inverse * m.x0;
}

/// A Kalman filter over a series; `visit(t, x, P)` is called with the state predicted for every row, before its outputs
/// are seen. Returns the mean of squared innovations in units of their variance.
template <typename Visit>
double filter(const LinearDynamics& m, const Vector& q, const Vector& r, const Vector& x0_variance,
              const ssm::Series& series, Visit&& visit) {
  Vector x;
  Matrix P;
  double total = 0.0;
  Index count = 0;
  Index sequence = -1;
  for (Index t = 0; t < series.rows(); ++t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      x = Vector::Zero(m.order());
      P = x0_variance.asDiagonal();
      ++sequence;
    } else {
      x = m.A * x + m.B * series.controls.col(t - 1);
      P = m.A * P * m.A.transpose();
      P.diagonal() += q;
    }
    visit(t, x, P);
    for (Index e = 0; e < m.C.rows(); ++e) {
      const double y = series.outputs(e, t);
      if (std::isnan(y)) {
        continue;
      }
      const Vector c = m.C.row(e).transpose();
      const Vector Pc = P * c;
      const double variance = c.dot(Pc) + r(e);
      const double innovation = y - c.dot(x) - m.d(e) - (m.y0.cols() > 0 ? m.y0(e, sequence) : 0.0);
      total += innovation * innovation / variance;
      ++count;
      x += Pc * (innovation / variance);
      P -= Pc * Pc.transpose() / variance;
    }
  }
  return total / static_cast<double>(std::max<Index>(1, count));
}

/// Whether a free run begins in row t, and the row after its last.
bool starts_run(const ssm::Series& series, Index t, Index& end) {
  const auto next = std::upper_bound(series.start.begin(), series.start.end(), t);
  end = *next;
  const Index begin = *(next - 1);
  return std::any_of(kStarts.begin(), kStarts.end(), [&](double part) {
    return t > begin && t == begin + static_cast<Index>(part * static_cast<double>(end - begin));
  });
}

/// Mean squared error of free runs from filtered states within the training rows.
double free_run_error(const LinearDynamics& m, const Vector& q, const Vector& r, const Vector& x0_variance,
                      const ssm::Series& series) {
  double squares = 0.0;
  Index count = 0;
  filter(m, q, r, x0_variance, series, [&](Index t, const Vector& start, const Matrix&) {
    Index end = 0;
    if (!starts_run(series, t, end)) {
      return;
    }
    const auto sequence = std::upper_bound(series.start.begin(), series.start.end(), t) - series.start.begin() - 1;
    Vector x = start;
    for (Index k = t; k < end; ++k) {
      for (Index e = 0; e < m.C.rows(); ++e) {
        const double error =
            series.outputs(e, k) - m.C.row(e).dot(x) - m.d(e) - (m.y0.cols() > 0 ? m.y0(e, sequence) : 0.0);
        if (!std::isnan(error)) {
          squares += error * error;
          ++count;
        }
      }
      x = m.A * x + m.B * series.controls.col(k);
    }
  });
  return count > 0 ? squares / static_cast<double>(count) : 0.0;
}

/// Variance of each output's simulation error.
Vector error_variances(const LinearDynamics& m, const ssm::Series& series) {
  const Matrix error = series.outputs - simulate(m, series);
  Vector variances(error.rows());
  for (Index e = 0; e < error.rows(); ++e) {
    const auto missing = error.row(e).array().isNaN();
    const auto count = static_cast<double>(std::max<Index>(1, error.cols() - missing.count()));
    variances(e) = missing.select(0.0, error.row(e).array()).square().sum() / count;
  }
  return variances.cwiseMax(kSmallestVariance);
}

ssm::Dynamics to_dynamics(const LinearDynamics& m, const Vector& q, const Vector& r, const Vector& x0_variance) {
  const Index n = m.order();
  const Index P = m.B.cols();
  const Index E = m.C.rows();
  const Index constants = m.y0.cols() > 0 ? E : 0;
  ssm::Dynamics c;
  ssm::Structure& s = c.structure;
  s.states = n + constants;
  s.controls = P;
  s.outputs = E;
  s.inducing = 0;
  s.linear_kernel = false;
  s.mean = ssm::MeanKind::kLinear;
  s.x0_mean = Vector::Zero(s.states);
  s.x0_sd = Vector::Ones(s.states);
  s.x0_sd.head(n) = x0_variance.cwiseSqrt();
  for (Index i = 0; i < n; ++i) {
    s.linear_rows.push_back(i);
    c.state_names.push_back(fmt::format("x{}", i + 1));
  }
  for (Index e = 0; e < constants; ++e) {
    s.shifts.push_back({n + e, n + e});
    c.state_names.push_back(fmt::format("offset{}", e + 1));
    s.x0_sd(n + e) = std::max(0.1, std::sqrt(m.y0.row(e).squaredNorm() / static_cast<double>(m.y0.cols())));
  }
  s.validate();
  ssm::Parameters& p = c.parameters;
  p = ssm::default_parameters(s);
  p.mean_weights.setZero();
  p.mean_weights.topRows(n) = m.A.transpose();
  p.mean_weights.middleRows(s.states, P) = m.B.transpose();
  p.log_q.head(n) = q.array().log();
  p.log_r = r.array().log();
  p.C.setZero();
  p.C.leftCols(n) = m.C;
  p.C.rightCols(constants).setIdentity();
  p.d = m.d;
  return c;
}

}  // namespace

LinearFit fit_linear(const ssm::Dataset& scaled, const LinearChoice& choice, bool offset_per_sequence) {
  ssm::Dynamics delays;
  delays.dead_time = choice.dead_time;
  ssm::Dataset delayed;
  delayed.reserve(scaled.size());
  for (const ssm::Sequence& sequence : scaled) {
    delayed.push_back(delays.delayed(sequence));
  }
  const ssm::Series series = ssm::concatenate(delayed);
  const Subspace subspace = find_subspace(series, kBlockRows, choice.order);
  const LinearDynamics start = realise(subspace, series, choice.order, choice.max_radius, offset_per_sequence);
  OutputErrorResult refined = refine_output_error(start, series, {.max_radius = choice.max_radius});
  LinearDynamics& m = refined.model;
  to_principal_axes(m, series);
  const Vector unit = Vector::Ones(m.order());
  const Vector x0_variance = 10.0 * unit;
  Vector r = error_variances(m, series);
  Vector q;
  double least = std::numeric_limits<double>::infinity();
  for (const double ratio : kNoiseRatios) {
    const double error = free_run_error(m, ratio * unit, r, x0_variance, series);
    if (error < least) {
      least = error;
      q = ratio * unit;
    }
  }
  if (q.size() == 0) {
    throw NumericalError("linear model: its free runs over the training rows are not finite");
  }
  const double size = filter(m, q, r, x0_variance, series, [](Index, const Vector&, const Matrix&) {});
  q = (size * q).cwiseMax(1e-9);
  r = (size * r).cwiseMax(1e-9);
  LinearFit fit{to_dynamics(m, q, r, x0_variance), subspace.singular_values, refined.mean_square};
  fit.dynamics.dead_time = choice.dead_time;
  return fit;
}

}  // namespace gpilot::identify
