#include "gpilot/ssm/elbo.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::ssm {

namespace {

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

}  // namespace

Elbo::Elbo(const Structure& structure, const Series& series, gp::Nodes nodes, int threads)
    : structure_(structure),
      series_(series),
      regression_(structure, series, std::move(nodes), threads),
      L_(structure.left()),
      J_(structure.right()),
      W_c_(Matrix::Zero(structure.states, structure.controls)),
      w_1_(Vector::Zero(structure.states)),
      noise_(Vector::Zero(structure.states)),
      mean_rows_(structure.mean_rows()),
      has_noise_(Vector::Ones(structure.states)),
      W_bar_(Matrix::Zero(structure.states, structure.inputs() + 1)) {
  has_noise_.tail(structure.states - structure.stochastic()).setZero();
  messages_.resize(structure.states, series.rows());
}

double Elbo::value(const Parameters& p, const StatePosterior& q, const std::vector<gp::Weights>* weights) {
  return evaluate(p, q, weights, nullptr, nullptr);
}

double Elbo::gradient(const Parameters& p, const StatePosterior& q, Parameters& p_bar, StatePosterior& q_bar,
                      const std::vector<gp::Weights>* weights) {
  return evaluate(p, q, weights, &p_bar, &q_bar);
}

double Elbo::evaluate(const Parameters& p, const StatePosterior& q, const std::vector<gp::Weights>* weights,
                      Parameters* p_bar, StatePosterior* q_bar) {
  update_mean_function(p);
  with_static_states(structure_.states, [&]<int N>() { forward<N>(p, q); });
  if (p_bar != nullptr) {
    if (p_bar->log_q.size() != p.log_q.size() || p_bar->Z.rows() != p.Z.rows()) {
      *p_bar = p;
    }
    if (q_bar->rows() != q.rows()) {
      *q_bar = q;
    }
    p_bar->set_zero();
    q_bar->set_zero();
  }
  terms_.transition += regression_.evaluate(p, q.m, messages_, weights, p_bar);
  if (p_bar != nullptr) {
    with_static_states(structure_.states, [&]<int N>() { backward<N>(p, q, *p_bar, *q_bar); });
  }
  const double total = terms_.total();
  if (!std::isfinite(total)) {
    throw NumericalError(fmt::format("the bound is not finite (emission {}, transition {}, initial {}, entropy {})",
                                     terms_.emission, terms_.transition, terms_.initial, terms_.entropy));
  }
  return total;
}

void Elbo::update_mean_function(const Parameters& p) {
  const Index D = structure_.states;
  const auto& rows = mean_rows_;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const auto w = p.mean_weights.col(static_cast<Index>(g));
    J_.row(rows[g]) = w.head(D).transpose();
    W_c_.row(rows[g]) = w.segment(D, structure_.controls).transpose();
    w_1_(rows[g]) = w(structure_.inputs());
  }
}

template <int N>
void Elbo::forward(const Parameters& p, const StatePosterior& q) {
  const Index D = structure_.states;
  const SmallMatrix<N> L = L_;
  const SmallMatrix<N> J = J_;
  const Index D_s = structure_.stochastic();  // shift rows have neither noise nor entropy
  const SmallVector<N> q_inverse = (-p.log_q.array()).exp() * has_noise_.array();
  const double per_row = 0.5 * static_cast<double>(D) * kLogTwoPi;
  terms_ = {};
  noise_.setZero();
  SmallMatrix<N> P(D, D);
  SmallMatrix<N> P_chol(D, D);
  SmallMatrix<N> U(D, D);
  for (Index t = 0; t < series_.rows(); ++t) {
    const auto S_chol = block<N>(q.S_chol, t);
    const bool first = series_.first[static_cast<std::size_t>(t)];
    const Index noisy = first ? D : D_s;
    const auto S_diagonal = S_chol.diagonal().head(noisy).array();
    if (!(S_diagonal > 0.0).all()) {
      throw NumericalError(fmt::format("q(x): S_chol of row {} has a diagonal that is not positive", t));
    }
    terms_.entropy +=
        S_diagonal.log().sum() + 0.5 * static_cast<double>(noisy) + 0.5 * static_cast<double>(noisy) * kLogTwoPi;
    if (first) {
      P_chol = S_chol;
      const auto sd = structure_.x0_sd.array();
      const SmallVector<N> deviation = (column<N>(q.m, t) - structure_.x0_mean).array() / sd;
      terms_.initial -= per_row + sd.log().sum() + 0.5 * deviation.squaredNorm();
      for (Index d = 0; d < D; ++d) {
        terms_.initial -= 0.5 * P_chol.row(d).squaredNorm() / (structure_.x0_sd(d) * structure_.x0_sd(d));
      }
    } else {
      U.noalias() = block<N>(q.A, t) * P_chol;
      const auto m = column<N>(q.m, t - 1);
      column<N>(messages_.offset, t) = L * column<N>(q.m, t) - J * m - w_1_;
      if (structure_.controls > 0) {
        column<N>(messages_.offset, t).noalias() -= W_c_ * series_.controls.col(t - 1);
      }
      block<N>(messages_.slope, t) = L * U - J * P_chol;
      const SmallMatrix<N> LS = L * S_chol;
      const SmallVector<N> spread = LS.rowwise().squaredNorm();
      noise_ += spread;
      terms_.transition -=
          0.5 * (static_cast<double>(D_s) * kLogTwoPi + p.log_q.head(D_s).sum() + spread.dot(q_inverse));
      P.noalias() = U * U.transpose();
      P.noalias() += S_chol * S_chol.transpose();
      if (!linalg::small_cholesky(P, P_chol)) {
        throw NumericalError(fmt::format("q(x): the covariance of row {} is not positive definite", t));
      }
    }
    block<N>(messages_.P_chol, t) = P_chol;
    emission_forward<N>(p, q, t);
  }
}

template <int N>
void Elbo::emission_forward(const Parameters& p, const StatePosterior& q, Index t) {
  const auto P_chol = block<N>(messages_.P_chol, t);
  for (Index e = 0; e < structure_.outputs; ++e) {
    const double y = series_.outputs(e, t);
    if (std::isnan(y)) {
      continue;
    }
    const SmallVector<N> c = p.C.row(e).transpose();
    const double residual = y - c.dot(column<N>(q.m, t)) - p.d(e);
    const SmallVector<N> spread = P_chol.transpose() * c;
    terms_.emission -=
        0.5 * (kLogTwoPi + p.log_r(e) + std::exp(-p.log_r(e)) * (residual * residual + spread.squaredNorm()));
  }
}

template <int N>
void Elbo::backward(const Parameters& p, const StatePosterior& q, Parameters& p_bar, StatePosterior& q_bar) {
  const Index D = structure_.states;
  const Index P_count = structure_.controls;
  const SmallMatrix<N> L = L_;
  const SmallMatrix<N> J = J_;
  const Index D_s = structure_.stochastic();
  const SmallVector<N> q_inverse = (-p.log_q.array()).exp() * has_noise_.array();
  const SmallMatrix<N> S_direct = -0.5 * L.transpose() * q_inverse.asDiagonal() * L;
  const SmallVector<N> x0_precision = structure_.x0_sd.array().square().inverse();
  SmallMatrix<N> P_bar(D, D);       // dF/dP_t, symmetric
  SmallMatrix<N> P_bar_next(D, D);  // what the transition t -> t + 1 adds to it
  SmallMatrix<N> L_bar(D, D);
  P_bar_next.setZero();
  W_bar_.setZero();
  for (Index t = series_.rows() - 1; t >= 0; --t) {
    P_bar = P_bar_next;
    emission_backward<N>(p, q, t, P_bar, p_bar, q_bar);
    const auto S_chol = block<N>(q.S_chol, t);
    auto m_bar = column<N>(q_bar.m, t);
    if (series_.first[static_cast<std::size_t>(t)]) {
      m_bar -= x0_precision.cwiseProduct(column<N>(q.m, t) - structure_.x0_mean);
      P_bar.diagonal() -= 0.5 * x0_precision;
      P_bar_next.setZero();
    } else {
      const auto P_chol = block<N>(messages_.P_chol, t - 1);
      const auto A = block<N>(q.A, t);
      const auto r_bar = column<N>(messages_.r_bar, t);
      const auto r_xi = block<N>(messages_.r_xi, t);
      // r = L m_t - J m_{t-1} - W_c c - w_1 + (L U - J P_chol) xi - f(x), U = A P_chol.
      auto x_bar = column<N>(messages_.x_bar, t);
      auto x_xi = block<N>(messages_.x_xi, t);
      x_bar -= J.transpose() * r_bar;
      x_xi -= J.transpose() * r_xi;
      m_bar += L.transpose() * r_bar;
      column<N>(q_bar.m, t - 1) += x_bar;
      const SmallMatrix<N> U_bar = L.transpose() * r_xi;
      const SmallMatrix<N> AP = A * P_chol;  // = U
      block<N>(q_bar.A, t) = U_bar * P_chol.transpose() + 2.0 * P_bar * AP * P_chol.transpose();
      L_bar = x_xi + A.transpose() * U_bar;
      P_bar_next = linalg::small_cholesky_backward<SmallMatrix<N>>(P_chol, L_bar);
      P_bar_next.noalias() += A.transpose() * P_bar * A;

      W_bar_.leftCols(D) -= r_bar * column<N>(q.m, t - 1).transpose() + r_xi * P_chol.transpose();
      if (P_count > 0) {
        W_bar_.middleCols(D, P_count).noalias() -= r_bar * series_.controls.col(t - 1).transpose();
      }
      W_bar_.col(D + P_count) -= r_bar;
      P_bar += S_direct;  // from here on dF/dS_t
    }
    auto S_bar = block<N>(q_bar.S_chol, t);
    S_bar = SmallMatrix<N>(2.0 * P_bar * S_chol).template triangularView<Eigen::Lower>();
    const Index noisy = series_.first[static_cast<std::size_t>(t)] ? D : D_s;
    S_bar.diagonal().head(noisy) += S_chol.diagonal().head(noisy).cwiseInverse();
  }
  const auto n = static_cast<double>(series_.transitions());
  p_bar.log_q = 0.5 * (q_inverse.array() * (regression_.quadratic() + noise_).array() - n);
  p_bar.log_q = p_bar.log_q.cwiseProduct(has_noise_);
  const auto& rows = mean_rows_;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    p_bar.mean_weights.col(static_cast<Index>(g)) = W_bar_.row(rows[g]).transpose();
  }
}

template <int N>
void Elbo::emission_backward(const Parameters& p, const StatePosterior& q, Index t, SmallMatrix<N>& P_bar,
                             Parameters& p_bar, StatePosterior& q_bar) {
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
    p_bar.d(e) += r_inverse * residual;
    p_bar.C.row(e) += r_inverse * (residual * m - P_chol * spread).transpose();
    p_bar.log_r(e) += 0.5 * (r_inverse * (residual * residual + spread.squaredNorm()) - 1.0);
  }
}

void Elbo::weights_gradient(const Parameters& p, std::vector<gp::Weights>& bar) const {
  const auto& rows = regression_.row_states();
  bar.resize(rows.size());
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const gp::Statistics& s = regression_.statistics()[g];
    const gp::Weights& v = regression_.weights()[g];
    const double q = std::exp(p.log_q(rows[g]));
    bar[g].mu = (s.h - s.G * v.mu) / q - v.mu;
    Matrix L;
    linalg::cholesky(v.Sigma, L, "covariance of the inducing points");
    Matrix Linv;
    linalg::invert_lower(L, Linv);
    bar[g].Sigma = 0.5 * (Linv.transpose() * Linv - s.G / q);
    bar[g].Sigma.diagonal().array() -= 0.5;
  }
}

}  // namespace gpilot::ssm
