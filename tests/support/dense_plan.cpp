#include "support/dense_plan.hpp"

#include <Eigen/Dense>

#include "gpilot/kernels/stationary.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::test {

Vector mean_step(const ssm::Transition& transition, VectorRef point) {
  Matrix mean;
  Matrix variance;
  transition.moments(point.transpose(), mean, variance);
  return transition.structure().left().lu().solve(Vector(mean.row(0).transpose()));
}

Matrix step_slope(const ssm::Transition& transition, VectorRef point) {
  constexpr double kStep = 1e-5;
  const Index D = transition.structure().states;
  Matrix slope(D, D);
  for (Index i = 0; i < D; ++i) {
    Vector above = point;
    Vector below = point;
    above(i) += kStep;
    below(i) -= kStep;
    slope.col(i) = (mean_step(transition, above) - mean_step(transition, below)) / (2.0 * kStep);
  }
  return slope;
}

Vector kicked_outputs(const plan::DecisionContext& context, const Vector& plan, const Matrix& kick) {
  const ssm::Transition& transition = context.transition;
  const ssm::Parameters& p = transition.parameters();
  const Index P = context.box.low.size();
  const Index E = p.C.rows();
  const Matrix L_inverse = transition.structure().left().inverse();
  Vector y(E * kick.cols());
  Vector x = context.belief.mean;
  for (Index t = 0; t < kick.cols(); ++t) {
    Vector point(x.size() + P);
    point << x, plan.segment(t * P, P);
    x = mean_step(transition, point) + L_inverse * kick.col(t);
    y.segment(t * E, E) = p.C * x + p.d;
  }
  return y;
}

Matrix dense_covariance(const ssm::Transition& transition, std::size_t g, const Matrix& X) {
  const gp::InducingBasis& basis = transition.bases()[g];
  const Index N = X.rows();
  const Index M = basis.inducing();
  Matrix Xs(N, X.cols());
  Matrix K(N, M);
  Matrix A(N, basis.features());
  basis.evaluate(X, Vector(), Xs, K, nullptr, A);
  Matrix prior = Matrix::Zero(N, N);
  if (M > 0) {
    prior = kernels::gram(basis.kind, basis.variance, basis.inverse_length_scales.cwiseInverse(), X, X);
  }
  return prior - A.leftCols(M) * A.leftCols(M).transpose() + A * transition.weights()[g].Sigma * A.transpose();
}

DensePath dense_path(const ssm::Transition& transition, const Matrix& points) {
  const ssm::Structure& s = transition.structure();
  const Matrix& C = transition.parameters().C;
  const Matrix L_inverse = s.left().inverse();
  const std::vector<Index> rows = s.gp_rows();
  const auto G = static_cast<Index>(rows.size());
  const Index H = points.rows();
  const Index D = s.states;
  const Index E = s.outputs;
  // x_t as a linear function of all sources, row after row.
  const Index sources = D + D * H + G * H;
  Matrix state = Matrix::Zero(D, sources);
  state.leftCols(D).setIdentity();
  Matrix outputs(E * (H + 1), sources);
  for (Index t = 0; t <= H; ++t) {
    outputs.middleRows(E * t, E) = C * state;
    if (t == H) {
      break;
    }
    state = Matrix(step_slope(transition, points.row(t).transpose()) * state);
    for (Index d = 0; d < D; ++d) {
      state.col(D + t * D + d) += L_inverse.col(d);
    }
    for (Index g = 0; g < G; ++g) {
      state.col(D + D * H + g * H + t) += L_inverse.col(rows[static_cast<std::size_t>(g)]);
    }
  }
  return {outputs.leftCols(D), outputs.middleCols(D, D * H), outputs.rightCols(G * H)};
}

Matrix conditioned(const Matrix& own, const Matrix& cross, const Matrix& known) {
  return own - cross.transpose() * known.fullPivLu().solve(cross);
}

Matrix block_diagonal(const std::vector<Matrix>& blocks) {
  Index size = 0;
  for (const Matrix& block : blocks) {
    size += block.rows();
  }
  Matrix result = Matrix::Zero(size, size);
  Index at = 0;
  for (const Matrix& block : blocks) {
    result.block(at, at, block.rows(), block.cols()) = block;
    at += block.rows();
  }
  return result;
}

}  // namespace gpilot::test
