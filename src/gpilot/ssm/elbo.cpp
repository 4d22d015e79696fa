#include "gpilot/ssm/elbo.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/core/parallel.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::ssm {

Elbo::Elbo(const Structure& structure, const Series& series, gp::Nodes nodes, int threads)
    : structure_(structure),
      series_(series),
      regression_(structure, series, std::move(nodes), threads),
      declared_start_(start_prior(structure, false)),
      broad_start_(start_prior(structure, true)),
      L_(structure.left()),
      J_(structure.right()),
      W_c_(Matrix::Zero(structure.states, structure.controls)),
      w_1_(Vector::Zero(structure.states)),
      q_inverse_(Vector::Zero(structure.states)),
      S_direct_(Matrix::Zero(structure.states, structure.states)),
      mean_rows_(structure.mean_rows()),
      threads_(threads) {
  messages_.resize(structure.states, series.rows());
  const Index D = structure.states;
  const Index E = structure.outputs;
  sums_.assign(static_cast<std::size_t>(chunk_count(series.rows())),
               ChunkSums{{}, Vector(D), Matrix(D, structure.inputs() + 1), Matrix(E, D), Vector(E), Vector(E)});
}

void Elbo::ChunkSums::set_zero() {
  terms = {};
  noise.setZero();
  W_bar.setZero();
  C_bar.setZero();
  d_bar.setZero();
  log_r_bar.setZero();
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
  prepare(p);
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

void Elbo::prepare(const Parameters& p) {
  const Index D = structure_.states;
  const auto& rows = mean_rows_;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const auto w = p.mean_weights.col(static_cast<Index>(g));
    J_.row(rows[g]) = w.head(D).transpose();
    W_c_.row(rows[g]) = w.segment(D, structure_.controls).transpose();
    w_1_(rows[g]) = w(structure_.inputs());
  }
  q_inverse_ = (-p.log_q.array()).exp();
  q_inverse_.tail(D - structure_.stochastic()).setZero();  // shift rows have neither noise nor entropy
  for (Index i = 0; i < D; ++i) {                          // -1/2 L^T Q^-1 L
    for (Index j = 0; j < D; ++j) {
      S_direct_(i, j) = -0.5 * L_.col(i).cwiseProduct(q_inverse_).dot(L_.col(j));
    }
  }
}

/// The parameters' gradients: the chunks' sums, added in order.
void Elbo::add_chunks(Parameters& p_bar) {
  ChunkSums& sum = sums_.front();
  for (std::size_t k = 1; k < sums_.size(); ++k) {
    sum.noise += sums_[k].noise;
    sum.W_bar += sums_[k].W_bar;
    sum.C_bar += sums_[k].C_bar;
    sum.d_bar += sums_[k].d_bar;
    sum.log_r_bar += sums_[k].log_r_bar;
  }
  p_bar.C = sum.C_bar;
  p_bar.d = sum.d_bar;
  p_bar.log_r = sum.log_r_bar;
  const auto n = static_cast<double>(series_.transitions());
  p_bar.log_q = 0.5 * (q_inverse_.array() * (regression_.quadratic() + sum.noise).array() - n);
  p_bar.log_q.tail(structure_.states - structure_.stochastic()).setZero();
  const auto& rows = mean_rows_;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    p_bar.mean_weights.col(static_cast<Index>(g)) = sum.W_bar.row(rows[g]).transpose();
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
