#include "gpilot/plan/belief_nodes.hpp"

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::plan {

Matrix belief_nodes(const DecisionContext& context, const ssm::StateBelief& belief) {
  const ssm::Structure& s = context.transition.structure();
  Matrix P_chol = Matrix::Zero(s.states, s.states);
  if (!belief.covariance.isZero(0.0)) {  // a state that is known is one point
    linalg::cholesky(belief.covariance, P_chol, "covariance of the current state");
  }
  Matrix X = Matrix::Zero(context.nodes.count(), s.inputs());
  X.leftCols(s.states).noalias() = context.nodes.xi * P_chol.transpose();
  X.leftCols(s.states).rowwise() += belief.mean.transpose();
  return X;
}

NodeMoments node_moments(const ssm::Transition& transition, Matrix nodes, VectorRef control, bool slopes) {
  set_control(nodes, control);
  NodeMoments m;
  if (slopes) {
    transition.moments(nodes, m.mean, m.variance, m.mean_slope, m.variance_slope);
  } else {
    transition.moments(nodes, m.mean, m.variance);
  }
  return m;
}

Matrix output_noise(const ssm::Parameters& p, const Matrix& Q) {
  Matrix noise = p.C * Q * p.C.transpose();
  noise.diagonal() += p.log_r.array().exp().matrix();
  return noise;
}

Vector independent_process_variances(const ssm::Transition& transition) {
  return transition.process_covariance().diagonal();
}

}  // namespace gpilot::plan
