#include "belief_nodes.hpp"

#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::acquisition {

Matrix belief_nodes(const Situation& situation, const ssm::StateBelief& belief) {
  const ssm::Structure& s = situation.transition.structure();
  Matrix P_chol = Matrix::Zero(s.states, s.states);
  if (!belief.covariance.isZero(0.0)) {  // a state that is known is one point
    linalg::cholesky(belief.covariance, P_chol, "covariance of the current state");
  }
  Matrix X = Matrix::Zero(situation.nodes.count(), s.inputs());
  X.leftCols(s.states).noalias() = situation.nodes.xi * P_chol.transpose();
  X.leftCols(s.states).rowwise() += belief.mean.transpose();
  return X;
}

Matrix output_noise(const ssm::Parameters& p, const Matrix& Q) {
  Matrix noise = p.C * Q * p.C.transpose();
  noise.diagonal() += p.log_r.array().exp().matrix();
  return noise;
}

Vector independent_process_variances(const ssm::Transition& transition) {
  return transition.process_covariance().diagonal();
}

}  // namespace gpilot::acquisition
