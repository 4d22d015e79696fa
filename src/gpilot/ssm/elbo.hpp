#pragma once

#include <vector>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/node_regression.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/small.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

/// The terms of the bound; their sum is the ELBO.
struct ElboTerms {
  double emission = 0.0;    ///< sum_t E log N(y_t | C x_t + d, R), observed entries only
  double transition = 0.0;  ///< sum_t E log N(L x_t | .., Q) - KL[q(v) || p(v)]
  double initial = 0.0;     ///< sum over sequences E log p(x_0)
  double entropy = 0.0;     ///< H[q(x)]

  double total() const { return emission + transition + initial + entropy; }
};

/// The evidence lower bound with free q(x), its expectations over nodes, and its gradient by hand (docs/math/elbo.md).
/// With `weights` null q(v) is collapsed: the optimal one is used, and by the envelope theorem its gradient is zero.
/// Structure and series must outlive the object; a collapsed evaluation allocates nothing once the
/// first one is done.
class Elbo {
 public:
  Elbo(const Structure& structure, const Series& series, gp::Nodes nodes, int threads = 1);

  double value(const Parameters& p, const StatePosterior& q, const std::vector<gp::Weights>* weights = nullptr);
  /// Also sets p_bar and q_bar, which are resized on first use. S_chol's gradient is lower triangular.
  double gradient(const Parameters& p, const StatePosterior& q, Parameters& p_bar, StatePosterior& q_bar,
                  const std::vector<gp::Weights>* weights = nullptr);
  /// Gradient in given weights, after gradient(.., weights): dF/dmu and the symmetric dF/dSigma.
  void weights_gradient(const Parameters& p, std::vector<gp::Weights>& bar) const;

  const Structure& structure() const { return structure_; }
  int threads() const { return threads_; }
  const Series& series() const { return series_; }
  const ElboTerms& terms() const { return terms_; }
  /// q(v) of the last evaluation.
  const std::vector<gp::Weights>& weights() const { return regression_.weights(); }
  const NodeRegression& regression() const { return regression_; }
  /// After gradient(): what the E-step needs of every transition.
  const TransitionMessages& messages() const { return messages_; }
  const Matrix& left() const { return L_; }
  /// The prior of the first row t of a sequence.
  const StartPrior& start_of(Index t) const {
    return series_.broad[static_cast<std::size_t>(t)] ? broad_start_ : declared_start_;
  }
  void set_nodes(gp::Nodes nodes) { regression_.set_nodes(std::move(nodes)); }

 private:
  /// Sums over the rows of one chunk. Chunks depend on the data alone and are added in order, so that the bits do not
  /// depend on the number of threads.
  struct ChunkSums {
    ElboTerms terms;
    Vector noise;  ///< [D] sum_t (L S_t L^T)_dd
    Matrix W_bar;  ///< [D x I + 1]
    Matrix C_bar;  ///< [E x D]
    Vector d_bar, log_r_bar;

    void set_zero();
  };

  double evaluate(const Parameters& p, const StatePosterior& q, const std::vector<gp::Weights>* weights,
                  Parameters* p_bar, StatePosterior* q_bar);
  /// What all rows share: the mean function, the noises' precisions.
  void prepare(const Parameters& p);
  template <int N>
  void forward(const Parameters& p, const StatePosterior& q);
  template <int N>
  void covariances(const StatePosterior& q);
  template <int N>
  void forward_row(const Parameters& p, const StatePosterior& q, Index t, ChunkSums& sums);
  template <int N>
  void emission_forward(const Parameters& p, const StatePosterior& q, Index t, ChunkSums& sums);
  template <int N>
  void backward(const Parameters& p, const StatePosterior& q, Parameters& p_bar, StatePosterior& q_bar);
  template <int N>
  void backward_row(const Parameters& p, const StatePosterior& q, Index t, StatePosterior& q_bar, ChunkSums& sums);
  template <int N>
  void emission_backward(const Parameters& p, const StatePosterior& q, Index t, SmallMatrix<N>& P_bar,
                         StatePosterior& q_bar, ChunkSums& sums);
  template <int N>
  void finish_row(const StatePosterior& q, Index t, StatePosterior& q_bar);
  void add_chunks(Parameters& p_bar);

  const Structure& structure_;
  const Series& series_;
  NodeRegression regression_;
  TransitionMessages messages_;
  ElboTerms terms_;
  StartPrior declared_start_, broad_start_;
  Matrix L_;                      ///< [D x D]
  Matrix J_;                      ///< [D x D], mean function included
  Matrix W_c_;                    ///< [D x P]
  Vector w_1_;                    ///< [D]
  Vector q_inverse_;              ///< [D]
  Matrix S_direct_;               ///< [D x D] what the process noise adds to dF/dS_t
  std::vector<Index> mean_rows_;  ///< states with a mean function
  int threads_;
  std::vector<ChunkSums> sums_;
};

}  // namespace gpilot::ssm
