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
