#include "gpilot/inference/tied.hpp"

#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/linalg/solve.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::inference {

namespace {

/// Precision C^T R^-1 C and information C^T R^-1 (y - d) of the outputs observed in row t.
void emission(const ssm::Series& series, const ssm::Parameters& p, Index t, Matrix& precision, Vector& information) {
  const Index D = p.C.cols();
  precision.setZero(D, D);
  information.setZero(D);
  for (Index e = 0; e < p.C.rows(); ++e) {
    const double y = series.outputs(e, t);
    if (!std::isnan(y)) {
      const Vector c = p.C.row(e).transpose() * std::exp(-p.log_r(e));
      precision += c * p.C.row(e);
      information += c * (y - p.d(e));
    }
  }
}

}  // namespace

ssm::StatePosterior tied_states(const ssm::Structure& structure, const ssm::Series& series, const ssm::Parameters& p) {
  if (!structure.kinematics.empty()) {
    throw InputError("tied q(x) is defined without declared derivatives only: leave out one of the two");
  }
  const Index D = structure.states;
  ssm::StatePosterior q = ssm::StatePosterior::zero(D, series.rows());
  Matrix precision;
  Vector information;
  Matrix L;
  for (Index t = 0; t < series.rows(); ++t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      const ssm::StartPrior x0 = ssm::start_prior(structure, series.broad[static_cast<std::size_t>(t)]);
      q.m.col(t) = x0.mean;
      q.S_chol.middleCols(D * t, D) = x0.sd.asDiagonal();
      continue;
    }
    emission(series, p, t, precision, information);
    const Vector q_inverse = (-p.log_q.array()).exp();
    precision.diagonal() += q_inverse;
    const Matrix S = linalg::inverse(precision);
    linalg::cholesky(S, L, "tied covariance");
    q.S_chol.middleCols(D * t, D) = L;
    q.A.middleCols(D * t, D) = S * q_inverse.asDiagonal();
    q.m.col(t) = q.A.middleCols(D * t, D) * q.m.col(t - 1) + S * information;
  }
  return q;
}

void tied_pull_back(const ssm::Series& series, const ssm::Parameters& p, const ssm::StatePosterior& q,
                    const ssm::StatePosterior& q_bar, ssm::Parameters& p_bar) {
  const Index D = p.C.cols();
  const Vector q_inverse = (-p.log_q.array()).exp();
  Vector carried = Vector::Zero(D);  // dF/dm_t through the rows after t
  Matrix precision;
  Vector information;
  for (Index t = series.rows() - 1; t >= 0; --t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      carried.setZero();
      continue;
    }
    emission(series, p, t, precision, information);
    const Matrix S_chol = q.S_chol.middleCols(D * t, D);
    const Matrix S = S_chol * S_chol.transpose();
    const Matrix A = q.A.middleCols(D * t, D);
    const Vector b_bar = q_bar.m.col(t) + carried;  // m_t = A m_{t-1} + b
    const Matrix A_bar = q_bar.A.middleCols(D * t, D) + b_bar * q.m.col(t - 1).transpose();
    carried = A.transpose() * b_bar;
    // S enters as itself, in A = S Q^-1 and in b = S h.
    Matrix S_bar = linalg::small_cholesky_backward<Matrix>(S_chol, q_bar.S_chol.middleCols(D * t, D));
    const Matrix through = A_bar * q_inverse.asDiagonal() + b_bar * information.transpose();
    S_bar += 0.5 * (through + through.transpose());
    const Matrix precision_bar = -S * S_bar * S;
    const Vector information_bar = S * b_bar;
    const Vector q_inverse_bar = (S * A_bar).diagonal() + precision_bar.diagonal();
    p_bar.log_q -= q_inverse_bar.cwiseProduct(q_inverse);
    for (Index e = 0; e < p.C.rows(); ++e) {
      const double y = series.outputs(e, t);
      if (!std::isnan(y)) {
        const Vector c = p.C.row(e).transpose();
        const double r_inverse_bar = c.dot(precision_bar * c) + (y - p.d(e)) * c.dot(information_bar);
        p_bar.log_r(e) -= r_inverse_bar * std::exp(-p.log_r(e));
      }
    }
  }
}

}  // namespace gpilot::inference
