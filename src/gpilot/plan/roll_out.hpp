#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/function_draws.hpp"
#include "gpilot/gp/packed_posterior.hpp"
#include "gpilot/plan/criterion.hpp"

namespace gpilot::plan {

/// What the model expects of one control sequence, linearised along the path of its mean: with phi the values of f at
/// the H points of the path less their means,
///
///   x_{t+1} - mean = F_t (x_t - mean) + L^-1 (phi_t + w_t),    y_t = C x_t + d + v_t.
///
/// Everything that a criterion of a plan needs is a covariance of this linear Gaussian model. Outputs are those of the
/// rows 1..H after the current one, E of each row together.
struct PlannedOutputs {
  Vector mean;            ///< [E H]
  Matrix response;        ///< of the outputs to what enters a row of L x' [E H x D H], the H columns of a row together
  Matrix noise;           ///< [E H x E H] their covariance if f were known: that of the state, process and outputs
  Vector unplanned;       ///< [E H] variances by the process noise that plans do not count on; 0 without limits
  Matrix signal;          ///< [E H x E H] what not knowing f adds
  std::vector<Matrix> V;  ///< [G] of [H x H]: covariance of f at the points of the path, a Gaussian process each
};

/// F = L^-1 (J + W + df/dx) [D x D] at a point, where slope_of_row(g) is the derivative of GP row g in the state.
template <class SlopeOfRow>
Matrix state_slope(const ssm::Transition& transition, SlopeOfRow slope_of_row) {
  Matrix slope = transition.linear_slope().leftCols(transition.structure().states);
  for (std::size_t g = 0; g < transition.row_states().size(); ++g) {
    slope.row(transition.row_states()[g]) += slope_of_row(g);
  }
  return transition.left_inverse() * slope;
}

/// How outputs along a path answer to what enters a row of L x' on the way, and to its first state: y_s gets
/// C F_{s-1} .. F_{t+1} L^-1 of row t. F is [H] of [D x D]; rows 1..H of the outputs.
void output_response(const std::vector<Matrix>& F, const Matrix& L_inverse, const Matrix& C, Matrix& response,
                     Matrix& start_response);

/// Paths of many control sequences under one model, in lock step. Keeps its memory between runs.
class RollOut {
 public:
  /// Keeps references to the context's parts.
  /// With `draws` functions drawn from the model every plan has as many paths, one under each; with 0 it has that of
  /// the mean.
  RollOut(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty, Index horizon,
          Index draws = 0);

  /// Rolls out plans, a column of controls each, row after row [P H x plans], from the current belief.
  void run(MatrixRef plans);

  /// Linearises path n of the last run; stays valid until the next call.
  const PlannedOutputs& outputs(Index n);

  /// N = plans times paths_of_plan(); the paths of a plan are neighbours.
  Index paths() const { return N_; }
  Index paths_of_plan() const { return std::max<Index>(draws_, 1); }
  Index horizon() const { return H_; }
  const ssm::Transition& transition() const { return transition_; }
  /// The points (x, c) of the last run [H N x I]: those of row t are rows t N to t N + N - 1.
  const Matrix& points() const { return X_; }
  /// What a point of path n is worth [H]: 1 where outputs and states stay in their ranges, less and less where the step
  /// from it leads beyond or begins there.
  Vector worth(Index n) const;
  /// The same as a Gaussian process sees them.
  const gp::PackedPosterior::Points& points(std::size_t g) const { return rows_[g].points; }
  const gp::PackedPosterior& uncertainty(std::size_t g) const { return *rows_[g].uncertainty; }
  /// Rows after which path n left every sensible range; H if it did not.
  Index sensible_rows(Index n) const { return sensible_rows_[static_cast<std::size_t>(n)]; }

 private:
  struct Row {
    gp::PackedPosterior posterior;           ///< of the model: where the path goes
    const gp::PackedPosterior* uncertainty;  ///< what is known about the function
    gp::PackedPosterior::Points points{};    ///< [H N x ..]
    gp::PackedPosterior::Points step{};      ///< [N x ..] of one row
    gp::PackedPosterior::Points own{};       ///< [H x ..] of one plan
    Matrix slope{};                          ///< [H N x I], that of physics included
    std::unique_ptr<gp::FunctionDraws> draws{};
  };

  void advance(Index t);
  void add_physics_slopes(Index first);
  void set_path_slopes(Index n);
  void draw_values(Row& row, Index first);

  const DecisionContext& context_;
  const ssm::Transition& transition_;
  const ssm::StateBelief& belief_;
  Index H_, D_, P_, E_;
  Index draws_;
  Index N_ = 0;
  std::vector<Row> rows_;
  Matrix X_, x_, z_;       ///< [H N x I], [N x D] twice
  std::vector<Matrix> F_;  ///< [H] of [D x D]
  Matrix start_response_;  ///< [E H x D]
  Matrix Y_;               ///< [H N x E] means of the outputs
  std::vector<Index> sensible_rows_;
  PlannedOutputs out_;
  Vector mean_;
  Matrix slope_, scratch_;
};

}  // namespace gpilot::plan
