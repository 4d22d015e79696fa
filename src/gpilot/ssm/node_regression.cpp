#include "gpilot/ssm/node_regression.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpilot/core/parallel.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::ssm {

namespace {

/// Nodes of a block: its features of 50 columns then fill half of a typical second level cache. With many nodes blocks
/// are half as large, so that threads share them more evenly; with few, a second block would cost more than it gives.
constexpr Index kBlockNodes = 512;
constexpr Index kManyNodes = 8 * kBlockNodes;
/// Groups of blocks; sums are kept per group, so this bounds their memory and the number of useful threads.
constexpr Index kGroups = 64;
/// Features are kept between the passes up to this many bytes; beyond that they are computed again.
constexpr double kKeepBytes = 400e6;

}  // namespace

void TransitionMessages::resize(Index states, Index rows) {
  for (Matrix* columns : {&offset, &r_bar, &x_bar}) {
    columns->setZero(states, rows);
  }
  for (Matrix* squares : {&slope, &P_chol, &r_xi, &x_xi}) {
    squares->setZero(states, states * rows);
  }
}

NodeRegression::NodeRegression(const Structure& structure, const Series& series, gp::Nodes nodes, int threads)
    : structure_(structure), series_(series), nodes_(std::move(nodes)), threads_(threads), rows_(structure.gp_rows()) {
  for (Index t = 0; t < series.rows(); ++t) {
    if (!series.first[static_cast<std::size_t>(t)]) {
      transitions_.push_back(t);
    }
  }
  const auto count = static_cast<Index>(transitions_.size());
  const Index block_nodes = count * nodes_.count() > kManyNodes ? kBlockNodes / 2 : kBlockNodes;
  const Index per_block = std::max<Index>(1, block_nodes / nodes_.count());
  for (Index begin = 0; begin < count; begin += per_block) {
    blocks_.push_back({begin, std::min(count, begin + per_block)});
  }
  const auto blocks = static_cast<Index>(blocks_.size());
  const Index group_count = std::min(kGroups, blocks);
  for (Index k = 0; k < group_count; ++k) {
    groups_.push_back({k * blocks / group_count, (k + 1) * blocks / group_count});
  }
  allocate();
}

void NodeRegression::allocate() {
  const Index J = nodes_.count();
  const Index D = structure_.states;
  const Index I = structure_.embedded_inputs();
  const auto A = static_cast<Index>(structure_.angles.size());
  const Index M = structure_.inducing;
  const Index M_a = structure_.features();
  const auto G = static_cast<Index>(rows_.size());
  const Index largest = J * (blocks_.front().end - blocks_.front().begin);

  set_nodes(std::move(nodes_));
  block_sqrt_w_ = sqrt_w_.replicate(largest / J, 1);
  const double bytes_a_node = 8.0 * static_cast<double>(G * (M + M_a + 1 + I) + I + D);
  double bytes = 0.0;
  kept_.clear();
  for (const Range& range : blocks_) {
    bytes += bytes_a_node * static_cast<double>(nodes_in(range));
    if (bytes > kKeepBytes) {
      break;
    }
    kept_.push_back(sized_block(nodes_in(range)));
  }
  keep_blocks_ = kept_.size() == blocks_.size();
  const auto workers = static_cast<std::size_t>(std::max(1, std::min(threads_, static_cast<int>(groups_.size()))));
  scratch_.assign(workers, Scratch{Matrix(largest, M),
                                   Matrix(largest, M_a),
                                   Matrix(largest, I + 1),
                                   Matrix(largest, I + 1),
                                   Matrix(largest, D + A),
                                   Matrix(largest, D),
                                   {},
                                   {},
                                   keep_blocks_ ? BlockWork{} : sized_block(largest)});

  gp::Statistics zero{Matrix::Zero(M_a, M_a), Vector::Zero(M_a)};
  statistics_.assign(static_cast<std::size_t>(G), zero);
  GroupSums sums;
  sums.statistics.assign(static_cast<std::size_t>(G), zero);
  sums.squares = Vector::Zero(D);
  sums.Zs_bar.assign(static_cast<std::size_t>(G), Matrix::Zero(M, I));
  sums.length_scale_sum = Matrix::Zero(I, G);
  sums.prior_variance = Vector::Zero(G);
  sums.physics_bar = Vector::Zero(structure_.physics ? structure_.physics->parameters() : 0);
  sums_.assign(groups_.size(), sums);
  adjoint_.resize(static_cast<std::size_t>(G));
  bases_.resize(static_cast<std::size_t>(G));
  weights_.resize(static_cast<std::size_t>(G));
  quadratic_ = Vector::Zero(D);
  kl_ = Vector::Zero(G);
}

NodeRegression::BlockWork NodeRegression::sized_block(Index N) const {
  const Index I = structure_.embedded_inputs();
  BlockWork work{
      Matrix(N, I), Matrix(structure_.physics ? N : 0, structure_.inputs()), Matrix(N, structure_.states), {}};
  work.rows.assign(rows_.size(),
                   RowWork{Matrix(N, I), Matrix(N, structure_.inducing), Matrix(N, structure_.features() + 1)});
  return work;
}

void NodeRegression::set_nodes(gp::Nodes nodes) {
  nodes_ = std::move(nodes);
  sqrt_w_ = nodes_.w.cwiseSqrt();
}

double NodeRegression::extra_jitter() const {
  double largest = 0.0;
  for (const gp::InducingBasis& basis : bases_) {
    largest = std::max(largest, basis.extra_jitter);
  }
  return largest;
}

template <typename Work>
void NodeRegression::for_each_group(Work&& work) {
  for_each_task(static_cast<Index>(groups_.size()), static_cast<Index>(scratch_.size()), work);
}

NodeRegression::BlockWork& NodeRegression::work_of(Index block, Index worker) {
  const auto b = static_cast<std::size_t>(block);
  return b < kept_.size() ? kept_[b] : scratch_[static_cast<std::size_t>(worker)].block;
}

void NodeRegression::fill_nodes(Range range, const Parameters& p, const Matrix& means,
                                const TransitionMessages& messages, BlockWork& work) const {
  const Index J = nodes_.count();
  const Index D = structure_.states;
  const Index P = structure_.controls;
  for (Index k = range.begin; k < range.end; ++k) {
    const Index t = transitions_[static_cast<std::size_t>(k)];
    const Index at = J * (k - range.begin);
    const auto P_chol = messages.P_chol.middleCols(D * (t - 1), D);
    const auto slope = messages.slope.middleCols(D * t, D);
    for (Index i = 0; i < D; ++i) {
      auto x = work.X.col(i).segment(at, J).array();
      x = means(i, t - 1) + P_chol(i, 0) * nodes_.xi.col(0).array();
      for (Index c = 1; c <= i; ++c) {
        x += P_chol(i, c) * nodes_.xi.col(c).array();
      }
      auto r = work.R.col(i).segment(at, J).array();
      r = messages.offset(i, t) + slope(i, 0) * nodes_.xi.col(0).array();
      for (Index c = 1; c < D; ++c) {
        r += slope(i, c) * nodes_.xi.col(c).array();
      }
      r *= sqrt_w_.array();
    }
    for (Index i = 0; i < P; ++i) {
      work.X.col(D + i).segment(at, J).setConstant(series_.controls(i, t - 1));
    }
  }
  if (structure_.physics) {
    subtract_physics(nodes_in(range), p, work);
  }
  if (!structure_.angles.empty()) {
    kernels::embed(structure_.angles, work.X.topRows(J * (range.end - range.begin)));
  }
}

void NodeRegression::subtract_physics(Index N, const Parameters& p, BlockWork& work) const {
  work.plain.topRows(N) = work.X.topLeftCorner(N, structure_.inputs());
  const std::vector<Index>& rows = structure_.physics->rows();
  const Matrix m = structure_.physics->evaluate(work.plain.topRows(N), p.physics);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    work.R.col(rows[k]).head(N).array() -= block_sqrt_w_.head(N).array() * m.col(static_cast<Index>(k)).array();
  }
}

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

void NodeRegression::features(Index N, BlockWork& work, Scratch& scratch, bool with_slope) const {
  for (std::size_t g = 0; g < rows_.size(); ++g) {
    RowWork& row = work.rows[g];
    kernels::MatrixOut slope = row.slope.topRows(N);
    bases_[g].evaluate_embedded(work.X.topRows(N), block_sqrt_w_, row.Xs.topRows(N), scratch.K.topRows(N),
                                with_slope ? &slope : nullptr, row.A.topLeftCorner(N, structure_.features()));
  }
}

void NodeRegression::first_pass(Index group, Index worker, const Parameters& p, const Matrix& means,
                                const TransitionMessages& messages, bool gradient) {
  GroupSums& sums = sums_[static_cast<std::size_t>(group)];
  Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
  for (gp::Statistics& s : sums.statistics) {
    s.G.setZero();
    s.h.setZero();
  }
  sums.prior_variance.setZero();
  const Range blocks = groups_[static_cast<std::size_t>(group)];
  for (Index b = blocks.begin; b < blocks.end; ++b) {
    const Range range = blocks_[static_cast<std::size_t>(b)];
    const Index N = nodes_in(range);
    BlockWork& work = work_of(b, worker);
    fill_nodes(range, p, means, messages, work);
    features(N, work, scratch, gradient && b < static_cast<Index>(kept_.size()));
    for (std::size_t g = 0; g < rows_.size(); ++g) {
      const auto A = work.rows[g].A.topLeftCorner(N, structure_.features());
      gp::Statistics& s = sums.statistics[g];
      s.G.selfadjointView<Eigen::Lower>().rankUpdate(A.transpose());
      s.h.noalias() += A.transpose() * work.R.col(rows_[g]).head(N);
      if (structure_.inducing > 0 && !bases_[g].form.stationary()) {
        sums.prior_variance(static_cast<Index>(g)) +=
            bases_[g].prior_variance(work.rows[g].Xs.topRows(N)).dot(block_sqrt_w_.head(N).cwiseAbs2());
      }
    }
  }
}

void NodeRegression::second_pass(Index group, Index worker, const Parameters& p, const Matrix& means,
                                 TransitionMessages& messages, bool gradient) {
  GroupSums& sums = sums_[static_cast<std::size_t>(group)];
  Scratch& scratch = scratch_[static_cast<std::size_t>(worker)];
  const Index M_a = structure_.features();
  sums.squares.setZero();
  sums.length_scale_sum.setZero();
  sums.physics_bar.setZero();
  for (Matrix& Zs_bar : sums.Zs_bar) {
    Zs_bar.setZero();
  }
  const Range blocks = groups_[static_cast<std::size_t>(group)];
  for (Index b = blocks.begin; b < blocks.end; ++b) {
    const Range range = blocks_[static_cast<std::size_t>(b)];
    const Index N = nodes_in(range);
    BlockWork& work = work_of(b, worker);
    if (b >= static_cast<Index>(kept_.size())) {
      fill_nodes(range, p, means, messages, work);
      features(N, work, scratch, gradient);
    }
    for (std::size_t g = 0; g < rows_.size(); ++g) {
      auto rho = work.R.col(rows_[g]).head(N);
      rho.noalias() -= work.rows[g].A.topLeftCorner(N, M_a) * weights_[g].mu;
      work.rows[g].A.col(M_a).head(N) = rho;
    }
    for (Index d = 0; d < structure_.states; ++d) {
      sums.squares(d) += work.R.col(d).head(N).squaredNorm();
      // dF/dr = -(w/q) rho
      scratch.R_bar.col(d).head(N) =
          (-std::exp(-p.log_q(d))) * block_sqrt_w_.head(N).array() * work.R.col(d).head(N).array();
    }
    if (gradient) {
      scratch.X_bar.topRows(N).setZero();
      for (Index g = 0; g < static_cast<Index>(rows_.size()); ++g) {
        back_through_row(g, N, std::exp(p.log_q(rows_[static_cast<std::size_t>(g)])), work, scratch, sums);
      }
      back_through_angles(N, work, scratch);
      if (structure_.physics) {
        back_through_physics(N, p, work, scratch, sums);
      }
      collect_messages(range, scratch, messages);
    }
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

double NodeRegression::prior_variance_sum(Index g) const {
  const auto k = static_cast<std::size_t>(g);
  if (bases_[k].form.stationary()) {
    return static_cast<double>(transitions_.size()) * bases_[k].variance;
  }
  double sum = 0.0;
  for (const GroupSums& sums : sums_) {
    sum += sums.prior_variance(g);
  }
  return sum;
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

void NodeRegression::sum_groups(Index g) {
  const auto k = static_cast<std::size_t>(g);
  gp::Statistics& s = statistics_[k];
  s.G = sums_.front().statistics[k].G;
  s.h = sums_.front().statistics[k].h;
  for (std::size_t group = 1; group < sums_.size(); ++group) {
    s.G += sums_[group].statistics[k].G;
    s.h += sums_[group].statistics[k].h;
  }
  s.G.triangularView<Eigen::StrictlyUpper>() = s.G.transpose();
}

/// Sets q(v_g) and the part of quadratic_ that needs no residuals; returns KL[q(v_g) || p(v_g)].
double NodeRegression::posterior_of_weights(Index g, double q, const std::vector<gp::Weights>* given) {
  const auto k = static_cast<std::size_t>(g);
  const gp::Statistics& s = statistics_[k];
  gp::Weights& v = weights_[k];
  double kl = 0.0;
  if (given != nullptr) {
    v = (*given)[k];
    kl = gp::kl_to_standard_normal(v);
  } else {
    const double log_det_B = gp::collapse(s, q, adjoint_[k].B, adjoint_[k].L_B, v);
    kl = 0.5 * (v.Sigma.trace() + v.mu.squaredNorm() - static_cast<double>(v.mu.size()) + log_det_B);
  }
  double& quadratic = quadratic_(rows_[k]);
  quadratic = s.G.cwiseProduct(v.Sigma).sum();
  if (structure_.inducing > 0) {
    quadratic += prior_variance_sum(g) - s.G.diagonal().head(structure_.inducing).sum();
  }
  return kl;
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

double NodeRegression::evaluate(const Parameters& p, const Matrix& means, TransitionMessages& messages,
                                const std::vector<gp::Weights>* given, Parameters* p_bar) {
  const auto G = static_cast<Index>(rows_.size());
  const bool gradient = p_bar != nullptr;
  const auto noise = [&](Index g) { return std::exp(p.log_q(rows_[static_cast<std::size_t>(g)])); };
  for_each_task(G, threads_, [&](Index g, Index /*worker*/) {
    bases_[static_cast<std::size_t>(g)].update(structure_.kernel, p.log_variance(g), p.log_length_scales.col(g),
                                               p.log_linear_sd.col(g), p.Z, structure_.angles, structure_.form(g));
  });
  for_each_group([&](Index group, Index worker) { first_pass(group, worker, p, means, messages, gradient); });

  quadratic_.setZero();
  for_each_task(G, threads_, [&](Index g, Index /*worker*/) {
    sum_groups(g);
    kl_(g) = posterior_of_weights(g, noise(g), given);
    if (gradient) {
      prepare_adjoint(g, noise(g));
    }
  });
  for_each_group([&](Index group, Index worker) { second_pass(group, worker, p, means, messages, gradient); });
  for (const GroupSums& sums : sums_) {
    quadratic_ += sums.squares;
  }
  double value = 0.0;
  for (Index g = 0; g < G; ++g) {
    value -= kl_(g);
  }
  for (Index d = 0; d < structure_.states; ++d) {
    value -= 0.5 * std::exp(-p.log_q(d)) * quadratic_(d);
  }

  if (gradient) {
    for_each_task(G, threads_, [&](Index g, Index /*worker*/) { back_through_inducing(g, noise(g), *p_bar); });
    p_bar->Z.setZero();
    for (std::size_t k = 0; k < bases_.size(); ++k) {
      back_through_embedded_inducing(bases_[k], sums_.front().Zs_bar[k]);
      for (Index i = 0; i < p_bar->Z.cols(); ++i) {
        p_bar->Z.col(i) += sums_.front().Zs_bar[k].col(i) * bases_[k].inverse_length_scales(i);
      }
    }
    for (const GroupSums& sums : sums_) {
      p_bar->physics += sums.physics_bar;
    }
  }
  return value;
}

}  // namespace gpilot::ssm
