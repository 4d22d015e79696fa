#pragma once

/// The passes of the bound over the rows of a chain, for N states known at compile time or Eigen::Dynamic. A size takes
/// ten seconds to compile: elbo_1.cpp, elbo_2.cpp, elbo_4.cpp and elbo_dynamic_*.cpp instantiate one each, and nothing
/// else includes this header.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/core/parallel.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

inline const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

template <int N>
void Elbo::forward(const Parameters& p, const StatePosterior& q) {
  covariances<N>(q);
  for_each_chunk(series_.rows(), threads_, [&](Index chunk, Index begin, Index end) {
    ChunkSums& sums = sums_[static_cast<std::size_t>(chunk)];
    sums.set_zero();
    for (Index t = begin; t < end; ++t) {
      forward_row<N>(p, q, t, sums);
    }
  });
  terms_ = {};
  for (const ChunkSums& sums : sums_) {
    terms_.emission += sums.terms.emission;
    terms_.transition += sums.terms.transition;
    terms_.initial += sums.terms.initial;
    terms_.entropy += sums.terms.entropy;
  }
}

/// P_t = A P_{t-1} A^T + S_t: the one recursion of the forward pass, so all else is left out of it.
template <int N>
void Elbo::covariances(const StatePosterior& q) {
  const Index D = structure_.states;
  SmallMatrix<N> P(D, D);
  SmallMatrix<N> P_chol(D, D);
  SmallMatrix<N> U(D, D);
  for (Index t = 0; t < series_.rows(); ++t) {
    const auto S_chol = block<N>(q.S_chol, t);
    const Index noisy = series_.first[static_cast<std::size_t>(t)] ? D : structure_.stochastic();
    if (!(S_chol.diagonal().head(noisy).array() > 0.0).all()) {
      throw NumericalError(fmt::format("q(x): S_chol of row {} has a diagonal that is not positive", t));
    }
    if (series_.first[static_cast<std::size_t>(t)]) {
      P_chol = S_chol;
    } else {
      U.noalias() = block<N>(q.A, t) * P_chol;
      P.noalias() = U * U.transpose();
      P.noalias() += S_chol * S_chol.transpose();
      if (!linalg::small_cholesky(P, P_chol)) {
        throw NumericalError(fmt::format("q(x): the covariance of row {} is not positive definite", t));
      }
    }
    block<N>(messages_.P_chol, t) = P_chol;
  }
}

template <int N>
void Elbo::forward_row(const Parameters& p, const StatePosterior& q, Index t, ChunkSums& sums) {
  const Index D = structure_.states;
  const double per_row = 0.5 * static_cast<double>(D) * kLogTwoPi;
  const auto S_chol = block<N>(q.S_chol, t);
  const bool first = series_.first[static_cast<std::size_t>(t)];
  const Index noisy = first ? D : structure_.stochastic();
  sums.terms.entropy += S_chol.diagonal().head(noisy).array().log().sum() + 0.5 * static_cast<double>(noisy) +
                        0.5 * static_cast<double>(noisy) * kLogTwoPi;
  if (first) {
    const StartPrior& x0 = start_of(t);
    const auto sd = x0.sd.array();
    const SmallVector<N> deviation = (column<N>(q.m, t) - x0.mean).array() / sd;
    sums.terms.initial -= per_row + sd.log().sum() + 0.5 * deviation.squaredNorm();
    for (Index d = 0; d < D; ++d) {
      sums.terms.initial -= 0.5 * S_chol.row(d).squaredNorm() / (x0.sd(d) * x0.sd(d));
    }
  } else {
    const SmallMatrix<N> L = L_;
    const SmallMatrix<N> J = J_;
    const SmallMatrix<N> P_chol = block<N>(messages_.P_chol, t - 1);
    const SmallMatrix<N> U = block<N>(q.A, t) * P_chol;
    auto offset = column<N>(messages_.offset, t);
    offset = L * column<N>(q.m, t) - J * column<N>(q.m, t - 1) - w_1_;
    if (structure_.controls > 0) {
      offset.noalias() -= W_c_ * series_.controls.col(t - 1);
    }
    block<N>(messages_.slope, t) = L * U - J * P_chol;
    const SmallMatrix<N> LS = L * S_chol;
    for (Index d = 0; d < noisy; ++d) {
      const double spread = LS.row(d).squaredNorm();
      sums.noise(d) += spread;
      sums.terms.transition -= 0.5 * (kLogTwoPi + p.log_q(d) + spread * q_inverse_(d));
    }
  }
  emission_forward<N>(p, q, t, sums);
}

template <int N>
void Elbo::emission_forward(const Parameters& p, const StatePosterior& q, Index t, ChunkSums& sums) {
  const auto P_chol = block<N>(messages_.P_chol, t);
  for (Index e = 0; e < structure_.outputs; ++e) {
    const double y = series_.outputs(e, t);
    if (std::isnan(y)) {
      continue;
    }
    const SmallVector<N> c = p.C.row(e).transpose();
    const double residual = y - c.dot(column<N>(q.m, t)) - p.d(e);
    const SmallVector<N> spread = P_chol.transpose() * c;
    sums.terms.emission -=
        0.5 * (kLogTwoPi + p.log_r(e) + std::exp(-p.log_r(e)) * (residual * residual + spread.squaredNorm()));
  }
}

/// Three sweeps: what each row gives to dF/dm_t and dF/dP_t, the recursion of dF/dP_t alone, what follows from it.
/// dF/dP_t stands in q_bar.S_chol meanwhile.
template <int N>
void Elbo::backward(const Parameters& p, const StatePosterior& q, Parameters& p_bar, StatePosterior& q_bar) {
  const Index n = series_.rows();
  for_each_chunk(n, threads_, [&](Index chunk, Index begin, Index end) {
    ChunkSums& sums = sums_[static_cast<std::size_t>(chunk)];
    for (Index t = begin; t < end; ++t) {
      backward_row<N>(p, q, t, q_bar, sums);
    }
  });
  for (Index t = n - 1; t > 0; --t) {
    if (!series_.first[static_cast<std::size_t>(t)]) {
      const SmallMatrix<N> A = block<N>(q.A, t);
      const SmallMatrix<N> PA = block<N>(q_bar.S_chol, t) * A;
      block<N>(q_bar.S_chol, t - 1).noalias() += A.transpose() * PA;
    }
  }
  for_each_chunk(n, threads_, [&](Index /*chunk*/, Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      finish_row<N>(q, t, q_bar);
    }
  });
  add_chunks(p_bar);
}

/// Row t's own terms and those of the transition t -> t + 1, which starts from it.
template <int N>
void Elbo::backward_row(const Parameters& p, const StatePosterior& q, Index t, StatePosterior& q_bar, ChunkSums& sums) {
  const Index D = structure_.states;
  const Index P_count = structure_.controls;
  const SmallMatrix<N> L = L_;
  SmallMatrix<N> P_bar = SmallMatrix<N>::Zero(D, D);  // dF/dP_t, symmetric, without what later rows send back
  emission_backward<N>(p, q, t, P_bar, q_bar, sums);
  auto m_bar = column<N>(q_bar.m, t);
  if (series_.first[static_cast<std::size_t>(t)]) {
    const StartPrior& x0 = start_of(t);
    for (Index d = 0; d < D; ++d) {
      const double precision = 1.0 / (x0.sd(d) * x0.sd(d));
      m_bar(d) -= precision * (q.m(d, t) - x0.mean(d));
      P_bar(d, d) -= 0.5 * precision;
    }
  } else {
    m_bar += L.transpose() * column<N>(messages_.r_bar, t);
  }
  const Index next = t + 1;
  if (next < series_.rows() && !series_.first[static_cast<std::size_t>(next)]) {
    const SmallMatrix<N> J = J_;
    const SmallMatrix<N> P_chol = block<N>(messages_.P_chol, t);
    const SmallMatrix<N> A = block<N>(q.A, next);
    const SmallVector<N> r_bar = column<N>(messages_.r_bar, next);
    const SmallMatrix<N> r_xi = block<N>(messages_.r_xi, next);
    // r = L m_{t+1} - J m_t - W_c c - w_1 + (L U - J P_chol) xi - f(x), U = A P_chol.
    auto x_bar = column<N>(messages_.x_bar, next);
    auto x_xi = block<N>(messages_.x_xi, next);
    x_bar -= J.transpose() * r_bar;
    x_xi -= J.transpose() * r_xi;
    m_bar += x_bar;
    const SmallMatrix<N> U_bar = L.transpose() * r_xi;
    const SmallMatrix<N> L_bar = x_xi + A.transpose() * U_bar;
    P_bar += linalg::small_cholesky_backward<SmallMatrix<N>>(P_chol, L_bar);

    sums.W_bar.leftCols(D) -= r_bar * column<N>(q.m, t).transpose() + r_xi * P_chol.transpose();
    if (P_count > 0) {
      sums.W_bar.middleCols(D, P_count).noalias() -= r_bar * series_.controls.col(t).transpose();
    }
    sums.W_bar.col(D + P_count) -= r_bar;
  }
  block<N>(q_bar.S_chol, t) = P_bar;
}

template <int N>
void Elbo::emission_backward(const Parameters& p, const StatePosterior& q, Index t, SmallMatrix<N>& P_bar,
                             StatePosterior& q_bar, ChunkSums& sums) {
  const auto P_chol = block<N>(messages_.P_chol, t);
  const auto m = column<N>(q.m, t);
  for (Index e = 0; e < structure_.outputs; ++e) {
    const double y = series_.outputs(e, t);
    if (std::isnan(y)) {
      continue;
    }
    const SmallVector<N> c = p.C.row(e).transpose();
    const double r_inverse = std::exp(-p.log_r(e));
    const double residual = y - c.dot(m) - p.d(e);
    const SmallVector<N> spread = P_chol.transpose() * c;
    column<N>(q_bar.m, t) += r_inverse * residual * c;
    P_bar -= 0.5 * r_inverse * c * c.transpose();
    sums.d_bar(e) += r_inverse * residual;
    sums.C_bar.row(e) += r_inverse * (residual * m - P_chol * spread).transpose();
    sums.log_r_bar(e) += 0.5 * (r_inverse * (residual * residual + spread.squaredNorm()) - 1.0);
  }
}

/// dF/dA_t and dF/dS_chol_t from dF/dP_t.
template <int N>
void Elbo::finish_row(const StatePosterior& q, Index t, StatePosterior& q_bar) {
  SmallMatrix<N> P_bar = block<N>(q_bar.S_chol, t);
  if (!series_.first[static_cast<std::size_t>(t)]) {
    const SmallMatrix<N> L = L_;
    const SmallMatrix<N> P_chol = block<N>(messages_.P_chol, t - 1);
    const SmallMatrix<N> U = block<N>(q.A, t) * P_chol;
    const SmallMatrix<N> U_bar = L.transpose() * block<N>(messages_.r_xi, t) + 2.0 * P_bar * U;
    block<N>(q_bar.A, t) = U_bar * P_chol.transpose();
    P_bar += S_direct_;  // from here on dF/dS_t
  }
  const SmallMatrix<N> S_chol = block<N>(q.S_chol, t);
  auto S_bar = block<N>(q_bar.S_chol, t);
  S_bar = SmallMatrix<N>(2.0 * P_bar * S_chol).template triangularView<Eigen::Lower>();
  const Index noisy = series_.first[static_cast<std::size_t>(t)] ? structure_.states : structure_.stochastic();
  for (Index d = 0; d < noisy; ++d) {
    S_bar(d, d) += 1.0 / S_chol(d, d);
  }
}

}  // namespace gpilot::ssm
