#include "gpilot/linalg/cholesky.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>

#include "gpilot/core/error.hpp"

namespace gpilot::linalg {

namespace {

/// Of the mean diagonal. Beyond it the factor would be that of another matrix; by feel, not measured.
constexpr double kLargestRelativeJitter = 1e-2;

}  // namespace

CholeskyReport cholesky(MatrixRef K, Matrix& L, const char* what, double relative_jitter) {
  CholeskyReport report;
  const Index n = K.rows();
  L.resize(n, n);
  if (n == 0) {
    return report;
  }
  const double scale = K.diagonal().mean();
  if (!K.allFinite()) {
    throw NumericalError(
        fmt::format("{}: the {} x {} matrix to factorise holds a value that is not finite", what, n, n));
  }
  for (double relative = 0.0; relative <= kLargestRelativeJitter * 1.001;
       relative = relative == 0.0 ? relative_jitter : 10.0 * relative) {
    report.jitter = relative * scale;
    L = K;
    L.diagonal().array() += report.jitter;
    const Eigen::LLT<Eigen::Ref<Matrix>> in_place(L);
    if (in_place.info() == Eigen::Success) {
      for (Index j = 1; j < n; ++j) {
        L.col(j).head(j).setZero();
      }
      return report;
    }
    ++report.attempts;
  }
  throw NumericalError(fmt::format("{}: the {} x {} matrix is not positive definite, even with {:.1e} on its diagonal",
                                   what, n, n, report.jitter));
}

double log_determinant(MatrixRef L) {
  return 2.0 * L.diagonal().array().log().sum();
}

void cholesky_backward(MatrixRef L, MatrixRef Linv, MatrixRef L_bar, Matrix& scratch, Matrix& K_bar) {
  const Index n = L.rows();
  K_bar.noalias() = L.transpose() * L_bar;
  for (Index j = 0; j < n; ++j) {
    K_bar(j, j) *= 0.5;
    K_bar.col(j).head(j).setZero();
  }
  scratch.noalias() = Linv.transpose() * K_bar;
  K_bar.noalias() = scratch * Linv;
  scratch = K_bar.transpose();
  K_bar = 0.5 * (K_bar + scratch);
}

void invert_lower(MatrixRef L, Matrix& Linv) {
  Linv.setIdentity(L.rows(), L.cols());
  L.triangularView<Eigen::Lower>().solveInPlace(Linv);
}

}  // namespace gpilot::linalg
