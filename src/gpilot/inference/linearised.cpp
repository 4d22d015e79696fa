#include "gpilot/inference/linearised.hpp"

#include <Eigen/QR>

#include "gpilot/linalg/least_squares.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::inference {

LinearGaussian linearised(const ssm::Dynamics& dynamics, MatrixRef X) {
  const ssm::Structure& s = dynamics.structure;
  const ssm::Parameters& p = dynamics.parameters;
  const ssm::Transition transition(s, p, dynamics.weights);
  Matrix mean;
  Matrix variance;
  transition.moments(X, mean, variance);  // of L x', [N x D]
  Matrix design(X.rows(), X.cols() + 1);
  design << X, Vector::Ones(X.rows());
  const Matrix slopes = linalg::least_squares(design, mean);  // [I + 1 x D]
  const auto n = static_cast<double>(X.rows());

  LinearGaussian model;
  model.L = s.left();
  model.F = slopes.topRows(s.states).transpose();
  model.W = slopes.bottomRows(s.controls + 1).transpose();
  model.q = p.log_q.array().exp().matrix() +
            Vector(((mean - design * slopes).colwise().squaredNorm() + variance.colwise().sum()).transpose() / n);
  model.C = p.C;
  model.d = p.d;
  model.r = p.log_r.array().exp();
  model.start = ssm::start_prior(s, false);
  model.broad_start = ssm::start_prior(s, true);
  return model;
}

}  // namespace gpilot::inference
