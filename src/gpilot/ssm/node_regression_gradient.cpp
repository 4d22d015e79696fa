// How the gradient of the bound goes back from the sums of a regression to nodes, kernels and inducing points.
#include <cmath>

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/node_regression.hpp"
#include "gpilot/ssm/physics_mean.hpp"

namespace gpilot::ssm {

void NodeRegression::back_through_physics(Index N, const Parameters& p, const BlockWork& work, Scratch& scratch,
                                          GroupSums& sums) const {
  const std::vector<Index>& rows = structure_.physics->rows();
  structure_.physics->evaluate(work.plain.topRows(N), p.physics, scratch.slopes, scratch.parameter_slopes, false);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto r_bar = scratch.R_bar.col(rows[k]).head(N);
    for (Index i = 0; i < structure_.states; ++i) {
      scratch.X_bar.col(i).head(N).array() -= r_bar.array() * scratch.slopes[k].col(i).array();
    }
    sums.physics_bar.noalias() -= scratch.parameter_slopes[k].transpose() * r_bar;
  }
}

void NodeRegression::back_through_row(Index g, Index N, double q, BlockWork& work, Scratch& scratch,
                                      GroupSums& sums) const {
  const Index I = structure_.embedded_inputs();
  const Index M = structure_.inducing;
  const auto k = static_cast<std::size_t>(g);
  const gp::InducingBasis& basis = bases_[k];
  RowWork& row = work.rows[k];
  const auto sqrt_w = block_sqrt_w_.head(N).array();
  // sqrt(w)/q times T is dF/dk(x_n, Z), and dF/d(linear features).
  auto T = scratch.T.topRows(N);
  T.noalias() = row.A.topRows(N) * adjoint_[k].Gamma;
  if (M > 0 && !basis.form.stationary()) {
    back_through_formed(g, N, q, work, scratch, sums);
  } else if (M > 0) {
    // One pass over the columns of E = T * slope: it feeds both E [Zs 1] and its sums over the nodes while it is warm.
    auto EZ = scratch.EZ.topRows(N);
    auto XsW = scratch.XsW.topRows(N);
    Matrix& Zs_bar = sums.Zs_bar[k];
    XsW.col(I) = (2.0 / q) * sqrt_w;
    for (Index i = 0; i < I; ++i) {
      XsW.col(i).array() = XsW.col(I).array() * row.Xs.col(i).head(N).array();
    }
    EZ.setZero();
    for (Index m = 0; m < M; ++m) {
      auto E = row.slope.col(m).head(N);
      E.array() *= T.col(m).array();
      const double column_sum = E.dot(XsW.col(I));
      EZ.col(I) += E;
      for (Index i = 0; i < I; ++i) {
        EZ.col(i) += basis.Zs(m, i) * E;
        // dF/dZs = (2/q) (Zs colsum(sqrt(w) E) - E^T sqrt(w) Xs)
        Zs_bar(m, i) += basis.Zs(m, i) * column_sum - E.dot(XsW.col(i));
      }
    }
    for (Index i = 0; i < I; ++i) {
      const auto Xs = row.Xs.col(i).head(N).array();
      // dF/dXs = (2 sqrt(w)/q) (Xs rowsum(E) - E Zs)
      auto Xs_bar = EZ.col(i).array();
      Xs_bar = XsW.col(I).array() * (Xs * EZ.col(I).array() - Xs_bar);
      sums.length_scale_sum(i, g) += (Xs_bar * Xs).sum();
      if (const Index column = state_column(i); column >= 0) {
        scratch.X_bar.col(column).head(N).array() += Xs_bar * basis.inverse_length_scales(i);
      }
    }
  }
  if (structure_.linear_kernel) {
    for (Index i = 0; i < I; ++i) {
      if (const Index column = state_column(i); column >= 0) {
        scratch.X_bar.col(column).head(N).array() += (basis.linear_sd(i) / q) * sqrt_w * T.col(M + i).array();
      }
    }
  }
}

void NodeRegression::back_through_formed(Index g, Index N, double q, BlockWork& work, Scratch& scratch,
                                         GroupSums& sums) const {
  const auto k = static_cast<std::size_t>(g);
  const gp::InducingBasis& basis = bases_[k];
  const RowWork& row = work.rows[k];
  const auto Xs = row.Xs.topRows(N);
  const auto sqrt_w = block_sqrt_w_.head(N);
  const Matrix K_bar = sqrt_w.asDiagonal() * scratch.T.topLeftCorner(N, structure_.inducing) / q;
  Matrix Xs_bar = Matrix::Zero(N, basis.columns());
  kernels::MatrixOut Zs_bar(sums.Zs_bar[k]);
  basis.formed().pull_back(Xs, basis.Zs, K_bar, Xs_bar, &Zs_bar);
  // -w k(x, x) / 2q of the quadratic term
  basis.formed().pull_back_diagonal(Xs, (-0.5 / q) * sqrt_w.cwiseAbs2(), Xs_bar);
  for (Index i = 0; i < basis.columns(); ++i) {
    sums.length_scale_sum(i, g) += Xs_bar.col(i).dot(Xs.col(i));
    if (const Index column = state_column(i); column >= 0) {
      scratch.X_bar.col(column).head(N) += Xs_bar.col(i) * basis.inverse_length_scales(i);
    }
  }
}

Index NodeRegression::state_column(Index i) const {
  const Index D = structure_.states;
  const Index I = structure_.inputs();
  return i < D ? i : i < I ? -1 : D + i - I;
}

void NodeRegression::back_through_angles(Index N, const BlockWork& work, Scratch& scratch) const {
  for (std::size_t a = 0; a < structure_.angles.size(); ++a) {
    const kernels::Angle& angle = structure_.angles[a];
    const Index cosine = structure_.inputs() + static_cast<Index>(a);
    kernels::pull_back(angle.omega, work.X.col(angle.input).head(N), work.X.col(cosine).head(N),
                       scratch.X_bar.col(angle.input).head(N), scratch.X_bar.col(state_column(cosine)).head(N));
  }
}

void NodeRegression::collect_messages(Range range, const Scratch& scratch, TransitionMessages& messages) const {
  const Index J = nodes_.count();
  const Index D = structure_.states;
  for (Index k = range.begin; k < range.end; ++k) {
    const Index t = transitions_[static_cast<std::size_t>(k)];
    const Index at = J * (k - range.begin);
    for (Index i = 0; i < D; ++i) {
      const auto r = scratch.R_bar.col(i).segment(at, J);
      const auto x = scratch.X_bar.col(i).segment(at, J);
      messages.r_bar(i, t) = r.sum();
      messages.x_bar(i, t) = x.sum();
      for (Index c = 0; c < D; ++c) {
        messages.r_xi(i, D * t + c) = r.dot(nodes_.xi.col(c));
        messages.x_xi(i, D * t + c) = x.dot(nodes_.xi.col(c));
      }
    }
  }
}

void NodeRegression::prepare_adjoint(Index g, double q) {
  const auto k = static_cast<std::size_t>(g);
  const Index M = structure_.inducing;
  const Index M_a = structure_.features();
  const gp::InducingBasis& basis = bases_[k];
  const gp::Weights& v = weights_[k];
  RowAdjoint& adjoint = adjoint_[k];
  // dF/da_n = (w/q)[ a_s + (r - a^T mu) mu - Sigma a ], a_s = the stationary features; then back through L^-1.
  adjoint.Gamma.resize(M_a + 1, M_a);
  adjoint.Gamma.topRows(M_a) = -v.Sigma;
  adjoint.Gamma.topRows(M_a).leftCols(M).diagonal().array() += 1.0;
  adjoint.Gamma.row(M_a) = v.mu.transpose();

  const gp::Statistics& s = statistics_[k];
  adjoint.moment = s.h;
  adjoint.moment.noalias() -= s.G * v.mu;
  adjoint.A_bar_A.resize(M_a, M_a);
  adjoint.A_bar_A.noalias() = adjoint.Gamma.topRows(M_a).transpose() * s.G;
  adjoint.A_bar_A.noalias() += v.mu * adjoint.moment.transpose();
  adjoint.A_bar_A /= q;

  if (M > 0) {
    adjoint.Gamma_s.resize(M_a + 1, M);
    adjoint.Gamma_s.noalias() = adjoint.Gamma.leftCols(M) * basis.Linv;
    adjoint.Gamma.leftCols(M) = adjoint.Gamma_s;
    adjoint.Zs1.resize(M, basis.columns() + 1);
    adjoint.Zs1.leftCols(basis.columns()) = basis.Zs;
    adjoint.Zs1.col(basis.columns()).setOnes();
  }
}

/// The kernel's gradients of row g; leaves that of its scaled inducing points in the first group's Zs_bar.
void NodeRegression::back_through_inducing(Index g, double q, Parameters& p_bar) {
  const auto k = static_cast<std::size_t>(g);
  const Index M = structure_.inducing;
  const Index I = structure_.inputs();
  const Index I_e = structure_.embedded_inputs();
  const gp::InducingBasis& basis = bases_[k];
  RowAdjoint& a = adjoint_[k];
  if (structure_.linear_kernel) {
    const auto of_features = a.A_bar_A.diagonal().tail(I_e + 1);
    p_bar.log_linear_sd.col(g).head(I) = of_features.head(I);
    p_bar.log_linear_sd(I, g) = of_features(I_e);
    for (Index i = I; i < I_e; ++i) {
      p_bar.log_linear_sd(kernels::source_input(structure_.angles, I, i), g) += of_features(i);
    }
  }
  if (M == 0) {
    return;
  }
  Matrix& Zs_bar = sums_.front().Zs_bar[k];
  for (std::size_t group = 1; group < sums_.size(); ++group) {
    Zs_bar += sums_[group].Zs_bar[k];
    sums_.front().length_scale_sum.col(g) += sums_[group].length_scale_sum.col(g);
  }
  a.L_bar.resize(M, M);
  a.L_bar.noalias() = -basis.Linv.transpose() * a.A_bar_A.topLeftCorner(M, M);
  linalg::cholesky_backward(basis.L, basis.Linv, a.L_bar, a.scratch, a.K_bar);
  p_bar.log_variance(g) =
      a.A_bar_A.diagonal().head(M).sum() + a.K_bar.cwiseProduct(basis.K_uu).sum() - 0.5 * prior_variance_sum(g) / q;
  if (basis.form.stationary()) {
    // k(Z, Z) depends on Z through both arguments: dF/dZs_m = 4 sum_m' E_mm' (Zs_m - Zs_m').
    a.K_bar.array() *= basis.slope_uu.array();
    a.EZ.resize(M, I_e + 1);
    a.EZ.noalias() = a.K_bar * a.Zs1;
    for (Index i = 0; i < I_e; ++i) {
      Zs_bar.col(i).array() += 4.0 * (basis.Zs.col(i).array() * a.EZ.col(I_e).array() - a.EZ.col(i).array());
    }
  } else {
    Matrix first = Matrix::Zero(M, I_e);
    kernels::MatrixOut second(Zs_bar);
    basis.formed().pull_back(basis.Zs, basis.Zs, a.K_bar, first, &second);
    Zs_bar += first;
  }
  p_bar.log_length_scales.col(g).setZero();
  for (Index i = 0; i < I_e; ++i) {
    p_bar.log_length_scales(kernels::source_input(structure_.angles, I, i), g) -=
        sums_.front().length_scale_sum(i, g) + Zs_bar.col(i).dot(basis.Zs.col(i));
  }
}

/// Of the angles' columns, dF/dZs becomes what dF/dZ is but for the length scale.
void NodeRegression::back_through_embedded_inducing(const gp::InducingBasis& basis, Matrix& Zs_bar) const {
  for (std::size_t a = 0; a < structure_.angles.size(); ++a) {
    const kernels::Angle& angle = structure_.angles[a];
    const Index cosine = structure_.inputs() + static_cast<Index>(a);
    if (basis.inverse_length_scales(angle.input) == 0.0) {
      continue;
    }
    kernels::pull_back(angle.omega / basis.inverse_length_scales(angle.input), basis.Zs.col(angle.input),
                       basis.Zs.col(cosine), Zs_bar.col(angle.input), Zs_bar.col(cosine));
  }
}

}  // namespace gpilot::ssm
