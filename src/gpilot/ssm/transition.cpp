#include "gpilot/ssm/transition.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/linalg/solve.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/physics_mean.hpp"

namespace gpilot::ssm {

Transition::Transition(Structure structure, Parameters parameters, std::vector<gp::Weights> weights)
    : structure_(std::move(structure)),
      parameters_(std::move(parameters)),
      weights_(std::move(weights)),
      rows_(structure_.gp_rows()),
      L_inverse_(linalg::inverse(structure_.left())),
      slope_(Matrix::Zero(structure_.states, structure_.inputs() + 1)) {
  process_variance_ = parameters_.log_q.array().exp();
  process_variance_.tail(structure_.states - structure_.stochastic()).setZero();
  slope_.leftCols(structure_.states) = structure_.right();
  bases_.resize(rows_.size());
  const std::vector<Index> mean_rows = structure_.mean_rows();
  for (std::size_t g = 0; g < mean_rows.size(); ++g) {
    slope_.row(mean_rows[g]) = parameters_.mean_weights.col(static_cast<Index>(g)).transpose();
  }
  for (std::size_t g = 0; g < rows_.size(); ++g) {
    const auto k = static_cast<Index>(g);
    bases_[g].update(structure_.kernel, parameters_.log_variance(k), parameters_.log_length_scales.col(k),
                     parameters_.log_linear_sd.col(k), parameters_.Z, structure_.angles, structure_.form(k));
  }
}

Matrix Transition::mean_part(MatrixRef X) const {
  Matrix mean = X * slope_.leftCols(structure_.inputs()).transpose();
  mean.rowwise() += slope_.col(structure_.inputs()).transpose();
  if (structure_.physics) {
    const Matrix m = structure_.physics->evaluate(X, parameters_.physics);
    for (std::size_t k = 0; k < structure_.physics->rows().size(); ++k) {
      mean.col(structure_.physics->rows()[k]) += m.col(static_cast<Index>(k));
    }
  }
  return mean;
}

void Transition::add_physics_slopes(MatrixRef X, std::vector<Matrix>& slopes) const {
  if (!structure_.physics) {
    return;
  }
  std::vector<Matrix> of_inputs;
  std::vector<Matrix> of_parameters;
  structure_.physics->evaluate(X, parameters_.physics, of_inputs, of_parameters);
  for (std::size_t k = 0; k < of_inputs.size(); ++k) {
    const auto found = std::find(rows_.begin(), rows_.end(), structure_.physics->rows()[k]);
    Matrix& slope = slopes[static_cast<std::size_t>(found - rows_.begin())];
    slope += of_inputs[k].rightCols(slope.cols());
  }
}

void Transition::moments(MatrixRef X, Matrix& mean, Matrix& variance) const {
  mean = mean_part(X);
  variance.setZero(X.rows(), structure_.states);
  Vector f;
  Vector f_variance;
  for (std::size_t g = 0; g < rows_.size(); ++g) {
    bases_[g].predict(weights_[g], X, f, f_variance);
    mean.col(rows_[g]) += f;
    variance.col(rows_[g]) = f_variance;
  }
}

void Transition::moments(MatrixRef X, Matrix& mean, Matrix& variance, std::vector<Matrix>& mean_slope,
                         std::vector<Matrix>& variance_slope) const {
  const Index P = structure_.controls;
  mean = mean_part(X);
  variance.setZero(X.rows(), structure_.states);
  mean_slope.assign(static_cast<std::size_t>(P), Matrix::Zero(X.rows(), structure_.states));
  variance_slope = mean_slope;
  Vector f;
  Vector f_variance;
  std::vector<Matrix> slopes(rows_.size(), Matrix::Zero(X.rows(), P));  // of the physics, then of all
  add_physics_slopes(X, slopes);
  Matrix f_slope(X.rows(), P);
  Matrix f_variance_slope(X.rows(), P);
  for (std::size_t g = 0; g < rows_.size(); ++g) {
    bases_[g].predict(weights_[g], X, f, f_variance, f_slope, f_variance_slope);
    mean.col(rows_[g]) += f;
    variance.col(rows_[g]) = f_variance;
    for (Index p = 0; p < P; ++p) {
      const auto k = static_cast<std::size_t>(p);
      mean_slope[k].col(rows_[g]) = slopes[g].col(p) + f_slope.col(p);
      variance_slope[k].col(rows_[g]) = f_variance_slope.col(p);
    }
  }
  for (Index p = 0; p < P; ++p) {
    mean_slope[static_cast<std::size_t>(p)].rowwise() += slope_.col(structure_.states + p).transpose();
  }
}

Matrix Transition::process_covariance() const {
  return L_inverse_ * process_variance_.asDiagonal() * L_inverse_.transpose();
}

Filter::Filter(const Transition& transition, gp::Nodes nodes)
    : transition_(transition),
      nodes_(std::move(nodes)),
      turns_(output_turns(transition.structure().angles, transition.parameters().C)) {}

StateBelief Filter::initial(bool broad) const {
  const StartPrior x0 = start_prior(transition_.structure(), broad);
  return {x0.mean, Matrix(x0.sd.array().square().matrix().asDiagonal())};
}

StateBelief Filter::predict(const StateBelief& belief, VectorRef control) const {
  const Structure& s = transition_.structure();
  Matrix P_chol;
  linalg::cholesky(belief.covariance, P_chol, "covariance of a filtered state");
  Matrix X(nodes_.count(), s.inputs());
  X.leftCols(s.states) = nodes_.xi * P_chol.transpose();
  X.leftCols(s.states).rowwise() += belief.mean.transpose();
  X.rightCols(s.controls).rowwise() = control.transpose();
  Matrix mean;
  Matrix variance;
  transition_.moments(X, mean, variance);
  const Vector z = mean.transpose() * nodes_.w;
  mean.rowwise() -= z.transpose();
  Matrix Z = mean.transpose() * nodes_.w.asDiagonal() * mean;
  Z.diagonal() += variance.transpose() * nodes_.w + transition_.process_variance();
  const Matrix& Li = transition_.left_inverse();
  return {Li * z, Li * Z * Li.transpose()};
}

double Filter::update(StateBelief& belief, VectorRef y) const {
  const Parameters& p = transition_.parameters();
  double log_density = 0.0;
  for (Index e = 0; e < y.size(); ++e) {  // R is diagonal: one output at a time
    if (std::isnan(y(e))) {
      continue;
    }
    const Vector c = p.C.row(e).transpose();
    const Vector Pc = belief.covariance * c;
    const double variance = c.dot(Pc) + std::exp(p.log_r(e));
    const double expected = c.dot(belief.mean);
    const double residual = nearest_turn(y(e), expected + p.d(e), turns_(e)) - expected - p.d(e);
    log_density -= 0.5 * (std::log(2.0 * std::numbers::pi * variance) + residual * residual / variance);
    // Joseph form: stays positive definite where R is tiny.
    const Vector gain = Pc / variance;
    const Matrix keep = Matrix::Identity(Pc.size(), Pc.size()) - gain * c.transpose();
    belief.mean += gain * residual;
    belief.covariance = keep * belief.covariance * keep.transpose() + std::exp(p.log_r(e)) * gain * gain.transpose();
  }
  return log_density;
}

void Filter::outputs(const StateBelief& belief, Vector& mean, Vector& variance) const {
  const Parameters& p = transition_.parameters();
  mean = p.C * belief.mean + p.d;
  variance = (p.C * belief.covariance * p.C.transpose()).diagonal() + p.log_r.array().exp().matrix();
}

}  // namespace gpilot::ssm
