#pragma once

/// The smoother's passes over the rows of a chain, for N states known at compile time or Eigen::Dynamic. A size takes
/// ten seconds to compile: smoother_1.cpp, smoother_2.cpp, smoother_4.cpp and smoother_dynamic.cpp instantiate one
/// each.

#include <cmath>

#include "gpilot/core/parallel.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/small.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

using ssm::block;
using ssm::column;
using ssm::SmallMatrix;
using ssm::SmallVector;

/// Inverse of L L^T.
template <typename Square>
Square inverse_of(const Square& L) {
  Square inverse = Square::Identity(L.rows(), L.cols());
  L.template triangularView<Eigen::Lower>().solveInPlace(inverse);
  return inverse.transpose() * inverse;
}

/// The nearest positive semidefinite matrix, by its eigenvalues. Not a template: an eigensolver for every size would
/// take minutes to compile.
SmallMatrix<Eigen::Dynamic> clip_eigenvalues(const SmallMatrix<Eigen::Dynamic>& symmetric);

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
inline bool leads_on(const ssm::Series& series, Index t) {
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
void potentials_of_rows(const ssm::StatePosterior& q, const ssm::Series& series, ChainPotentials& out, int threads) {
  for_each_chunk(q.rows(), threads, [&](Index /*chunk*/, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      potentials_of_row<N>(q, series, t, out);
    }
  });
}

template <int N>
void targets_of_rows(const ssm::Elbo& elbo, const ssm::Parameters& p, const ssm::StatePosterior& q,
                     ChainPotentials& out) {
  const TargetWork<N> work(elbo, p);
  for_each_chunk(q.rows(), elbo.threads(), [&](Index /*chunk*/, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      target_of_row<N>(work, elbo, p, q, t, out);
    }
  });
}

template <int N>
bool posterior_of_rows(ChainPotentials& work, const ssm::Series& series, const Matrix& centre, ssm::StatePosterior& q) {
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

extern template void potentials_of_rows<1>(const ssm::StatePosterior&, const ssm::Series&, ChainPotentials&, int);
extern template void targets_of_rows<1>(const ssm::Elbo&, const ssm::Parameters&, const ssm::StatePosterior&,
                                        ChainPotentials&);
extern template bool posterior_of_rows<1>(ChainPotentials&, const ssm::Series&, const Matrix&, ssm::StatePosterior&);

extern template void potentials_of_rows<2>(const ssm::StatePosterior&, const ssm::Series&, ChainPotentials&, int);
extern template void targets_of_rows<2>(const ssm::Elbo&, const ssm::Parameters&, const ssm::StatePosterior&,
                                        ChainPotentials&);
extern template bool posterior_of_rows<2>(ChainPotentials&, const ssm::Series&, const Matrix&, ssm::StatePosterior&);

extern template void potentials_of_rows<4>(const ssm::StatePosterior&, const ssm::Series&, ChainPotentials&, int);
extern template void targets_of_rows<4>(const ssm::Elbo&, const ssm::Parameters&, const ssm::StatePosterior&,
                                        ChainPotentials&);
extern template bool posterior_of_rows<4>(ChainPotentials&, const ssm::Series&, const Matrix&, ssm::StatePosterior&);

extern template void potentials_of_rows<Eigen::Dynamic>(const ssm::StatePosterior&, const ssm::Series&,
                                                        ChainPotentials&, int);
extern template void targets_of_rows<Eigen::Dynamic>(const ssm::Elbo&, const ssm::Parameters&,
                                                     const ssm::StatePosterior&, ChainPotentials&);
extern template bool posterior_of_rows<Eigen::Dynamic>(ChainPotentials&, const ssm::Series&, const Matrix&,
                                                       ssm::StatePosterior&);

}  // namespace gpilot::inference
