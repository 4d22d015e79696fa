#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/angles.hpp"
#include "gpilot/kernels/form.hpp"
#include "gpilot/kernels/stationary.hpp"

/// Sparse Gaussian process regression in whitened features.
///
/// f(x) = a(x)^T v + residual, v ~ N(0, I), with the features
///   a(x) = [ L^-1 k(Z, x) ;  s_i x_i ; s_0 ],   L L^T = k(Z, Z) + jitter,
/// the inducing points of the stationary kernel followed, when a linear kernel is added, by the weights of that kernel
/// themselves: they are finitely many, so nothing is lost by carrying them exactly. Only the stationary part leaves a
/// residual variance k(x,x) - |L^-1 k(Z,x)|^2.
/// Inputs that are angles stand in their embedding (kernels/angles.hpp), in both parts. What is known of the function
/// (kernels/form.hpp) holds in both, too: weights of the linear part that it rules out have the standard deviation 0.
/// M inducing points, I inputs, I_e columns of their embedding (I without angles), M_a = M + I_e + 1 (or M) features.
namespace gpilot::gp {

/// The nugget on k(Z, Z), relative to the kernel's variance: part of the model, so that the bound stays smooth.
inline constexpr double kInducingNugget = 1e-8;

using kernels::MatrixIn;

/// q(v) = N(mu, Sigma) over the whitened weights.
struct Weights {
  Vector mu;     ///< [M_a]
  Matrix Sigma;  ///< [M_a x M_a]
};

/// The factorised features at given hyperparameters.
struct InducingBasis {
  kernels::Kind kind = kernels::Kind::kSquaredExponential;
  double variance = 1.0;
  kernels::Angles angles;
  Vector inverse_length_scales;  ///< [I_e], the angles' twice
  Vector linear_sd;              ///< [I_e + 1] or empty
  Matrix Zs;                     ///< [M x I_e], embedded and divided by the length scales
  Matrix K_uu, slope_uu;         ///< [M x M], and dk/dr^2
  Matrix L, Linv;                ///< [M x M]
  double extra_jitter = 0.0;     ///< what the factorisation needed beyond the nugget
  kernels::Form form = {};       ///< then slope_uu is not set

  Index inducing() const { return Zs.rows(); }
  Index columns() const { return inverse_length_scales.size(); }  ///< I_e
  Index inputs() const { return columns() - static_cast<Index>(angles.size()); }
  Index features() const { return Zs.rows() + linear_sd.size(); }
  kernels::FormedKernel formed() const { return {kind, variance, form, inputs()}; }
  /// k(x, x) of the stationary part, at scaled inputs [N].
  Vector prior_variance(const MatrixIn& Xs) const;

  /// Allocates only when a size changes. `log_linear_sd` may be empty.
  void update(kernels::Kind kernel_kind, double log_variance, VectorRef log_length_scales, VectorRef log_linear_sd,
              MatrixRef Z, const kernels::Angles& angle_inputs = {}, const kernels::Form& known = {});

  /// Features of the rows of X [N x I_e], embedded, each row times `row_scale` (a vector of at least N, or empty for
  /// 1). Xs [N x I_e] receives the scaled inputs, K [N x M] is scratch; `slope`, when given, receives dk(x, z)/dr^2,
  /// without the row scale. A has M_a columns. Allocates nothing.
  void evaluate_embedded(const MatrixIn& X, VectorRef row_scale, kernels::MatrixOut Xs, kernels::MatrixOut K,
                         kernels::MatrixOut* slope, kernels::MatrixOut A) const;
  /// The same of the rows of X [N x I]. Allocates nothing where there are no angles.
  void evaluate(const MatrixIn& X, VectorRef row_scale, kernels::MatrixOut Xs, kernels::MatrixOut K,
                kernels::MatrixOut* slope, kernels::MatrixOut A) const;

  /// f's mean weights dF/dk and, with their row scale, dF/d(x): adds to slope [N x I_e] what K_bar [N x M] and
  /// k_bar [N], of k(x, x), mean for the embedded inputs.
  void pull_back(const MatrixIn& Xs, const Matrix& K_bar, const Vector& k_bar, Matrix& slope) const;

  /// Mean and variance of f at the rows of X under q(v). Allocates; for prediction.
  void predict(const Weights& q, MatrixRef X, Vector& mean, Vector& variance_out) const;

  /// The same with the derivatives in the last columns of X, as many as mean_slope [N x columns] has (and
  /// variance_slope, of the same shape).
  void predict(const Weights& q, MatrixRef X, Vector& mean, Vector& variance_out, Matrix& mean_slope,
               Matrix& variance_slope) const;
};

/// Accumulated statistics of one regression: G = sum w a a^T, h = sum w a r.
struct Statistics {
  Matrix G;
  Vector h;
};

/// The optimal q(v) for noise variance q: B = I + G/q, Sigma = B^-1, mu = B^-1 h / q.
/// `L_B` and `B` are scratch. Returns log det B.
double collapse(const Statistics& s, double q, Matrix& B, Matrix& L_B, Weights& weights);

/// KL[ N(mu, Sigma) || N(0, I) ].
double kl_to_standard_normal(const Weights& q);

}  // namespace gpilot::gp
