#include "gpilot/inference/whitening.hpp"

#include <cmath>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/small.hpp"

namespace gpilot::inference {

using ssm::block;
using ssm::column;
using ssm::SmallMatrix;
using ssm::SmallVector;

namespace {

/// Coordinates of a row after the first of its sequence, D_s of its D states with noise.
Index coordinates(Index D, Index D_s) {
  return D_s + D_s * (D_s + 1) / 2 + D_s * D;
}

}  // namespace

StateWhitening::StateWhitening(const ssm::StatePosterior& reference, const ssm::Series& series,
                               std::vector<ssm::Shift> shifts)
    : series_(series), reference_(reference), shifts_(std::move(shifts)) {
  const Index D = reference.states();
  const Matrix P = ssm::marginal_covariances(reference);
  P_chol_.resize(D, D * reference.rows());
  P_chol_inv_.resize(D, D * reference.rows());
  Matrix L;
  Matrix Linv;
  for (Index t = 0; t < reference.rows(); ++t) {
    linalg::cholesky(P.middleCols(D * t, D), L, "covariance of a state");
    linalg::invert_lower(L, Linv);
    P_chol_.middleCols(D * t, D) = L;
    P_chol_inv_.middleCols(D * t, D) = Linv;
  }
  const Index D_s = D - static_cast<Index>(shifts_.size());
  size_ = series.sequences() * (D + D * (D + 1) / 2) + series.transitions() * coordinates(D, D_s);
}

void StateWhitening::to_shifted_states(VectorRef z, ssm::StatePosterior& q) const {
  const Index D = reference_.states();
  Index k = 0;
  for (Index t = 0; t < reference_.rows(); ++t) {
    const bool first = series_.first[static_cast<std::size_t>(t)];
    const Index noisy = first ? D : D - static_cast<Index>(shifts_.size());
    const auto P_chol = P_chol_.block(0, D * t, noisy, noisy);  // of the noisy states: they come first
    const auto S_chol = reference_.S_chol.block(0, D * t, noisy, noisy);
    q.m.col(t).head(noisy) = reference_.m.col(t).head(noisy) + P_chol * z.segment(k, noisy);
    k += noisy;
    Matrix V = Matrix::Zero(noisy, noisy);
    for (Index j = 0; j < noisy; ++j) {
      V(j, j) = std::exp(z(k++));
      for (Index i = j + 1; i < noisy; ++i) {
        V(i, j) = z(k++);
      }
    }
    q.S_chol.middleCols(D * t, D).setZero();
    q.S_chol.block(0, D * t, noisy, noisy) = S_chol * V;
    if (!first) {
      const Eigen::Map<const Matrix> W(z.data() + k, noisy, D);
      k += noisy * D;
      q.A.middleCols(D * t, D) = reference_.A.middleCols(D * t, D);
      q.A.block(0, D * t, noisy, D) += S_chol * W * P_chol_inv_.middleCols(D * (t - 1), D);
      for (const ssm::Shift& shift : shifts_) {
        q.m(shift.state, t) = q.m(shift.source, t - 1);
      }
    }
  }
}

void StateWhitening::pull_back_shifted(VectorRef z, const ssm::StatePosterior& q_bar, Eigen::Ref<Vector> z_bar) const {
  const Index D = reference_.states();
  Matrix m_bar = q_bar.m;
  Index k = size_;
  for (Index t = reference_.rows() - 1; t >= 0; --t) {
    const bool first = series_.first[static_cast<std::size_t>(t)];
    const Index noisy = first ? D : D - static_cast<Index>(shifts_.size());
    const auto S_chol = reference_.S_chol.block(0, D * t, noisy, noisy);
    if (!first) {
      for (const ssm::Shift& shift : shifts_) {
        m_bar(shift.source, t - 1) += m_bar(shift.state, t);
      }
      k -= noisy * D;
      Eigen::Map<Matrix> W_bar(z_bar.data() + k, noisy, D);
      W_bar =
          S_chol.transpose() * q_bar.A.block(0, D * t, noisy, D) * P_chol_inv_.middleCols(D * (t - 1), D).transpose();
    }
    k -= noisy * (noisy + 1) / 2;
    const Matrix V_bar = S_chol.transpose() * q_bar.S_chol.block(0, D * t, noisy, noisy);
    Index at = k;
    for (Index j = 0; j < noisy; ++j) {
      z_bar(at) = V_bar(j, j) * std::exp(z(at));
      ++at;
      for (Index i = j + 1; i < noisy; ++i) {
        z_bar(at++) = V_bar(i, j);
      }
    }
    k -= noisy;
    z_bar.segment(k, noisy) = P_chol_.block(0, D * t, noisy, noisy).transpose() * m_bar.col(t).head(noisy);
  }
}

void StateWhitening::to_states(VectorRef z, ssm::StatePosterior& q) const {
  if (!shifts_.empty()) {
    to_shifted_states(z, q);
    return;
  }
  ssm::with_static_states(reference_.states(), [&]<int N>() {
    const Index D = reference_.states();
    SmallMatrix<N> V(D, D);
    const double* next = z.data();
    for (Index t = 0; t < reference_.rows(); ++t) {
      const Eigen::Map<const SmallVector<N>> u(next, D);
      next += D;
      column<N>(q.m, t) = column<N>(reference_.m, t) + block<N>(P_chol_, t) * u;
      const auto S_chol = block<N>(reference_.S_chol, t);
      V.setZero();
      for (Index j = 0; j < D; ++j) {
        V(j, j) = std::exp(*next++);
        for (Index i = j + 1; i < D; ++i) {
          V(i, j) = *next++;
        }
      }
      block<N>(q.S_chol, t) = S_chol * V;
      if (!series_.first[static_cast<std::size_t>(t)]) {
        const Eigen::Map<const SmallMatrix<N>> W(next, D, D);
        next += D * D;
        block<N>(q.A, t) = block<N>(reference_.A, t) + S_chol * W * block<N>(P_chol_inv_, t - 1);
      }
    }
  });
}

void StateWhitening::pull_back(VectorRef z, const ssm::StatePosterior& q_bar, Eigen::Ref<Vector> z_bar) const {
  if (!shifts_.empty()) {
    pull_back_shifted(z, q_bar, z_bar);
    return;
  }
  ssm::with_static_states(reference_.states(), [&]<int N>() {
    const Index D = reference_.states();
    Index k = 0;
    for (Index t = 0; t < reference_.rows(); ++t) {
      z_bar.segment(k, D) = block<N>(P_chol_, t).transpose() * column<N>(q_bar.m, t);
      k += D;
      const auto S_chol = block<N>(reference_.S_chol, t);
      const SmallMatrix<N> V_bar = S_chol.transpose() * block<N>(q_bar.S_chol, t);
      for (Index j = 0; j < D; ++j) {
        z_bar(k) = V_bar(j, j) * std::exp(z(k));
        ++k;
        for (Index i = j + 1; i < D; ++i) {
          z_bar(k++) = V_bar(i, j);
        }
      }
      if (!series_.first[static_cast<std::size_t>(t)]) {
        Eigen::Map<SmallMatrix<N>> W_bar(z_bar.data() + k, D, D);
        W_bar = S_chol.transpose() * block<N>(q_bar.A, t) * block<N>(P_chol_inv_, t - 1).transpose();
        k += D * D;
      }
    }
  });
}

}  // namespace gpilot::inference
