#include "gpilot/gp/inducing.hpp"

#include <algorithm>

#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::gp {

void InducingBasis::update(kernels::Kind kernel_kind, double log_variance, VectorRef log_length_scales,
                           VectorRef log_linear_sd, MatrixRef Z) {
  kind = kernel_kind;
  variance = std::exp(log_variance);
  inverse_length_scales = (-log_length_scales.array()).exp();
  linear_sd = log_linear_sd.array().exp();
  const Index M = Z.rows();
  Zs.resize(M, Z.cols());
  K_uu.resize(M, M);
  slope_uu.resize(M, M);
  Zs = Z;
  for (Index i = 0; i < Z.cols(); ++i) {
    Zs.col(i) *= inverse_length_scales(i);
  }
  kernels::squared_distances(Zs, Zs, K_uu);
  kernels::MatrixOut slope(slope_uu);
  kernels::apply_profile(kind, variance, K_uu, &slope);
  K_uu.diagonal().array() += kInducingNugget * variance;
  extra_jitter = linalg::cholesky(K_uu, L, "kernel matrix of the inducing points").jitter;
  linalg::invert_lower(L, Linv);
}

void InducingBasis::evaluate(const MatrixIn& X, VectorRef row_scale, kernels::MatrixOut Xs, kernels::MatrixOut K,
                             kernels::MatrixOut* slope, kernels::MatrixOut A) const {
  const Index M = inducing();
  const Index N = X.rows();
  const bool scaled = row_scale.size() > 0;
  for (Index i = 0; i < inputs(); ++i) {
    Xs.col(i) = X.col(i) * inverse_length_scales(i);
  }
  if (M > 0) {
    kernels::squared_distances(Xs, Zs, K);
    kernels::apply_profile(kind, variance, K, slope);
    if (scaled) {
      for (Index m = 0; m < M; ++m) {
        K.col(m).array() *= row_scale.head(N).array();
      }
    }
    A.leftCols(M).noalias() = K * Linv.transpose();
  }
  if (linear_sd.size() > 0) {
    for (Index i = 0; i < inputs(); ++i) {
      A.col(M + i) = X.col(i) * linear_sd(i);
    }
    A.col(M + inputs()).setConstant(linear_sd(inputs()));
    if (scaled) {
      for (Index i = M; i < A.cols(); ++i) {
        A.col(i).array() *= row_scale.head(N).array();
      }
    }
  }
}

void InducingBasis::predict(const Weights& q, MatrixRef X, Vector& mean, Vector& variance_out) const {
  Matrix Xs(X.rows(), inputs());
  Matrix K(X.rows(), inducing());
  Matrix A(X.rows(), features());
  evaluate(X, Vector(), Xs, K, nullptr, A);
  mean.noalias() = A * q.mu;
  const Matrix A_Sigma = A * q.Sigma;
  variance_out = A_Sigma.cwiseProduct(A).rowwise().sum();
  if (inducing() > 0) {
    variance_out.array() += variance - A.leftCols(inducing()).rowwise().squaredNorm().array();
  }
  variance_out = variance_out.cwiseMax(0.0);
}

void InducingBasis::predict(const Weights& q, MatrixRef X, Vector& mean, Vector& variance_out, Matrix& mean_slope,
                            Matrix& variance_slope) const {
  const Index M = inducing();
  const Index first = inputs() - mean_slope.cols();
  Matrix Xs(X.rows(), inputs());
  Matrix K(X.rows(), M);
  Matrix slope(X.rows(), M);
  Matrix A(X.rows(), features());
  kernels::MatrixOut slope_out(slope);
  evaluate(X, Vector(), Xs, K, &slope_out, A);
  mean.noalias() = A * q.mu;
  // var = k + a^T Sigma a - a_u^T a_u; half its derivative in a is (Sigma - I_u) a.
  Matrix half = A * q.Sigma;
  half.leftCols(M) -= A.leftCols(M);
  variance_out = (half.cwiseProduct(A).rowwise().sum().array() + (M > 0 ? variance : 0.0)).cwiseMax(0.0);
  // Back through a = L^-1 k(Z, x): what multiplies dk(z_m, x).
  const Vector mean_k = Linv.transpose() * q.mu.head(M);
  const Matrix half_k = half.leftCols(M) * Linv;
  for (Index i = 0; i < mean_slope.cols(); ++i) {
    const Index column = first + i;
    // dk/dx_i = dk/dr^2 . 2 (x_i - z_i) / l_i^2
    const Matrix dk =
        (2.0 * inverse_length_scales(column)) *
        slope.cwiseProduct(Xs.col(column).replicate(1, M) - Zs.col(column).transpose().replicate(X.rows(), 1));
    mean_slope.col(i).noalias() = dk * mean_k;
    variance_slope.col(i) = 2.0 * dk.cwiseProduct(half_k).rowwise().sum();
    if (linear_sd.size() > 0) {
      mean_slope.col(i).array() += linear_sd(column) * q.mu(M + column);
      variance_slope.col(i) += 2.0 * linear_sd(column) * half.col(M + column);
    }
  }
}

double collapse(const Statistics& s, double q, Matrix& B, Matrix& L_B, Weights& weights) {
  const Index features = s.h.size();
  B = s.G / q;
  B.diagonal().array() += 1.0;
  linalg::cholesky(B, L_B, "posterior precision of the inducing points");
  const auto lower = L_B.triangularView<Eigen::Lower>();
  weights.mu = s.h / q;
  lower.solveInPlace(weights.mu);
  L_B.transpose().triangularView<Eigen::Upper>().solveInPlace(weights.mu);
  weights.Sigma.setIdentity(features, features);
  lower.solveInPlace(weights.Sigma);
  B.noalias() = weights.Sigma.transpose() * weights.Sigma;
  weights.Sigma.swap(B);
  return linalg::log_determinant(L_B);
}

double kl_to_standard_normal(const Weights& q) {
  Matrix L;
  linalg::cholesky(q.Sigma, L, "covariance of the inducing points");
  return 0.5 * (q.Sigma.trace() + q.mu.squaredNorm() - static_cast<double>(q.mu.size()) - linalg::log_determinant(L));
}

}  // namespace gpilot::gp
