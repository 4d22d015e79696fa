#include "support/random_context.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::test {

namespace {

constexpr Index kRows = 8;

ssm::Structure structure_of(const RandomContext::Options& o) {
  ssm::Structure s;
  s.states = o.states;
  s.controls = o.controls;
  s.outputs = o.outputs;
  s.inducing = o.inducing;
  s.kernel = o.kernel;
  s.linear_kernel = o.linear_kernel;
  if (o.kinematics) {
    s.kinematics.push_back({0, 1, 0.3});
  }
  if (o.angle) {
    s.angles.push_back({0, 1.3});
  }
  s.x0_mean = Vector::Constant(o.states, 0.2);
  s.x0_sd = Vector::Constant(o.states, 0.7);
  s.validate();
  return s;
}

ssm::Transition random_transition(const RandomContext::Options& o, RandomStream& random) {
  const ssm::Structure s = structure_of(o);
  ssm::Parameters p = ssm::default_parameters(s);
  p.log_length_scales.array() -= 0.5;
  p.Z = random.normal_matrix(p.Z.rows(), p.Z.cols());
  p.log_q = random.normal_vector(s.states).array() * 0.3 + std::log(0.05);
  p.log_r = random.normal_vector(s.outputs).array() * 0.3 + std::log(0.1);
  p.C = Matrix::Identity(s.outputs, s.states) + 0.2 * random.normal_matrix(s.outputs, s.states);
  p.d = random.normal_vector(s.outputs);
  std::vector<gp::Weights> weights;
  for (std::size_t g = 0; g < s.gp_rows().size(); ++g) {
    const Matrix root = 0.3 * random.normal_matrix(s.features(), s.features());
    weights.push_back({random.normal_vector(s.features()), root * root.transpose()});
  }
  return {s, p, weights};
}

}  // namespace

RandomContext::RandomContext(const Options& o)
    : transition([&o] {
        RandomStream random(o.seed, Purpose::kTest);
        return random_transition(o, random);
      }()),
      nodes(gp::make_nodes(gp::NodeRule::kAuto, o.states)),
      box{Vector::Constant(o.controls, -1.5), Vector::Constant(o.controls, 1.2)} {
  RandomStream random(o.seed, Purpose::kTest, 1);
  const Matrix root = 0.3 * random.normal_matrix(o.states, o.states);
  belief = {random.normal_vector(o.states), root * root.transpose() + 0.05 * Matrix::Identity(o.states, o.states)};
  ssm::Sequence sequence{random.normal_matrix(kRows, o.controls), random.normal_matrix(kRows, o.outputs)};
  sequence.outputs(0, 0) = std::numeric_limits<double>::quiet_NaN();
  sequence.outputs(3, 0) = std::numeric_limits<double>::quiet_NaN();
  history = ssm::concatenate({sequence});
  q = ssm::StatePosterior::zero(o.states, kRows);
  q.m = random.normal_matrix(o.states, kRows);
  for (Index t = 0; t < kRows; ++t) {
    if (t > 0) {
      q.A.middleCols(o.states * t, o.states) = 0.3 * random.normal_matrix(o.states, o.states);
    }
    q.S_chol.middleCols(o.states * t, o.states) = 0.3 * Matrix::Identity(o.states, o.states);
  }
}

plan::DecisionContext RandomContext::context() const {
  return {.transition = transition, .nodes = nodes, .belief = belief, .box = box, .history = &history, .q = &q};
}

Vector RandomContext::random_control(RandomStream& random) const {
  Vector c(box.low.size());
  for (Index p = 0; p < c.size(); ++p) {
    c(p) = random.uniform(box.low(p), box.high(p));
  }
  return c;
}

void RandomContext::narrow_belief(double factor) {
  belief.covariance *= factor * factor;
}

void RandomContext::know_the_function() {
  ssm::Parameters p = transition.parameters();
  p.log_variance.setConstant(-40.0);
  std::vector<gp::Weights> weights = transition.weights();
  for (gp::Weights& v : weights) {
    v.Sigma.setZero();
  }
  transition = ssm::Transition(transition.structure(), p, weights);
}

void RandomContext::end_history_at_belief() {
  const Index D = belief.mean.size();
  Matrix P_chol;
  linalg::cholesky(belief.covariance, P_chol, "belief");
  q.m.col(kRows - 1) = belief.mean;
  q.A.rightCols(D).setZero();
  q.S_chol.rightCols(D) = P_chol;
}

Matrix RandomContext::sample_function_values(VectorRef control, Index count, RandomStream& random) const {
  const Index D = belief.mean.size();
  Matrix P_chol;
  linalg::cholesky(belief.covariance, P_chol, "belief");
  Matrix X(count, D + control.size());
  X.leftCols(D) = (random.normal_matrix(count, D) * P_chol.transpose()).rowwise() + belief.mean.transpose();
  X.rightCols(control.size()).rowwise() = control.transpose();
  Matrix z;
  Matrix variance;
  transition.moments(X, z, variance);
  z += variance.cwiseSqrt().cwiseProduct(random.normal_matrix(count, D));
  return z * transition.left_inverse().transpose();
}

}  // namespace gpilot::test
