#include "gpilot/ssm/posterior.hpp"

namespace gpilot::ssm {

StatePosterior StatePosterior::zero(Index states, Index rows) {
  return {Matrix::Zero(states, rows), Matrix::Zero(states, states * rows), Matrix::Zero(states, states * rows)};
}

void StatePosterior::set_zero() {
  m.setZero();
  A.setZero();
  S_chol.setZero();
}

Matrix marginal_covariances(const StatePosterior& q) {
  const Index D = q.states();
  Matrix P(D, D * q.rows());
  for (Index t = 0; t < q.rows(); ++t) {
    const Matrix S = q.S_chol.middleCols(D * t, D);
    P.middleCols(D * t, D) = S * S.transpose();
    if (t > 0) {
      const Matrix A = q.A.middleCols(D * t, D);
      P.middleCols(D * t, D) += A * P.middleCols(D * (t - 1), D) * A.transpose();
    }
  }
  return P;
}

}  // namespace gpilot::ssm
