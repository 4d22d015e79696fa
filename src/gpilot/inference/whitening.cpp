#include "gpilot/inference/whitening.hpp"

#include <cmath>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/series.hpp"
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

}  // namespace gpilot::inference
