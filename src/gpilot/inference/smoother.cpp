#include "gpilot/inference/smoother.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "../parallel.hpp"
#include "gpilot/error.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/small.hpp"

namespace gpilot::inference {

using ssm::block;
using ssm::column;
using ssm::SmallMatrix;
using ssm::SmallVector;

namespace {

/// Inverse of L L^T.
template <typename Square>
Square inverse_of(const Square& L) {
  Square inverse = Square::Identity(L.rows(), L.cols());
  L.template triangularView<Eigen::Lower>().solveInPlace(inverse);
  return inverse.transpose() * inverse;
}

/// Not a template: an eigensolver for every size would take minutes to compile.
SmallMatrix<Eigen::Dynamic> clip_eigenvalues(const SmallMatrix<Eigen::Dynamic>& symmetric) {
  const Eigen::SelfAdjointEigenSolver<SmallMatrix<Eigen::Dynamic>> eigen(symmetric);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * eigen.eigenvectors().transpose();
}

/// The nearest positive semidefinite matrix.
template <int N>
SmallMatrix<N> clip_negative(const SmallMatrix<N>& symmetric) {
  if (symmetric.rows() == 1) {
    return symmetric.cwiseMax(0.0);
  }
  SmallMatrix<N> L(symmetric.rows(), symmetric.cols());
  return linalg::small_cholesky(symmetric, L) ? symmetric : SmallMatrix<N>(clip_eigenvalues(symmetric));
}

/// Adds the emission's precision C^T R^-1 C of the outputs observed in row t.
template <int N, typename Target>
void add_emission(const Matrix& C, const Vector& r_inverse, const ssm::Series& series, Index t, Target&& J) {
  for (Index e = 0; e < C.rows(); ++e) {
    if (!std::isnan(series.outputs(e, t))) {
      const SmallVector<N> c = C.row(e).transpose();
      J += r_inverse(e) * c * c.transpose();
    }
  }
}

/// Whether row t has a successor in its sequence.
bool leads_on(const ssm::Series& series, Index t) {
  return t + 1 < series.rows() && !series.first[static_cast<std::size_t>(t) + 1];
}

/// Row t's own block, and what the transition t -> t + 1 adds to it: each block is written by one row alone.
template <int N>
void potentials_of_row(const ssm::StatePosterior& q, const ssm::Series& series, Index t, ChainPotentials& out) {
  const SmallMatrix<N> S_chol = block<N>(q.S_chol, t);
  SmallMatrix<N> J = inverse_of(S_chol);
  if (leads_on(series, t)) {
    const SmallMatrix<N> S_chol_next = block<N>(q.S_chol, t + 1);
    const SmallMatrix<N> A = block<N>(q.A, t + 1);
    const SmallMatrix<N> SA = inverse_of(S_chol_next) * A;
    block<N>(out.J_off, t + 1) = -SA;
    J += A.transpose() * SA;
  }
  block<N>(out.J, t) = J;
}

/// What the rows of target_potentials share.
template <int N>
struct TargetWork {
  Vector r_inverse;
  SmallVector<N> q_noise, q_inverse;
  SmallMatrix<N> L, LQ, LQL;

  TargetWork(const ssm::Elbo& elbo, const ssm::Parameters& p)
      : r_inverse((-p.log_r.array()).exp()),
        q_noise(p.log_q.array().exp()),
        q_inverse(q_noise.cwiseInverse()),
        L(elbo.left()),
        LQ(L.transpose() * q_inverse.asDiagonal()),
        LQL(LQ * L) {}
};

template <int N>
void target_of_row(const TargetWork<N>& w, const ssm::Elbo& elbo, const ssm::Parameters& p,
                   const ssm::StatePosterior& q, Index t, ChainPotentials& out) {
  const ssm::Series& series = elbo.series();
  const ssm::TransitionMessages& messages = elbo.messages();
  SmallMatrix<N> J = SmallMatrix<N>::Zero(q.states(), q.states());
  add_emission<N>(p.C, w.r_inverse, series, t, J);
  if (series.first[static_cast<std::size_t>(t)]) {
    J.diagonal() += elbo.start_of(t).sd.array().square().inverse().matrix();
  } else {
    J += w.LQL;
  }
  if (leads_on(series, t)) {
    const SmallMatrix<N> P_chol = block<N>(messages.P_chol, t);
    const SmallMatrix<N> A = block<N>(q.A, t + 1);
    const SmallMatrix<N> r_xi = block<N>(messages.r_xi, t + 1);
    const auto upper = P_chol.transpose().template triangularView<Eigen::Upper>();
    // F = E[g(x) xi^T] P_chol^-1 for the transition mean g, from sum_j dF/dr_j xi_j^T = -Q^-1 E[rho xi^T].
    SmallMatrix<N> Ft = r_xi.transpose() * w.q_noise.asDiagonal();
    upper.solveInPlace(Ft);
    Ft += A.transpose() * w.L.transpose();
    // The exact term's gradient in P_t, P_{t+1} and the covariance of (x_t, x_{t+1}) held: U = C P_chol^-T moves too,
    // and with it S_{t+1} = P_{t+1} - U U^T.
    SmallMatrix<N> moved = r_xi.transpose() * w.L * A * P_chol;
    upper.solveInPlace(moved);
    const SmallMatrix<N> L_bar = block<N>(messages.x_xi, t + 1) - moved;
    SmallMatrix<N> P_bar = linalg::small_cholesky_backward<SmallMatrix<N>>(P_chol, L_bar);
    P_bar -= 0.5 * A.transpose() * w.LQL * A;
    const SmallMatrix<N> FQ = Ft * w.q_inverse.asDiagonal();
    const SmallMatrix<N> linear = FQ * Ft.transpose();
    const SmallMatrix<N> site = -2.0 * P_bar - linear;
    block<N>(out.J_off, t + 1) = -w.LQ * Ft.transpose();
    J += linear + clip_negative<N>(site);
  }
  block<N>(out.J, t) = J;
}

template <int N>
bool posterior_impl(ChainPotentials& work, const ssm::Series& series, const Matrix& centre, ssm::StatePosterior& q) {
  const Index D = centre.rows();
  SmallMatrix<N> L(D, D);
  SmallMatrix<N> S_chol(D, D);
  for (Index t = series.rows() - 1; t >= 0; --t) {
    // Eliminating the rows after t leaves x_t | x_{t-1} ~ N(J^-1 (h - J_off x_{t-1}), J^-1).
    const SmallMatrix<N> J = block<N>(work.J, t);
    if (!linalg::small_cholesky(J, L)) {
      return false;
    }
    const SmallMatrix<N> S = inverse_of(L);
    if (!linalg::small_cholesky(S, S_chol)) {
      return false;
    }
    block<N>(q.S_chol, t) = S_chol;
    const SmallVector<N> offset = S * column<N>(work.h, t);
    column<N>(q.m, t) = offset;
    if (!series.first[static_cast<std::size_t>(t)]) {
      const SmallMatrix<N> J_off = block<N>(work.J_off, t);
      const SmallMatrix<N> A = -S * J_off;
      block<N>(q.A, t) = A;
      block<N>(work.J, t - 1) += J_off.transpose() * A;
      column<N>(work.h, t - 1) -= J_off.transpose() * offset;
    } else {
      block<N>(q.A, t).setZero();
    }
  }
  for (Index t = 0; t < series.rows(); ++t) {
    if (!series.first[static_cast<std::size_t>(t)]) {
      column<N>(q.m, t) += block<N>(q.A, t) * column<N>(q.m, t - 1);
    }
  }
  q.m += centre;
  return q.m.allFinite();
}

}  // namespace

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
  ssm::with_static_states(q.states(), [&]<int N>() {
    for_each_chunk(q.rows(), threads, [&](Index /*chunk*/, Index begin, Index end) {
      for (Index t = begin; t < end; ++t) {
        potentials_of_row<N>(q, series, t, out);
      }
    });
  });
}

void target_potentials(const ssm::Elbo& elbo, const ssm::Parameters& p, const ssm::StatePosterior& q,
                       const ssm::StatePosterior& q_bar, ChainPotentials& out) {
  out.resize(q.states(), q.rows());
  out.h = q_bar.m;
  ssm::with_static_states(q.states(), [&]<int N>() {
    const TargetWork<N> work(elbo, p);
    for_each_chunk(q.rows(), elbo.threads(), [&](Index /*chunk*/, Index begin, Index end) {
      for (Index t = begin; t < end; ++t) {
        target_of_row<N>(work, elbo, p, q, t, out);
      }
    });
  });
}

bool posterior_of(ChainPotentials& potentials, const ssm::Series& series, const Matrix& centre,
                  ssm::StatePosterior& q) {
  return ssm::with_static_states(centre.rows(),
                                 [&]<int N>() { return posterior_impl<N>(potentials, series, centre, q); });
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
