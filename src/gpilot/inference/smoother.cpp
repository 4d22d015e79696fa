#include "gpilot/inference/smoother.hpp"

#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/core/parallel.hpp"
#include "gpilot/inference/smoother_rows.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/linalg/symmetric_eigen.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/small.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

SmallMatrix<Eigen::Dynamic> clip_eigenvalues(const SmallMatrix<Eigen::Dynamic>& symmetric) {
  const linalg::SymmetricEigen eigen(symmetric);
  return eigen.vectors * eigen.values.cwiseMax(0.0).asDiagonal() * eigen.vectors.transpose();
}

void ChainPotentials::resize(Index states, Index rows) {
  if (h.rows() != states || h.cols() != rows) {
    J.setZero(states, states * rows);
    J_off.setZero(states, states * rows);
    h.setZero(states, rows);
  }
}

void potentials_of(const ssm::StatePosterior& q, const ssm::Series& series, ChainPotentials& out, int threads) {
  out.resize(q.states(), q.rows());
  out.h.setZero();
  ssm::with_static_states(q.states(), [&]<int N>() { potentials_of_rows<N>(q, series, out, threads); });
}

void target_potentials(const ssm::Elbo& elbo, const ssm::Parameters& p, const ssm::StatePosterior& q,
                       const ssm::StatePosterior& q_bar, ChainPotentials& out) {
  out.resize(q.states(), q.rows());
  out.h = q_bar.m;
  ssm::with_static_states(q.states(), [&]<int N>() { targets_of_rows<N>(elbo, p, q, out); });
}

bool posterior_of(ChainPotentials& potentials, const ssm::Series& series, const Matrix& centre,
                  ssm::StatePosterior& q) {
  return ssm::with_static_states(centre.rows(),
                                 [&]<int N>() { return posterior_of_rows<N>(potentials, series, centre, q); });
}

ssm::StatePosterior smooth(const LinearGaussian& model, const ssm::Series& series) {
  const Index D = model.F.rows();
  const Index P = series.controls.rows();
  const Vector r_inverse = model.r.cwiseInverse();
  const Matrix LQ = model.L.transpose() * model.q.cwiseInverse().asDiagonal();
  const Matrix FQ = model.F.transpose() * model.q.cwiseInverse().asDiagonal();
  ChainPotentials potentials;
  potentials.resize(D, series.rows());
  for (Index t = 0; t < series.rows(); ++t) {
    auto J = potentials.J.middleCols(D * t, D);
    add_emission<Eigen::Dynamic>(model.C, r_inverse, series, t, J);
    for (Index e = 0; e < model.C.rows(); ++e) {
      const double y = series.outputs(e, t);
      if (!std::isnan(y)) {
        potentials.h.col(t) += r_inverse(e) * (y - model.d(e)) * model.C.row(e).transpose();
      }
    }
    if (series.first[static_cast<std::size_t>(t)]) {
      const ssm::StartPrior& x0 = series.broad[static_cast<std::size_t>(t)] ? model.broad_start : model.start;
      const Vector precision = x0.sd.array().square().inverse();
      J.diagonal() += precision;
      potentials.h.col(t) += precision.cwiseProduct(x0.mean);
      continue;
    }
    const Vector offset = model.W.leftCols(P) * series.controls.col(t - 1) + model.W.col(P);
    J += LQ * model.L;
    potentials.J_off.middleCols(D * t, D) = -LQ * model.F;
    potentials.J.middleCols(D * (t - 1), D) += FQ * model.F;
    potentials.h.col(t) += LQ * offset;
    potentials.h.col(t - 1) -= FQ * offset;
  }
  ssm::StatePosterior q = ssm::StatePosterior::zero(D, series.rows());
  if (!posterior_of(potentials, series, Matrix::Zero(D, series.rows()), q)) {
    throw NumericalError("smoother: the posterior precision of the linear model is not positive definite");
  }
  return q;
}

LinearGaussian linear_part(const ssm::Structure& s, const ssm::Parameters& p) {
  LinearGaussian model{.L = s.left(),
                       .F = s.right(),
                       .W = Matrix::Zero(s.states, s.controls + 1),
                       .q = p.log_q.array().exp(),
                       .C = p.C,
                       .d = p.d,
                       .r = p.log_r.array().exp(),
                       .start = ssm::start_prior(s, false),
                       .broad_start = ssm::start_prior(s, true)};
  const std::vector<Index> rows = s.mean_rows();
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const auto w = p.mean_weights.col(static_cast<Index>(g));
    model.F.row(rows[g]) = w.head(s.states).transpose();
    model.W.row(rows[g]) = w.tail(s.controls + 1).transpose();
  }
  return model;
}

void snap_shifts(const ssm::Structure& s, const ssm::Series& series, ssm::StatePosterior& q) {
  const Index D = s.states;
  const Index D_s = s.stochastic();
  for (Index t = 0; t < series.rows() && D_s < D; ++t) {
    if (series.first[static_cast<std::size_t>(t)]) {
      continue;
    }
    q.A.block(D_s, D * t, D - D_s, D).setZero();
    q.S_chol.block(0, D * t + D_s, D, D - D_s).setZero();
    q.S_chol.block(D_s, D * t, D - D_s, D_s).setZero();
    for (const ssm::Shift& shift : s.shifts) {
      q.A(shift.state, D * t + shift.source) = 1.0;
      q.m(shift.state, t) = q.m(shift.source, t - 1);
    }
  }
}

}  // namespace gpilot::inference
