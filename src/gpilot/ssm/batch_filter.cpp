#include "gpilot/ssm/batch_filter.hpp"

#include <cmath>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/small.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

namespace {

/// Factorises the covariance of a belief, with jitter where it needs some. False if none helps.
template <int N>
bool factorise(const SmallMatrix<N>& P, SmallMatrix<N>& P_chol) {
  if (linalg::small_cholesky(P, P_chol)) {
    return true;
  }
  try {
    Matrix L;
    linalg::cholesky(P, L, "covariance of a filtered state");
    P_chol = L;
    return true;
  } catch (const NumericalError&) {
    return false;
  }
}

}  // namespace

BatchFilter::BatchFilter(const Transition& transition, gp::Nodes nodes)
    : transition_(transition),
      nodes_(std::move(nodes)),
      turns_(output_turns(transition.structure().angles, transition.parameters().C)) {
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    functions_.emplace_back(transition.bases()[g], transition.weights()[g]);
  }
}

BeliefBatch BatchFilter::initial(Index count, bool broad) const {
  const StartPrior x0 = start_prior(transition_.structure(), broad);
  const Matrix P = x0.sd.array().square().matrix().asDiagonal();
  return {x0.mean.replicate(1, count), P.replicate(1, count)};
}

/// The nodes of belief n, rows n J .. n J + J - 1 of X.
template <int N>
void BatchFilter::spread(const BeliefBatch& beliefs, Matrix& X, std::vector<bool>& held) const {
  const Index J = nodes_.count();
  const Index D = beliefs.mean.rows();
  SmallMatrix<N> P_chol(D, D);
  for (Index n = 0; n < beliefs.count(); ++n) {
    if (!factorise<N>(block<N>(beliefs.covariance, n), P_chol)) {
      held[static_cast<std::size_t>(n)] = true;
      P_chol.setZero();
    }
    for (Index d = 0; d < D; ++d) {
      auto x = X.col(d).segment(n * J, J);
      x.setConstant(beliefs.mean(d, n));
      for (Index k = 0; k <= d; ++k) {
        x += P_chol(d, k) * nodes_.xi.col(k);
      }
    }
  }
}

/// Moments of L x' over the nodes of each belief, and the belief about x' from them.
template <int N>
void BatchFilter::collect(const Matrix& mean, const Matrix& variance, BeliefBatch& beliefs,
                          std::vector<bool>& held) const {
  const Index J = nodes_.count();
  const Index D = mean.cols();
  const SmallMatrix<N> L_inverse = transition_.left_inverse();
  const SmallVector<N> q = transition_.process_variance();
  const SmallVector<N> limits = prediction_limits(transition_.structure());
  SmallVector<N> z(D);
  SmallMatrix<N> Z(D, D);
  Matrix centred(J, D);
  Matrix weighted(J, D);
  for (Index n = 0; n < beliefs.count(); ++n) {
    for (Index d = 0; d < D; ++d) {
      z(d) = mean.col(d).segment(n * J, J).dot(nodes_.w);
      centred.col(d) = mean.col(d).segment(n * J, J).array() - z(d);
      weighted.col(d) = centred.col(d).cwiseProduct(nodes_.w);
      for (Index e = 0; e <= d; ++e) {
        Z(d, e) = Z(e, d) = centred.col(e).dot(weighted.col(d));
      }
      Z(d, d) += variance.col(d).segment(n * J, J).dot(nodes_.w) + q(d);
    }
    const SmallVector<N> m = L_inverse * z;
    const SmallMatrix<N> P = L_inverse * Z * L_inverse.transpose();
    if (held[static_cast<std::size_t>(n)] || !is_within(m, P, limits)) {
      held[static_cast<std::size_t>(n)] = true;
      continue;
    }
    column<N>(beliefs.mean, n) = m;
    block<N>(beliefs.covariance, n) = P;
  }
}

void BatchFilter::predict(BeliefBatch& beliefs, MatrixRef controls, std::vector<bool>& diverged) const {
  const Structure& s = transition_.structure();
  const Index J = nodes_.count();
  std::vector<bool> held(static_cast<std::size_t>(beliefs.count()), false);
  Matrix X(beliefs.count() * J, s.inputs());
  for (Index n = 0; n < beliefs.count(); ++n) {
    X.block(n * J, s.states, J, s.controls).rowwise() = controls.col(n).transpose();
  }
  with_static_states(s.states, [&]<int N>() { spread<N>(beliefs, X, held); });
  Matrix mean = transition_.mean_part(X);
  Matrix variance = Matrix::Zero(X.rows(), s.states);
  Vector f(X.rows());
  for (std::size_t g = 0; g < functions_.size(); ++g) {
    const Index row = transition_.row_states()[g];
    functions_[g].predict(X, f, variance.col(row));
    mean.col(row) += f;
  }
  with_static_states(s.states, [&]<int N>() { collect<N>(mean, variance, beliefs, held); });
  for (std::size_t n = 0; n < held.size(); ++n) {
    diverged[n] = diverged[n] || held[n];
  }
}

void BatchFilter::outputs(const BeliefBatch& beliefs, Matrix& mean, Matrix& variance) const {
  const Parameters& p = transition_.parameters();
  const Index D = beliefs.mean.rows();
  mean.noalias() = p.C * beliefs.mean;
  mean.colwise() += p.d;
  variance.resize(p.C.rows(), beliefs.count());
  const Matrix CP = p.C * beliefs.covariance;  // [E x D N]
  for (Index n = 0; n < beliefs.count(); ++n) {
    variance.col(n) = CP.middleCols(n * D, D).cwiseProduct(p.C).rowwise().sum();
  }
}

}  // namespace gpilot::ssm
