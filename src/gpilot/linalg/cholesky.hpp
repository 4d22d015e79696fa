#pragma once

#include <cmath>

#include "gpilot/core/types.hpp"

namespace gpilot::linalg {

/// What a factorisation needed: the value added to the diagonal (0 when none) and how often it was tried.
struct CholeskyReport {
  double jitter = 0.0;
  int attempts = 1;
};

/// Factorises the symmetric matrix K (its lower triangle is read): L L^T = K + jitter I, L lower with a zero upper
/// triangle. Tries without jitter first, then with `relative_jitter` times the mean of the diagonal, growing by 10 up
/// to 1e-2 of it. Allocates only when L has another size than K. Throws NumericalError, naming `what`, the size and the
/// largest jitter tried, when all fail or K is not finite.
CholeskyReport cholesky(MatrixRef K, Matrix& L, const char* what, double relative_jitter = 1e-10);

/// log det(L L^T) of a lower Cholesky factor.
double log_determinant(MatrixRef L);

/// Cholesky factor of a small positive definite matrix of a size known at compile time (or bounded). Returns false when
/// K is not positive definite; L is then unspecified.
template <typename Square>
bool small_cholesky(const Square& K, Square& L) {
  const Index n = K.rows();
  L.setZero(n, n);
  for (Index j = 0; j < n; ++j) {
    double pivot = K(j, j);
    for (Index k = 0; k < j; ++k) {
      pivot -= L(j, k) * L(j, k);
    }
    if (!(pivot > 0.0) || !std::isfinite(pivot)) {
      return false;
    }
    const double diagonal = std::sqrt(pivot);
    L(j, j) = diagonal;
    for (Index i = j + 1; i < n; ++i) {
      double sum = K(i, j);
      for (Index k = 0; k < j; ++k) {
        sum -= L(i, k) * L(j, k);
      }
      L(i, j) = sum / diagonal;
    }
  }
  return true;
}

/// Reverse mode of K -> L for a small matrix: given dF/dL (lower triangle), returns the symmetric dF/dK.
/// K_bar = L^-T Phi(L^T L_bar) L^-1, Phi = lower triangle with halved diagonal (Murray 2016).
template <typename Square>
Square small_cholesky_backward(const Square& L, const Square& L_bar) {
  const Index n = L.rows();
  Square middle = L.transpose() * Square(L_bar.template triangularView<Eigen::Lower>());
  for (Index j = 0; j < n; ++j) {
    middle(j, j) *= 0.5;
    for (Index i = 0; i < j; ++i) {
      middle(i, j) = 0.0;
    }
  }
  // L^-T from the left, then from the right by way of the transpose.
  const auto upper = L.transpose().template triangularView<Eigen::Upper>();
  upper.solveInPlace(middle);
  Square transposed = middle.transpose();
  upper.solveInPlace(transposed);
  return 0.5 * (transposed + Square(transposed.transpose()));
}

/// The same for a large matrix; `scratch` and `K_bar` are resized when needed only. Linv is L^-1.
void cholesky_backward(MatrixRef L, MatrixRef Linv, MatrixRef L_bar, Matrix& scratch, Matrix& K_bar);

/// Writes L^-1 (lower) to Linv.
void invert_lower(MatrixRef L, Matrix& Linv);

}  // namespace gpilot::linalg
