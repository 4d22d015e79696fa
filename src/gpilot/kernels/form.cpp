#include "gpilot/kernels/form.hpp"

namespace gpilot::kernels {

namespace {

/// The inputs that the stationary factor sees.
Matrix without(const std::vector<Index>& columns, const MatrixIn& X) {
  Matrix rest = X;
  for (const Index i : columns) {
    rest.col(i).setZero();
  }
  return rest;
}

/// 1 + sum_p c_p e_p.
Matrix affine_factor(const std::vector<Index>& columns, const MatrixIn& X, const MatrixIn& Z) {
  Matrix factor = Matrix::Ones(X.rows(), Z.rows());
  for (const Index p : columns) {
    factor.noalias() += X.col(p) * Z.col(p).transpose();
  }
  return factor;
}

Matrix base(const FormedKernel& k, const MatrixIn& X, const MatrixIn& Z) {
  Matrix K(X.rows(), Z.rows());
  squared_distances(without(k.form.affine, X), without(k.form.affine, Z), K);
  apply_profile(k.kind, k.variance, K, nullptr);
  if (!k.form.affine.empty()) {
    K.array() *= affine_factor(k.form.affine, X, Z).array();
  }
  return K;
}

/// Adds to X_bar and Z_bar; either may be null.
void base_pull_back(const FormedKernel& k, const MatrixIn& X, const MatrixIn& Z, const Matrix& K_bar, Matrix& X_bar,
                    MatrixOut* Z_bar) {
  const std::vector<Index>& affine = k.form.affine;
  const Matrix Xr = without(affine, X);
  const Matrix Zr = without(affine, Z);
  Matrix K(X.rows(), Z.rows());
  Matrix slope(X.rows(), Z.rows());
  MatrixOut slope_out(slope);
  squared_distances(Xr, Zr, K);
  apply_profile(k.kind, k.variance, K, &slope_out);
  Matrix E = K_bar.cwiseProduct(slope);
  if (!affine.empty()) {
    E.array() *= affine_factor(affine, X, Z).array();
    K.array() *= K_bar.array();
    for (const Index p : affine) {
      X_bar.col(p).noalias() += K * Z.col(p);
      if (Z_bar != nullptr) {
        Z_bar->col(p).noalias() += K.transpose() * X.col(p);
      }
    }
  }
  // dk/dx_i = 2 slope (x_i - z_i); the affine columns of Xr and Zr are 0.
  const Vector rows = E.rowwise().sum();
  X_bar.noalias() += 2.0 * (rows.asDiagonal() * Xr);
  X_bar.noalias() -= 2.0 * E * Zr;
  if (Z_bar != nullptr) {
    const Vector columns = E.colwise().sum().transpose();
    *Z_bar += 2.0 * (columns.asDiagonal() * Zr - E.transpose() * Xr);
  }
}

}  // namespace

Matrix FormedKernel::reflected(const MatrixIn& Xs) const {
  Matrix X = Xs;
  X.leftCols(inputs) *= -1.0;
  return X;
}

void FormedKernel::evaluate(const MatrixIn& Xs, const MatrixIn& Zs, MatrixOut K) const {
  K = base(*this, Xs, Zs);
  if (form.odd) {
    K -= base(*this, reflected(Xs), Zs);
  }
}

Vector FormedKernel::diagonal(const MatrixIn& Xs) const {
  Vector squares = Vector::Zero(Xs.rows());
  for (const Index p : form.affine) {
    squares += Xs.col(p).cwiseAbs2();
  }
  Vector k = variance * (1.0 + squares.array());
  if (form.odd) {
    Matrix K = 4.0 * without(form.affine, Xs).leftCols(inputs).rowwise().squaredNorm();
    apply_profile(kind, variance, K, nullptr);
    k.array() -= K.col(0).array() * (1.0 - squares.array());
  }
  return k;
}

void FormedKernel::pull_back(const MatrixIn& Xs, const MatrixIn& Zs, const MatrixIn& K_bar, MatrixOut Xs_bar,
                             MatrixOut* Zs_bar) const {
  Matrix X_bar = Matrix::Zero(Xs.rows(), Xs.cols());
  base_pull_back(*this, Xs, Zs, K_bar, X_bar, Zs_bar);
  Xs_bar += X_bar;
  if (form.odd) {
    X_bar.setZero();
    base_pull_back(*this, reflected(Xs), Zs, -K_bar, X_bar, Zs_bar);
    Xs_bar += reflected(X_bar);
  }
}

void FormedKernel::pull_back_diagonal(const MatrixIn& Xs, VectorRef k_bar, MatrixOut Xs_bar) const {
  Vector of_squares = variance * k_bar;
  if (form.odd) {
    const Matrix X = without(form.affine, Xs);
    Matrix K = 4.0 * X.leftCols(inputs).rowwise().squaredNorm();
    Matrix slope(Xs.rows(), 1);
    MatrixOut slope_out(slope);
    apply_profile(kind, variance, K, &slope_out);
    Vector factor = Vector::Ones(Xs.rows());
    for (const Index p : form.affine) {
      factor -= Xs.col(p).cwiseAbs2();
    }
    const Vector of_norm = -8.0 * k_bar.cwiseProduct(slope.col(0)).cwiseProduct(factor);
    Xs_bar.leftCols(inputs) += of_norm.asDiagonal() * X.leftCols(inputs);
    of_squares += k_bar.cwiseProduct(K.col(0));
  }
  for (const Index p : form.affine) {
    Xs_bar.col(p) += 2.0 * of_squares.cwiseProduct(Xs.col(p));
  }
}

}  // namespace gpilot::kernels
