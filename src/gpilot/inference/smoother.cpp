#include "gpilot/inference/smoother.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

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
SmallMatrix<Eigen::Dynamic> clip_negative(const SmallMatrix<Eigen::Dynamic>& symmetric) {
  if (symmetric.rows() == 1) {
    return symmetric.cwiseMax(0.0);
  }
  const Eigen::SelfAdjointEigenSolver<SmallMatrix<Eigen::Dynamic>> eigen(symmetric);
  if (eigen.eigenvalues()(0) >= 0.0) {
    return symmetric;
  }
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * eigen.eigenvectors().transpose();
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

template <int N>
void potentials_of_impl(const ssm::StatePosterior& q, const ssm::Series& series, ChainPotentials& out) {
  for (Index t = 0; t < q.rows(); ++t) {
    const SmallMatrix<N> S_chol = block<N>(q.S_chol, t);
    const SmallMatrix<N> precision = inverse_of(S_chol);
    block<N>(out.J, t) = precision;
    if (!series.first[static_cast<std::size_t>(t)]) {
      const SmallMatrix<N> A = block<N>(q.A, t);
      const SmallMatrix<N> SA = precision * A;
      block<N>(out.J_off, t) = -SA;
      block<N>(out.J, t - 1) += A.transpose() * SA;
    }
  }
}

template <int N>
void target_impl(const ssm::Elbo& elbo, const ssm::Parameters& p, const ssm::StatePosterior& q,
                 const ssm::StatePosterior& q_bar, ChainPotentials& out) {
  const ssm::Series& series = elbo.series();
  const ssm::TransitionMessages& messages = elbo.messages();
  const Vector r_inverse = (-p.log_r.array()).exp();
  const SmallVector<N> q_noise = p.log_q.array().exp();
  const SmallVector<N> q_inverse = q_noise.cwiseInverse();
  const SmallMatrix<N> L = elbo.left();
  const SmallMatrix<N> LQ = L.transpose() * q_inverse.asDiagonal();
  const SmallMatrix<N> LQL = LQ * L;
  for (Index t = 0; t < series.rows(); ++t) {
    block<N>(out.J, t).setZero();
    add_emission<N>(p.C, r_inverse, series, t, block<N>(out.J, t));
    if (series.first[static_cast<std::size_t>(t)]) {
      block<N>(out.J, t).diagonal() += elbo.structure().x0_sd.array().square().inverse().matrix();
      continue;
    }
    const SmallMatrix<N> P_chol = block<N>(messages.P_chol, t - 1);
    const SmallMatrix<N> A = block<N>(q.A, t);
    const SmallMatrix<N> r_xi = block<N>(messages.r_xi, t);
    const auto upper = P_chol.transpose().template triangularView<Eigen::Upper>();
    // F = E[g(x) xi^T] P_chol^-1 for the transition mean g, from sum_j dF/dr_j xi_j^T = -Q^-1 E[rho xi^T].
    SmallMatrix<N> Ft = r_xi.transpose() * q_noise.asDiagonal();
    upper.solveInPlace(Ft);
    Ft += A.transpose() * L.transpose();
    // The exact term's gradient in P_{t-1}, P_t and the covariance of (x_{t-1}, x_t) held: U = C P_chol^-T moves too,
    // and with it S_t = P_t - U U^T.
    SmallMatrix<N> moved = r_xi.transpose() * L * A * P_chol;
    upper.solveInPlace(moved);
    const SmallMatrix<N> L_bar = block<N>(messages.x_xi, t) - moved;
    SmallMatrix<N> P_bar = linalg::small_cholesky_backward<SmallMatrix<N>>(P_chol, L_bar);
    P_bar -= 0.5 * A.transpose() * LQL * A;
    const SmallMatrix<N> FQ = Ft * q_inverse.asDiagonal();
    const SmallMatrix<N> linear = FQ * Ft.transpose();
    const SmallMatrix<N> site = -2.0 * P_bar - linear;
    block<N>(out.J, t) += LQL;
    block<N>(out.J_off, t) = -LQ * Ft.transpose();
    block<N>(out.J, t - 1) += linear + SmallMatrix<N>(clip_negative(site));
  }
  out.h = q_bar.m;
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

void potentials_of(const ssm::StatePosterior& q, const ssm::Series& series, ChainPotentials& out) {
  out.resize(q.states(), q.rows());
  out.h.setZero();
  ssm::with_static_states(q.states(), [&]<int N>() { potentials_of_impl<N>(q, series, out); });
}

void target_potentials(const ssm::Elbo& elbo, const ssm::Parameters& p, const ssm::StatePosterior& q,
                       const ssm::StatePosterior& q_bar, ChainPotentials& out) {
  out.resize(q.states(), q.rows());
  ssm::with_static_states(q.states(), [&]<int N>() { target_impl<N>(elbo, p, q, q_bar, out); });
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
      const Vector precision = model.x0_sd.array().square().inverse();
      J.diagonal() += precision;
      potentials.h.col(t) += precision.cwiseProduct(model.x0_mean);
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
                       .x0_mean = s.x0_mean,
                       .x0_sd = s.x0_sd};
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
