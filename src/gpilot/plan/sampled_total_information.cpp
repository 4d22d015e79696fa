#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/inducing.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/plan/belief_nodes.hpp"
#include "gpilot/plan/total_information.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::plan {

namespace {

constexpr Index kSamples = 50;  ///< as the node rule of random samples has by default; not measured
const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

double log_det(const Matrix& K, const char* what) {
  Matrix L;
  linalg::cholesky(K, L, what);
  return linalg::log_determinant(L);
}

/// Mean over the rows of log N(residual | 0, K).
double mean_log_normal(const Matrix& residuals, const Matrix& K) {
  Matrix L;
  linalg::cholesky(K, L, "covariance of an output given the function");
  const Matrix u = L.triangularView<Eigen::Lower>().solve(residuals.transpose());
  return -0.5 * (u.squaredNorm() / static_cast<double>(residuals.rows()) + linalg::log_determinant(L) +
                 static_cast<double>(residuals.cols()) * kLogTwoPi);
}

/// KL[ N(mean, S) || p(x_0) ] of the first state.
double initial_divergence(const ssm::StartPrior& x0, VectorRef mean, const Matrix& S_chol) {
  const Vector precision = x0.sd.cwiseAbs2().cwiseInverse();
  const double trace = S_chol.rowwise().squaredNorm().dot(precision);
  const double squares = (mean - x0.mean).cwiseAbs2().dot(precision);
  return 0.5 * (trace + squares - static_cast<double>(mean.size()) + 2.0 * x0.sd.array().log().sum() -
                linalg::log_determinant(S_chol));
}

}  // namespace

/// log p(y|f) less the bound's share of one step, averaged over the samples in the rows of `mean` and `f` [samples x
/// D]; q(x'|.) is N(mean, S):
///   log N(y | C f + d, R + C Q C^T) - E log N(y | C x' + d, R) + KL[ N(mean, S) || N(f, Q) ].
double SampledTotalInformation::step_information(const Matrix& mean, const Matrix& S, const Matrix& f,
                                                 VectorRef y) const {
  const ssm::Parameters& p = context_.transition.parameters();
  const auto n = static_cast<double>(f.rows());
  std::vector<Index> seen;
  for (Index e = 0; e < y.size(); ++e) {
    if (!std::isnan(y(e))) {
      seen.push_back(e);
    }
  }
  double value = 0.0;
  if (!seen.empty()) {
    const Matrix C = p.C(seen, Eigen::all);
    const Vector target = y(seen) - p.d(seen);
    const Vector r = p.log_r(seen).array().exp();
    const Matrix from_function = (-f * C.transpose()).rowwise() + target.transpose();
    const Matrix from_state = (-mean * C.transpose()).rowwise() + target.transpose();
    value += mean_log_normal(from_function, Matrix(C * Q_ * C.transpose()) + Matrix(r.asDiagonal()));
    const Vector squares = from_state.cwiseAbs2().colwise().sum().transpose() / n + (C * S * C.transpose()).diagonal();
    value += 0.5 * (squares.cwiseQuotient(r).sum() + r.array().log().sum() + static_cast<double>(r.size()) * kLogTwoPi);
  }
  const Matrix from_f = mean - f;
  const double kl = 0.5 * (Q_inverse_.cwiseProduct(S).sum() + (from_f * Q_inverse_).cwiseProduct(from_f).sum() / n -
                           static_cast<double>(f.cols()) + Q_log_det_ - log_det(S, "covariance of q(x'|x)"));
  return value + kl;
}

double SampledTotalInformation::row_information(Index t, RandomStream& random) {
  const ssm::Transition& transition = context_.transition;
  const ssm::StatePosterior& q = *context_.q;
  const Index D = q.states();
  const Matrix A = q.A.middleCols(D * t, D);
  const Matrix S_chol = q.S_chol.middleCols(D * t, D);
  const Matrix S = S_chol * S_chol.transpose();
  Matrix X(x_.rows(), transition.structure().inputs());
  X.leftCols(D) = x_;
  set_control(X, context_.history->controls.col(t - 1));
  Matrix z;
  Matrix variance;
  transition.moments(X, z, variance);
  z += variance.cwiseSqrt().cwiseProduct(random.normal_matrix(z.rows(), z.cols()));
  const Matrix f = z * transition.left_inverse().transpose();
  const Matrix mean = ((x_.rowwise() - q.m.col(t - 1).transpose()) * A.transpose()).rowwise() + q.m.col(t).transpose();
  x_ = mean + random.normal_matrix(x_.rows(), D) * S_chol.transpose();
  return step_information(mean, S, f, context_.history->outputs.col(t));
}

SampledTotalInformation::SampledTotalInformation(const DecisionContext& context, Index samples, Anchor anchor)
    : context_(context), anchor_(anchor), Q_(independent_process_variances(context.transition).asDiagonal()) {
  if (context.history == nullptr || context.q == nullptr || context.q->rows() > context.history->rows()) {
    throw InputError(
        "totmi-sampled draws whole trajectories: it needs the data that the model was trained on, not the model alone");
  }
  const ssm::Transition& transition = context.transition;
  const ssm::Parameters& p = transition.parameters();
  Q_inverse_ = Q_.diagonal().cwiseInverse().asDiagonal();
  Q_log_det_ = Q_.diagonal().array().log().sum();
  // S by the matrix inversion lemma: no inverse of a nearly singular precision.
  Matrix noise_chol;
  linalg::cholesky(output_noise(p, Q_), noise_chol, "covariance of an output given the function");
  const Matrix half = noise_chol.triangularView<Eigen::Lower>().solve(p.C * Q_);
  S_ = Q_ - half.transpose() * half;
  A_ = S_ * Q_inverse_;

  const ssm::StatePosterior& q = *context.q;
  const Index D = q.states();
  const Index first = context.history->start[context.history->start.size() - 2];
  RandomStream random(context.seed, Purpose::kStrategy, context.trial, context.step);
  const Matrix S0_chol = q.S_chol.middleCols(D * first, D);
  x_ = (random.normal_matrix(samples, D) * S0_chol.transpose()).rowwise() + q.m.col(first).transpose();
  const bool broad = context.history->broad[static_cast<std::size_t>(first)];
  history_ = initial_divergence(ssm::start_prior(transition.structure(), broad), q.m.col(first), S0_chol);
  for (const gp::Weights& v : transition.weights()) {
    history_ += gp::kl_to_standard_normal(v);
  }
  for (Index t = first + 1; t < q.rows(); ++t) {
    history_ += row_information(t, random);
  }
  if (q.rows() < context.history->rows()) {  // rows since the last training: the filter knows the current state
    Matrix P_chol;
    linalg::cholesky(context.belief.covariance, P_chol, "covariance of the current state");
    x_ = (random.normal_matrix(samples, D) * P_chol.transpose()).rowwise() + context.belief.mean.transpose();
  }
  epsilon_ = random.normal_matrix(samples, D);
}

double SampledTotalInformation::value(VectorRef control, Vector* /*gradient*/) const {
  const ssm::Transition& transition = context_.transition;
  const ssm::Parameters& p = transition.parameters();
  Matrix X(x_.rows(), transition.structure().inputs());
  X.leftCols(x_.cols()) = x_;
  set_control(X, control);
  Matrix z;
  Matrix variance;
  transition.moments(X, z, variance);
  const Matrix& L_inverse = transition.left_inverse();
  const Vector predicted = L_inverse * z.colwise().mean().transpose();
  const Vector y = p.C * predicted + p.d;  // the paper's y^: what the model predicts
  z += variance.cwiseSqrt().cwiseProduct(epsilon_);
  const Matrix f = z * L_inverse.transpose();
  const Vector b = S_ * p.C.transpose() * (-p.log_r.array()).exp().matrix().cwiseProduct(y - p.d);
  const Matrix mean = ((anchor_ == Anchor::kPreviousState ? x_ : f) * A_.transpose()).rowwise() + b.transpose();
  return history_ + step_information(mean, S_, f, y);
}

std::unique_ptr<Criterion> sampled_total_information(const DecisionContext& context) {
  return std::make_unique<SampledTotalInformation>(context, kSamples);
}

}  // namespace gpilot::plan
