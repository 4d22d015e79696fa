#include "gpilot/gp/inducing.hpp"

#include <algorithm>

#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::gp {

void InducingBasis::update(kernels::Kind kernel_kind, double log_variance, VectorRef log_length_scales,
                           VectorRef log_linear_sd, MatrixRef Z, const kernels::Angles& angle_inputs,
                           const kernels::Form& known) {
  kind = kernel_kind;
  variance = std::exp(log_variance);
  angles = angle_inputs;
  form = known;
  const Index M = Z.rows();
  const Index I = log_length_scales.size();
  const Index I_e = I + static_cast<Index>(angles.size());
  const bool linear = log_linear_sd.size() > 0;
  inverse_length_scales.resize(I_e);
  linear_sd.resize(linear ? I_e + 1 : 0);
  for (Index i = 0; i < I_e; ++i) {
    const Index source = kernels::source_input(angles, I, i);
    inverse_length_scales(i) = -log_length_scales(source);
    if (linear) {
      linear_sd(i) = log_linear_sd(source);
    }
  }
  if (linear) {
    linear_sd(I_e) = log_linear_sd(I);
  }
  inverse_length_scales = inverse_length_scales.array().exp();
  linear_sd = linear_sd.array().exp();
  for (Index i = 0; i < I_e; ++i) {
    const Index source = kernels::source_input(angles, I, i);
    const bool excluded = std::find(form.excluded.begin(), form.excluded.end(), source) != form.excluded.end();
    if (excluded) {
      inverse_length_scales(i) = 0.0;
    }
    if (linear && (excluded || (form.odd && i >= I))) {
      linear_sd(i) = 0.0;
    }
  }
  if (linear && form.odd) {
    linear_sd(I_e) = 0.0;
  }
  Zs.resize(M, I_e);
  K_uu.resize(M, M);
  slope_uu.resize(M, M);
  Zs.leftCols(I) = Z;
  kernels::embed(angles, Zs);
  for (Index i = 0; i < I_e; ++i) {
    Zs.col(i) *= inverse_length_scales(i);
  }
  if (form.stationary()) {
    kernels::squared_distances(Zs, Zs, K_uu);
    kernels::MatrixOut slope(slope_uu);
    kernels::apply_profile(kind, variance, K_uu, &slope);
  } else {
    formed().evaluate(Zs, Zs, K_uu);
  }
  K_uu.diagonal().array() += kInducingNugget * variance;
  extra_jitter = linalg::cholesky(K_uu, L, "kernel matrix of the inducing points").jitter;
  linalg::invert_lower(L, Linv);
}

Vector InducingBasis::prior_variance(const MatrixIn& Xs) const {
  return form.stationary() ? Vector::Constant(Xs.rows(), variance) : formed().diagonal(Xs);
}

void InducingBasis::evaluate(const MatrixIn& X, VectorRef row_scale, kernels::MatrixOut Xs, kernels::MatrixOut K,
                             kernels::MatrixOut* slope, kernels::MatrixOut A) const {
  if (angles.empty()) {
    evaluate_embedded(X, row_scale, Xs, K, slope, A);
  } else {
    evaluate_embedded(kernels::embedded(angles, X), row_scale, Xs, K, slope, A);
  }
}

void InducingBasis::evaluate_embedded(const MatrixIn& X, VectorRef row_scale, kernels::MatrixOut Xs,
                                      kernels::MatrixOut K, kernels::MatrixOut* slope, kernels::MatrixOut A) const {
  const Index M = inducing();
  const Index N = X.rows();
  const bool scaled = row_scale.size() > 0;
  for (Index i = 0; i < columns(); ++i) {
    Xs.col(i) = X.col(i) * inverse_length_scales(i);
  }
  if (M > 0) {
    if (form.stationary()) {
      kernels::squared_distances(Xs, Zs, K);
      kernels::apply_profile(kind, variance, K, slope);
    } else {
      formed().evaluate(Xs, Zs, K);
    }
    if (scaled) {
      for (Index m = 0; m < M; ++m) {
        K.col(m).array() *= row_scale.head(N).array();
      }
    }
    A.leftCols(M).noalias() = K * Linv.transpose();
  }
  if (linear_sd.size() > 0) {
    for (Index i = 0; i < columns(); ++i) {
      A.col(M + i) = X.col(i) * linear_sd(i);
    }
    A.col(M + columns()).setConstant(linear_sd(columns()));
    if (scaled) {
      for (Index i = M; i < A.cols(); ++i) {
        A.col(i).array() *= row_scale.head(N).array();
      }
    }
  }
}

void InducingBasis::pull_back(const MatrixIn& Xs, const Matrix& K_bar, const Vector& k_bar, Matrix& slope) const {
  Matrix Xs_bar = Matrix::Zero(Xs.rows(), columns());
  formed().pull_back(Xs, Zs, K_bar, Xs_bar, nullptr);
  formed().pull_back_diagonal(Xs, k_bar, Xs_bar);
  slope.noalias() += Xs_bar * inverse_length_scales.asDiagonal();
}

void InducingBasis::predict(const Weights& q, MatrixRef X, Vector& mean, Vector& variance_out) const {
  Matrix Xs(X.rows(), columns());
  Matrix K(X.rows(), inducing());
  Matrix A(X.rows(), features());
  evaluate(X, Vector(), Xs, K, nullptr, A);
  mean.noalias() = A * q.mu;
  const Matrix A_Sigma = A * q.Sigma;
  variance_out = A_Sigma.cwiseProduct(A).rowwise().sum();
  if (inducing() > 0) {
    variance_out += prior_variance(Xs) - A.leftCols(inducing()).rowwise().squaredNorm();
  }
  variance_out = variance_out.cwiseMax(0.0);
}

void InducingBasis::predict(const Weights& q, MatrixRef X, Vector& mean, Vector& variance_out, Matrix& mean_slope,
                            Matrix& variance_slope) const {
  const Index M = inducing();
  const Index first = inputs() - mean_slope.cols();
  Matrix Xs(X.rows(), columns());
  Matrix K(X.rows(), M);
  Matrix slope(X.rows(), M);
  Matrix A(X.rows(), features());
  kernels::MatrixOut slope_out(slope);
  evaluate(X, Vector(), Xs, K, &slope_out, A);
  mean.noalias() = A * q.mu;
  // var = k + a^T Sigma a - a_u^T a_u; half its derivative in a is (Sigma - I_u) a.
  Matrix half = A * q.Sigma;
  half.leftCols(M) -= A.leftCols(M);
  variance_out = half.cwiseProduct(A).rowwise().sum();
  if (M > 0) {
    variance_out += prior_variance(Xs);
  }
  variance_out = variance_out.cwiseMax(0.0);
  // Back through a = L^-1 k(Z, x): what multiplies dk(z_m, x).
  const Vector mean_k = Linv.transpose() * q.mu.head(M);
  const Matrix half_k = half.leftCols(M) * Linv;
  Matrix formed_mean = Matrix::Zero(form.stationary() ? 0 : X.rows(), columns());
  Matrix formed_variance = formed_mean;
  if (!form.stationary() && M > 0) {
    pull_back(Xs, mean_k.transpose().replicate(X.rows(), 1), Vector::Zero(X.rows()), formed_mean);
    pull_back(Xs, 2.0 * half_k, Vector::Ones(X.rows()), formed_variance);
  }
  const auto slope_in = [&](Index column, Eigen::Ref<Vector> mean_out, Eigen::Ref<Vector> variance_slope_out) {
    if (form.stationary()) {
      // dk/dx_i = dk/dr^2 . 2 (x_i - z_i) / l_i^2
      const Matrix dk =
          (2.0 * inverse_length_scales(column)) *
          slope.cwiseProduct(Xs.col(column).replicate(1, M) - Zs.col(column).transpose().replicate(X.rows(), 1));
      mean_out.noalias() = dk * mean_k;
      variance_slope_out = 2.0 * dk.cwiseProduct(half_k).rowwise().sum();
    } else {
      mean_out = formed_mean.col(column);
      variance_slope_out = formed_variance.col(column);
    }
    if (linear_sd.size() > 0) {
      mean_out.array() += linear_sd(column) * q.mu(M + column);
      variance_slope_out += 2.0 * linear_sd(column) * half.col(M + column);
    }
  };
  for (Index i = 0; i < mean_slope.cols(); ++i) {
    slope_in(first + i, mean_slope.col(i), variance_slope.col(i));
  }
  Vector mean_c(X.rows());
  Vector variance_c(X.rows());
  for (std::size_t a = 0; a < angles.size(); ++a) {
    const Index column = angles[a].input;
    if (column < first) {
      continue;
    }
    const Index cosine = inputs() + static_cast<Index>(a);
    slope_in(cosine, mean_c, variance_c);
    if (inverse_length_scales(column) == 0.0) {
      continue;  // excluded: both slopes are 0
    }
    const Vector s = Xs.col(column) / inverse_length_scales(column);
    const Vector c = Xs.col(cosine) / inverse_length_scales(cosine);
    kernels::pull_back(angles[a].omega, s, c, mean_slope.col(column - first), mean_c);
    kernels::pull_back(angles[a].omega, s, c, variance_slope.col(column - first), variance_c);
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
