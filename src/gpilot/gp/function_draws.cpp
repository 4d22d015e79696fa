#include "gpilot/gp/function_draws.hpp"

#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::gp {

namespace {

/// The spectral density of a Matern kernel of smoothness nu is a multivariate Student t with 2 nu degrees of freedom;
/// 0 stands for the squared exponential's normal.
int degrees_of_freedom(kernels::Kind kind) {
  switch (kind) {
    case kernels::Kind::kSquaredExponential:
      return 0;
    case kernels::Kind::kMatern12:
      return 1;
    case kernels::Kind::kMatern32:
      return 3;
    case kernels::Kind::kMatern52:
      return 5;
  }
  return 0;
}

/// One frequency of the kernel with unit length scales.
Vector draw_frequency(RandomStream& random, int freedom, Index inputs) {
  Vector omega = random.normal_vector(inputs);
  if (freedom > 0) {
    const double chi_squared = random.normal_vector(freedom).squaredNorm();
    omega *= std::sqrt(freedom / chi_squared);
  }
  return omega;
}

}  // namespace

FunctionDraws::FunctionDraws(const InducingBasis& basis, const Weights& q, Index draws, std::uint64_t seed,
                             std::uint32_t function, Index frequencies)
    : basis_(basis),
      terms_(1 + static_cast<Index>(basis.form.affine.size())),
      weights_(basis.features(), draws),
      Xs_(draws, basis.columns()),
      K_(draws, basis.inducing()),
      A_(draws, basis.features()),
      prior_(draws),
      angle_(frequencies) {
  const Index I = basis.columns();
  const Index M = basis.inducing();
  const Index F = M > 0 ? frequencies : 0;  // without inducing points there is no stationary part
  const int freedom = degrees_of_freedom(basis.kind);
  Matrix Sigma_chol;
  linalg::cholesky(q.Sigma, Sigma_chol, "covariance of the inducing points");
  omega_.resize(F, I * draws);
  cos_.resize(F, terms_ * draws);
  sin_.resize(F, terms_ * draws);
  Matrix u(M, draws);  // e, then f_0(Z) + e
  const double nugget_sd = std::sqrt(kInducingNugget * basis.variance + basis.extra_jitter);
  for (Index n = 0; n < draws; ++n) {
    RandomStream random(seed, Purpose::kFunctionDraw, static_cast<std::uint32_t>(n), function);
    weights_.col(n) = q.mu + Sigma_chol * random.normal_vector(q.mu.size());
    u.col(n) = nugget_sd * random.normal_vector(M);
    for (Index j = 0; j < F; ++j) {
      omega_.block(j, I * n, 1, I) = draw_frequency(random, freedom, I).transpose();
    }
    const double amplitude = std::sqrt(basis.variance / static_cast<double>(frequencies));
    for (Index k = n * terms_; k < (n + 1) * terms_; ++k) {
      cos_.col(k) = (amplitude * random.normal_vector(F)).cast<float>();
      sin_.col(k) = (amplitude * random.normal_vector(F)).cast<float>();
    }
    for (const Index p : basis.form.affine) {
      omega_.col(I * n + p).setZero();
    }
  }
  for (Index m = 0; m < M; ++m) {
    evaluate_prior(basis.Zs.row(m).replicate(draws, 1), prior_);
    u.row(m) += prior_.transpose();
  }
  weights_.topRows(M) -= basis.L.triangularView<Eigen::Lower>().solve(u);
}

void FunctionDraws::evaluate(MatrixRef X, Eigen::Ref<Vector> values) {
  basis_.evaluate(X, Vector(), Xs_, K_, nullptr, A_);
  values = A_.cwiseProduct(weights_.transpose()).rowwise().sum();
  if (basis_.inducing() > 0) {
    evaluate_prior(Xs_, prior_);
    values += prior_;
  }
}

void FunctionDraws::evaluate_prior(MatrixRef Xs, Eigen::Ref<Vector> values) {
  evaluate_base(Xs, values);
  if (basis_.form.odd) {
    Vector reflected(values.size());
    evaluate_base(basis_.formed().reflected(Xs), reflected);
    values = (values - reflected) * std::numbers::sqrt2 / 2.0;
  }
}

void FunctionDraws::evaluate_base(MatrixRef Xs, Eigen::Ref<Vector> values) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  const Index I = basis_.columns();
  for (Index n = 0; n < values.size(); ++n) {
    angle_.noalias() = omega_.middleCols(I * n, I) * Xs.row(n).transpose();
    // Sines in single precision are vectorised and err by 1e-7, far below the nugget's standard deviation (1e-4), once
    // the angle is reduced: a Matern-1/2 has frequencies beyond any bound.
    reduced_ = (angle_.array() - kTurn * (angle_.array() / kTurn).round()).cast<float>();
    const Index k = n * terms_;
    if (terms_ == 1) {
      values(n) = (cos_.col(k).array() * reduced_.cos() + sin_.col(k).array() * reduced_.sin()).sum();
      continue;
    }
    cosines_ = reduced_.cos();
    sines_ = reduced_.sin();
    const auto term = [&](Index j) -> double { return cos_.col(k + j).dot(cosines_) + sin_.col(k + j).dot(sines_); };
    values(n) = term(0);
    for (Index j = 1; j < terms_; ++j) {
      values(n) += Xs(n, basis_.form.affine[static_cast<std::size_t>(j - 1)]) * term(j);
    }
  }
}

}  // namespace gpilot::gp
