#include "gpilot/plan/roll_out.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::plan {

namespace {

/// How quickly a point loses its worth beyond the range, per scaled unit; the range is 3.5 wide. By trial on four
/// third-party systems, where it was the strongest single cure of plans that go astray: an eighth of the range beyond
/// it a point is worth a fifth.
constexpr double kLossBeyondRange = 4.0;

/// Share of the process variances that plans count on: training overrates them (docs/decisions/process-noise.md). A
/// quarter of the sd; by trial, with 1 and with this value only (docs/decisions/planning.md).
constexpr double kPlannedNoise = 1.0 / 16.0;

}  // namespace

double DecisionContext::beyond_range(VectorRef state) const {
  if (range == nullptr) {
    return 0.0;
  }
  const ssm::Parameters& p = transition.parameters();
  Vector all(p.d.size() + state.size());
  all << p.C * state + p.d, state;
  return (all - range->high).cwiseMax(range->low - all).cwiseMax(0.0).maxCoeff();
}

Vector DecisionContext::planned_process_variance() const {
  return kPlannedNoise * transition.process_variance();
}

void output_response(const std::vector<Matrix>& F, const Matrix& L_inverse, const Matrix& C, Matrix& response,
                     Matrix& start_response) {
  const auto H = static_cast<Index>(F.size());
  const Index D = L_inverse.rows();
  const Index E = C.rows();
  response.setZero(E * H, D * H);
  start_response.resize(E * H, D);
  Matrix M(D, D);
  Matrix next(D, D);
  Matrix CM(E, D);
  for (Index t = 0; t < H; ++t) {
    M = L_inverse;
    for (Index s = t; s < H; ++s) {
      CM.noalias() = C.lazyProduct(M);
      for (Index d = 0; d < D; ++d) {
        response.block(s * E, d * H + t, E, 1) = CM.col(d);
      }
      if (s + 1 < H) {
        next.noalias() = F[static_cast<std::size_t>(s + 1)].lazyProduct(M);
        M.swap(next);
      }
    }
  }
  M = F[0];
  for (Index s = 0; s < H; ++s) {
    start_response.middleRows(s * E, E).noalias() = C.lazyProduct(M);
    if (s + 1 < H) {
      next.noalias() = F[static_cast<std::size_t>(s + 1)].lazyProduct(M);
      M.swap(next);
    }
  }
}

RollOut::RollOut(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty, Index horizon,
                 Index draws)
    : context_(context),
      transition_(context.transition),
      belief_(context.belief),
      H_(horizon),
      D_(transition_.structure().states),
      P_(transition_.structure().controls),
      E_(transition_.structure().outputs),
      draws_(draws) {
  std::vector<gp::PackedPosterior> posteriors = model_posteriors(context);
  for (std::size_t g = 0; g < posteriors.size(); ++g) {
    rows_.push_back({std::move(posteriors[g]), &uncertainty[g]});
    if (draws_ > 0) {
      rows_.back().draws = std::make_unique<gp::FunctionDraws>(transition_.bases()[g], transition_.weights()[g], draws_,
                                                               context.seed, static_cast<std::uint32_t>(g));
    }
  }
  F_.assign(static_cast<std::size_t>(H_), Matrix::Zero(D_, D_));
  out_.mean.resize(E_ * H_);
  out_.V.resize(rows_.size());
}

void RollOut::run(MatrixRef plans) {
  const Index paths = paths_of_plan();
  N_ = plans.cols() * paths;
  X_.resize(H_ * N_, D_ + P_);
  Y_.resize(H_ * N_, E_);
  for (Row& row : rows_) {
    row.slope.resize(H_ * N_, D_ + P_);
  }
  sensible_rows_.assign(static_cast<std::size_t>(N_), H_);
  x_ = belief_.mean.transpose().replicate(N_, 1);
  for (Index t = 0; t < H_; ++t) {
    X_.block(t * N_, 0, N_, D_) = x_;
    for (Index n = 0; n < N_; ++n) {
      X_.block(t * N_ + n, D_, 1, P_) = plans.block(t * P_, n / paths, P_, 1).transpose();
    }
    advance(t);
  }
  for (Row& row : rows_) {
    row.uncertainty->project(X_, row.points);
  }
}

/// mean_ at the points from row `first` of X_ on, by the drawn functions: each path of a plan has its own draw.
void RollOut::draw_values(Row& row, Index first) {
  for (Index n = 0; n < N_; n += draws_) {
    row.draws->evaluate(X_.middleRows(first + n, draws_), mean_.segment(n, draws_));
  }
}

/// Adds the slopes of the physics to the rows' own, at the points from row `first` of X_ on.
void RollOut::add_physics_slopes(Index first) {
  std::vector<Matrix> slopes(rows_.size(), Matrix::Zero(N_, D_ + P_));
  transition_.add_physics_slopes(X_.middleRows(first, N_), slopes);
  for (std::size_t g = 0; g < rows_.size(); ++g) {
    rows_[g].slope.middleRows(first, N_) += slopes[g];
  }
}

/// x_ from row t to row t + 1 of all plans.
void RollOut::advance(Index t) {
  const Index first = t * N_;
  const auto X = X_.middleRows(first, N_);
  z_ = transition_.mean_part(X);
  for (std::size_t g = 0; g < rows_.size(); ++g) {
    Row& row = rows_[g];
    row.posterior.predict(X, row.step, mean_, slope_);
    row.slope.middleRows(first, N_) = slope_;
    if (row.draws) {
      draw_values(row, first);
    }
    z_.col(transition_.row_states()[g]) += mean_;
  }
  if (transition_.structure().physics) {
    add_physics_slopes(first);
  }
  x_.noalias() = z_ * transition_.left_inverse().transpose();
  for (Index n = 0; n < N_; ++n) {
    if (!(x_.row(n).array().abs() <= ssm::kFarthestPath).all()) {  // NaN, too
      Index& rows = sensible_rows_[static_cast<std::size_t>(n)];
      rows = std::min(rows, t);
      x_.row(n) = X_.block(first + n, 0, 1, D_);
    }
  }
  const ssm::Parameters& p = transition_.parameters();
  Y_.middleRows(first, N_).noalias() = x_ * p.C.transpose();
  Y_.middleRows(first, N_).rowwise() += p.d.transpose();
}

Vector RollOut::worth(Index n) const {
  Vector worth(H_);
  double before = context_.beyond_range(belief_.mean);
  for (Index t = 0; t < H_; ++t) {
    const bool is_last = t + 1 == H_;
    const double after = context_.beyond_range(is_last ? Vector(x_.row(n).transpose())
                                                       : Vector(X_.row((t + 1) * N_ + n).head(D_).transpose()));
    worth(t) = std::exp(-kLossBeyondRange * std::max(before, after));
    before = after;
  }
  return worth;
}

/// F_t along path n.
void RollOut::set_path_slopes(Index n) {
  for (Index t = 0; t < H_; ++t) {
    F_[static_cast<std::size_t>(t)] =
        state_slope(transition_, [&](std::size_t g) { return rows_[g].slope.row(t * N_ + n).head(D_); });
  }
}

const PlannedOutputs& RollOut::outputs(Index n) {
  set_path_slopes(n);
  output_response(F_, transition_.left_inverse(), transition_.parameters().C, out_.response, start_response_);
  for (Index t = 0; t < H_; ++t) {
    out_.mean.segment(t * E_, E_) = Y_.row(t * N_ + n).transpose();
  }
  out_.noise.setZero(E_ * H_, E_ * H_);
  const Vector r = transition_.parameters().log_r.array().exp();
  out_.noise.diagonal() = r.replicate(H_, 1);
  scratch_.noalias() = start_response_ * belief_.covariance;
  out_.noise.noalias() += scratch_ * start_response_.transpose();
  const Vector planned = context_.planned_process_variance();
  const Vector unplanned = transition_.process_variance() - planned;
  out_.unplanned.setZero(E_ * H_);
  for (Index d = 0; d < D_; ++d) {
    const auto response = out_.response.middleCols(d * H_, H_);
    if (const double q = planned(d); q > 0.0) {
      out_.noise.noalias() += q * response * response.transpose();
    }
    if (context_.limited()) {
      out_.unplanned += unplanned(d) * response.rowwise().squaredNorm();
    }
  }
  out_.signal.setZero(E_ * H_, E_ * H_);
  using Strided = Eigen::Map<const Matrix, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  for (std::size_t g = 0; g < rows_.size(); ++g) {
    Row& row = rows_[g];
    const Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic> stride(H_ * N_, N_);
    row.own.Xs = Strided(row.points.Xs.data() + n, H_, row.points.Xs.cols(), stride);
    row.own.P = Strided(row.points.P.data() + n, H_, row.points.P.cols(), stride);
    row.uncertainty->covariance(row.own, row.own, out_.V[g]);
    const auto response = out_.response.middleCols(transition_.row_states()[g] * H_, H_);
    scratch_.noalias() = response * out_.V[g];
    out_.signal.noalias() += scratch_ * response.transpose();
  }
  return out_;
}

}  // namespace gpilot::plan
