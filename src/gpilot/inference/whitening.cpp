#include "gpilot/inference/whitening.hpp"

#include <cmath>

#include "gpilot/error.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/small.hpp"

namespace gpilot::inference {

using ssm::block;
using ssm::column;
using ssm::SmallMatrix;
using ssm::SmallVector;

StateWhitening::StateWhitening(const ssm::StatePosterior& reference, const ssm::Series& series)
    : series_(series), reference_(reference) {
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
  size_ = reference.rows() * (D + D * (D + 1) / 2) + series.transitions() * D * D;
}

void StateWhitening::to_states(VectorRef z, ssm::StatePosterior& q) const {
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
