#pragma once

#include <vector>

#include "gpilot/gp/inducing.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

/// One transition as the regression sees it, with the node as its only variable:
///   x_j = m_{t-1} + P_chol_{t-1} xi_j   and the residual before the GP,   r_j = offset_t + slope_t xi_j   [D].
/// The first arrays are written by the chain, the others by the regression; all are indexed by the row arrived at,
/// except P_chol, which belongs to its row.
struct TransitionMessages {
  Matrix offset;  ///< [D x n]
  Matrix slope;   ///< [D x D n]
  Matrix P_chol;  ///< [D x D n]

  Matrix r_bar;  ///< [D x n]   sum_j dF/dr_j
  Matrix r_xi;   ///< [D x D n] sum_j dF/dr_j xi_j^T
  Matrix x_bar;  ///< [D x n]   sum_j dF/dx_j, through the kernels alone
  Matrix x_xi;   ///< [D x D n] sum_j dF/dx_j xi_j^T

  void resize(Index states, Index rows);
};

/// The part of the bound that needs nodes: for each GP row d a sparse regression of r_{jd} on (x_j, c), over all nodes
/// j of all transitions, with weights w_j and noise q_d; for each kinematic row the sum of squares alone.
///
/// Two passes over the nodes, in blocks that stay in the cache: the first collects G = sum w a a^T and h = sum w a r,
/// the second carries the gradient back. Blocks belong to groups whose number depends on the data alone and whose sums
/// are added in order, so that the result has the same bits for any number of threads.
class NodeRegression {
 public:
  NodeRegression(const Structure& structure, const Series& series, gp::Nodes nodes, int threads);

  /// New nodes of the same number (the paper's samples are drawn anew every epoch).
  void set_nodes(gp::Nodes nodes);

  /// Returns  sum_d -(1/2q_d) quadratic_d - KL[q(v_d) || p(v_d)]  with, per state d,
  ///   quadratic_d = sum w rho^2 + n k_dd - tr G_d + tr(G_d Sigma_d),   rho = r - a^T mu,
  /// the single trace over the stationary features alone, and n k_dd being sum w k(x, x) where that varies
  /// (kinematic rows: sum w r^2). q(v) is the optimal one, or `given`. `means` is m [D x n] of q(x).
  /// With `p_bar`, also fills the second half of `messages` and sets the kernel, linear kernel and Z gradients in it.
  double evaluate(const Parameters& p, const Matrix& means, TransitionMessages& messages,
                  const std::vector<gp::Weights>* given, Parameters* p_bar);

  const std::vector<Index>& row_states() const { return rows_; }  ///< the state of each GP row
  const Vector& quadratic() const { return quadratic_; }          ///< [D]
  const std::vector<gp::Weights>& weights() const { return weights_; }
  const std::vector<gp::InducingBasis>& bases() const { return bases_; }
  const std::vector<gp::Statistics>& statistics() const { return statistics_; }
  /// Largest jitter beyond the nugget that a factorisation of the last evaluation needed.
  double extra_jitter() const;

 private:
  /// A block's features of one GP row.
  struct RowWork {
    Matrix Xs;     ///< [N x I_e]
    Matrix slope;  ///< [N x M] dk/dr^2
    Matrix A;      ///< [N x M_a + 1] features times sqrt(w); the last column holds sqrt(w) rho
  };
  struct BlockWork {
    Matrix X;      ///< [N x I_e], embedded
    Matrix plain;  ///< [N x I], the same before: only where there is physics
    Matrix R;      ///< [N x D] residuals times sqrt(w)
    std::vector<RowWork> rows;
  };
  /// Scratch of one worker, sized for the largest block.
  struct Scratch {
    Matrix K, T, EZ, XsW;
    Matrix X_bar;  ///< [N x D + angles], in the columns of the embedding that come from states
    Matrix R_bar;
    std::vector<Matrix> slopes, parameter_slopes;  ///< of the physics, see PhysicsMean
    BlockWork block;                               ///< used when blocks are not kept between the passes
  };
  /// Sums of one group of blocks.
  struct GroupSums {
    std::vector<gp::Statistics> statistics;
    Vector squares;              ///< [D] sum w rho^2
    std::vector<Matrix> Zs_bar;  ///< [M x I_e]
    Matrix length_scale_sum;     ///< [I_e x G] sum Xs dF/dXs
    Vector prior_variance;       ///< [G] sum w k(x, x), of kernels that are not stationary
    Vector physics_bar;          ///< [parameters of the physics]
  };
  /// What the second pass needs of one GP row.
  struct RowAdjoint {
    Matrix Gamma;    ///< [M_a + 1 x M_a]
    Matrix Zs1;      ///< [M x I_e + 1]
    Matrix B, L_B;   ///< scratch of the collapse
    Matrix A_bar_A;  ///< [M_a x M_a] (dF/dA)^T A
    Vector moment;   ///< [M_a] sum w a rho
    Matrix Gamma_s, L_bar, K_bar, scratch, EZ;
  };

  struct Range {
    Index begin, end;
  };

  template <typename Work>
  void for_each_group(Work&& work);
  Index nodes_in(Range range) const { return nodes_.count() * (range.end - range.begin); }
  BlockWork sized_block(Index N) const;
  BlockWork& work_of(Index block, Index worker);
  void allocate();
  void fill_nodes(Range range, const Parameters& p, const Matrix& means, const TransitionMessages& messages,
                  BlockWork& work) const;
  void features(Index N, BlockWork& work, Scratch& scratch, bool with_slope) const;
  void first_pass(Index group, Index worker, const Parameters& p, const Matrix& means,
                  const TransitionMessages& messages, bool gradient);
  void second_pass(Index group, Index worker, const Parameters& p, const Matrix& means, TransitionMessages& messages,
                   bool gradient);
  void back_through_row(Index g, Index N, double q, BlockWork& work, Scratch& scratch, GroupSums& sums) const;
  /// The stationary part of the same where the kernel has another form.
  void back_through_formed(Index g, Index N, double q, BlockWork& work, Scratch& scratch, GroupSums& sums) const;
  /// Residuals are those before the GP: what the physics says is no part of them.
  void subtract_physics(Index N, const Parameters& p, BlockWork& work) const;
  void back_through_physics(Index N, const Parameters& p, const BlockWork& work, Scratch& scratch,
                            GroupSums& sums) const;
  /// sum w k(x, x) over all nodes.
  double prior_variance_sum(Index g) const;
  /// The column of X_bar of column i of the embedding; -1 for controls.
  Index state_column(Index i) const;
  /// Turns X_bar into dF/dx in its first D columns.
  void back_through_angles(Index N, const BlockWork& work, Scratch& scratch) const;
  void back_through_embedded_inducing(const gp::InducingBasis& basis, Matrix& Zs_bar) const;
  void collect_messages(Range range, const Scratch& scratch, TransitionMessages& messages) const;
  void sum_groups(Index g);
  double posterior_of_weights(Index g, double q, const std::vector<gp::Weights>* given);
  void prepare_adjoint(Index g, double q);
  void back_through_inducing(Index g, double q, Parameters& p_bar);

  const Structure& structure_;
  const Series& series_;
  gp::Nodes nodes_;
  int threads_;
  std::vector<Index> rows_;         ///< GP rows: row g is state rows_[g]
  std::vector<Index> transitions_;  ///< rows arrived at
  std::vector<Range> blocks_;       ///< ranges of transitions_
  std::vector<Range> groups_;       ///< ranges of blocks_
  bool keep_blocks_ = true;
  Vector sqrt_w_;        ///< [J]
  Vector block_sqrt_w_;  ///< [largest block] sqrt_w repeated

  std::vector<BlockWork> kept_;
  std::vector<Scratch> scratch_;
  std::vector<GroupSums> sums_;
  std::vector<RowAdjoint> adjoint_;
  std::vector<gp::InducingBasis> bases_;
  std::vector<gp::Statistics> statistics_;
  std::vector<gp::Weights> weights_;
  Vector quadratic_;
  Vector kl_;  ///< [G] KL[q(v_g) || p(v_g)]
};

}  // namespace gpilot::ssm
