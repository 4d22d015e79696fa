// Gradients of StateWhitening, apart from it because they are half of what it takes to compile.
#include <cmath>

#include "gpilot/inference/whitening.hpp"
#include "gpilot/ssm/small.hpp"

namespace gpilot::inference {

using ssm::block;
using ssm::column;
using ssm::SmallMatrix;

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
