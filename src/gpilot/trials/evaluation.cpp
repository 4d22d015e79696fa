#include "gpilot/trials/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/core/grid.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/batch_filter.hpp"
#include "gpilot/ssm/next_state.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/trials/test_set.hpp"

namespace gpilot::trials {

namespace {

/// Rows that free runs start from: row 0 is p(x_0), the others are filtered.
constexpr std::array<Index, 4> kStarts{0, 10, 25, 40};
// Part of the protocol (docs/results/protocol.md), like the numbers below: published figures depend on them.
constexpr Index kFreeSteps = 20;
constexpr Index kGridStates = 42;
constexpr Index kGridControls = 11;

// In units of the test standard deviation. The bounds keep one model that went astray from deciding a mean over trials.
constexpr double kLargestError = 10.0;
constexpr double kSmallestSd = 0.01;
constexpr double kLargestSurprise = 100.0;        ///< nats per value
constexpr double kNormal90 = 1.6448536269514722;  ///< half width of the central 90 % of a standard normal

/// Sums over predicted values, all in units of the test standard deviation.
class Scores {
 public:
  /// `error` is not clamped here; `sd` is what the model believes.
  void add(double error, double sd) {
    const double z = error / std::max(sd, kSmallestSd);
    const double surprise = 0.5 * (std::log(2.0 * std::numbers::pi) + z * z) + std::log(std::max(sd, kSmallestSd));
    surprise_ += std::min(surprise, kLargestSurprise);
    inside_ += std::abs(z) <= kNormal90 ? 1 : 0;
    ++count_;
  }
  double nlpd() const { return surprise_ / static_cast<double>(count_); }
  double coverage() const { return static_cast<double>(inside_) / static_cast<double>(count_); }

 private:
  double surprise_ = 0.0;
  Index inside_ = 0;
  Index count_ = 0;
};

/// The trajectories' columns side by side at every row, as a batch needs them. User units.
struct Trajectories {
  std::vector<Matrix> controls;  ///< per row [P x N]
  std::vector<Matrix> outputs;   ///< per row [E x N], NaN in row 0
  std::vector<Matrix> truth;     ///< per row [E x N]
  Vector output_sd;              ///< [E]
  std::vector<Index> judged;     ///< the outputs whose errors are pooled
  Vector turns;                  ///< [E] of outputs whose errors are wrapped, in units of output_sd; 0 for others
};

/// Full turns of the outputs that are angles.
Vector turns_of(const systems::SystemSpec& spec) {
  kernels::Angles angles;
  for (const Index d : spec.angles) {
    angles.push_back({.input = d});
  }
  return ssm::output_turns(angles, spec.emission);
}

Trajectories side_by_side(const TestSet& set, std::vector<Index> judged) {
  Trajectories t;
  t.judged = std::move(judged);
  const auto N = static_cast<Index>(set.sequences.size());
  for (Index row = 0; row <= kTestSteps; ++row) {
    Matrix c(set.sequences.front().controls.cols(), N);
    Matrix y(set.output_sd.size(), N);
    Matrix truth(set.output_sd.size(), N);
    for (Index n = 0; n < N; ++n) {
      const auto k = static_cast<std::size_t>(n);
      c.col(n) = set.sequences[k].controls.row(row).transpose();
      y.col(n) = set.sequences[k].outputs.row(row).transpose();
      truth.col(n) = set.truth[k].row(row).transpose();
    }
    t.controls.push_back(std::move(c));
    t.outputs.push_back(std::move(y));
    t.truth.push_back(std::move(truth));
  }
  t.output_sd = set.output_sd;
  t.turns = Vector::Zero(set.output_sd.size());
  return t;
}

/// A map's points and where it truly takes them.
struct Grid {
  Matrix states, controls;  ///< [points x D], [points x P]
  Matrix next;              ///< [points x D]
  Vector sd;                ///< [D] of `next` over the points
};

Grid make_grid(const systems::System& system) {
  const systems::SystemSpec& spec = system.spec();
  const Index D = system.state_dim();
  const Index P = system.control_dim();
  Box box{Vector(D + P), Vector(D + P)};
  box.low << spec.region.low, spec.control_box.low;
  box.high << spec.region.high, spec.control_box.high;
  std::vector<Index> points(static_cast<std::size_t>(D), kGridStates);
  points.resize(static_cast<std::size_t>(D + P), kGridControls);
  const Matrix X = regular_grid(box, points);
  Grid grid{X.leftCols(D), X.rightCols(P), Matrix(X.rows(), D), Vector()};
  for (Index n = 0; n < X.rows(); ++n) {
    grid.next.row(n) = system.next(X.row(n).head(D).transpose(), X.row(n).tail(P).transpose()).transpose();
  }
  grid.sd = (grid.next.rowwise() - grid.next.colwise().mean()).cwiseAbs2().colwise().mean().cwiseSqrt().transpose();
  return grid;
}

/// (user - offset) / scale, a row each.
Matrix to_scaled(const Matrix& user, const Vector& offset, const Vector& scale) {
  return (user.colwise() - offset).array().colwise() / scale.array();
}

}  // namespace

struct Evaluation::State {
  std::vector<std::string> names;
  std::vector<std::string> outputs;
  Index controls = 0;
  bool is_map = false;
  Grid grid;                  ///< a map's
  Trajectories trajectories;  ///< all others'
};

namespace {

/// Predictions of one model on the test trajectories, and their errors.
class TrajectoryTest {
 public:
  TrajectoryTest(const Trajectories& data, const ssm::Model& model)
      : data_(data),
        scaling_(model.scaling),
        transition_(model.gp.structure, model.gp.parameters, model.gp.weights),
        filter_(transition_, gp::make_nodes(gp::NodeRule::kCubature3, model.gp.structure.states)),
        output_squares_(Vector::Zero(data.output_sd.size())) {}

  /// In the order of Evaluation::names().
  std::vector<double> run() {
    const ssm::BeliefBatch starts = filter_pass();
    const double diverged = free_runs(starts);
    std::vector<double> values{root_mean(output_squares_(data_.judged).sum(), free_count_ * std::ssize(data_.judged)),
                               root_mean(one_step_squares_, one_step_count_), scores_.nlpd(), scores_.coverage(),
                               diverged};
    for (Index e = 0; e < output_squares_.size(); ++e) {
      values.push_back(data_.output_sd(e) * root_mean(output_squares_(e), free_count_));
    }
    return values;
  }

 private:
  static double root_mean(double squares, Index count) { return std::sqrt(squares / static_cast<double>(count)); }

  /// Errors of the outputs of a batch, and their standard deviations, in units of the test's. [E x N]
  void compare(const ssm::BeliefBatch& beliefs, const Matrix& truth, Matrix& error, Matrix& sd) const {
    filter_.outputs(beliefs, error, sd);
    const Vector unit = scaling_.output_scale.cwiseQuotient(data_.output_sd);
    error = (unit.asDiagonal() * error).colwise() + scaling_.output_offset.cwiseQuotient(data_.output_sd);
    error -= data_.output_sd.cwiseInverse().asDiagonal() * truth;
    for (Index e = 0; e < error.rows(); ++e) {
      for (Index n = 0; n < error.cols() && data_.turns(e) > 0.0; ++n) {
        error(e, n) = ssm::nearest_turn(error(e, n), 0.0, data_.turns(e));
      }
    }
    error = error.cwiseMax(-kLargestError).cwiseMin(kLargestError);
    sd = unit.asDiagonal() * sd.cwiseMax(0.0).cwiseSqrt();
  }

  Matrix scaled_controls(Index row) const {
    return to_scaled(data_.controls[static_cast<std::size_t>(row)], scaling_.control_offset, scaling_.control_scale);
  }

  /// Filters all rows, adds up one-step errors, and returns the beliefs that free runs start from, side by side.
  ssm::BeliefBatch filter_pass() {
    const Index N = data_.truth.front().cols();
    const Index D = transition_.structure().states;
    ssm::BeliefBatch beliefs = filter_.initial(N);
    ssm::BeliefBatch starts = filter_.initial(N * static_cast<Index>(kStarts.size()));
    std::vector<bool> held(static_cast<std::size_t>(N), false);
    Matrix error;
    Matrix sd;
    for (Index row = 1; row <= kTestSteps; ++row) {
      const auto r = static_cast<std::size_t>(row);
      filter_.predict(beliefs, scaled_controls(row - 1), held);
      compare(beliefs, data_.truth[r], error, sd);
      one_step_squares_ += error(data_.judged, Eigen::all).squaredNorm();
      one_step_count_ += std::ssize(data_.judged) * N;
      filter_.update(beliefs, to_scaled(data_.outputs[r], scaling_.output_offset, scaling_.output_scale));
      if (const auto* const start = std::ranges::find(kStarts, row); start != kStarts.end()) {
        const Index k = start - kStarts.begin();
        starts.mean.middleCols(k * N, N) = beliefs.mean;
        starts.covariance.middleCols(k * N * D, N * D) = beliefs.covariance;
      }
    }
    return starts;
  }

  /// Runs ahead from all starts together; returns the share of runs that diverged.
  double free_runs(ssm::BeliefBatch beliefs) {
    const Index N = data_.truth.front().cols();
    std::vector<bool> diverged(static_cast<std::size_t>(beliefs.count()), false);
    Matrix controls(transition_.structure().controls, beliefs.count());
    Matrix truth(output_squares_.size(), beliefs.count());
    Matrix error;
    Matrix sd;
    for (Index step = 1; step <= kFreeSteps; ++step) {
      for (std::size_t k = 0; k < kStarts.size(); ++k) {
        const Index row = kStarts[k] + step;
        controls.middleCols(static_cast<Index>(k) * N, N) = scaled_controls(row - 1);
        truth.middleCols(static_cast<Index>(k) * N, N) = data_.truth[static_cast<std::size_t>(row)];
      }
      filter_.predict(beliefs, controls, diverged);
      compare(beliefs, truth, error, sd);
      output_squares_ += error.rowwise().squaredNorm();
      free_count_ += error.cols();
      for (Index n = 0; n < error.cols(); ++n) {
        for (const Index e : data_.judged) {
          scores_.add(error(e, n), sd(e, n));
        }
      }
    }
    return static_cast<double>(std::ranges::count(diverged, true)) / static_cast<double>(diverged.size());
  }

  const Trajectories& data_;
  const ssm::Scaling& scaling_;
  ssm::Transition transition_;
  ssm::BatchFilter filter_;
  Vector output_squares_;  ///< [E] of free runs, in units of the test sd
  Index free_count_ = 0;   ///< per output
  double one_step_squares_ = 0.0;
  Index one_step_count_ = 0;
  Scores scores_;
};

std::vector<double> test_on_grid(const Grid& grid, const ssm::Model& model) {
  const ssm::NextState next = ssm::next_state(model, grid.states, grid.controls);
  const Matrix error = next.mean - grid.next;
  Scores scores;
  for (Index d = 0; d < error.cols(); ++d) {
    for (Index n = 0; n < error.rows(); ++n) {
      scores.add(error(n, d) / grid.sd(d), next.sd(n, d) / grid.sd(d));
    }
  }
  return {std::sqrt(error.squaredNorm() / static_cast<double>(error.size())), scores.nlpd(), scores.coverage()};
}

/// Throws InputError for a model of another system.
void check_columns(const std::vector<std::string>& outputs, Index controls, const ssm::Structure& s) {
  if (s.controls != controls || s.outputs != static_cast<Index>(outputs.size())) {
    throw InputError(fmt::format("model: {} controls and {} outputs, expected {} and {} as the system has", s.controls,
                                 s.outputs, controls, outputs.size()));
  }
}

}  // namespace

Evaluation::Evaluation(const systems::System& system, bool wrap_angles) {
  auto state = std::make_unique<State>();
  for (const systems::Channel& output : system.spec().outputs) {
    state->outputs.push_back(output.name);
  }
  state->controls = system.control_dim();
  state->is_map = system.is_map();
  if (state->is_map) {
    state->names = {"rmse", "nlpd", "coverage90"};
    state->grid = make_grid(system);
  } else {
    state->names = {"rmse", "one_step", "nlpd", "coverage90", "diverged"};
    for (const std::string& output : state->outputs) {
      state->names.push_back("rmse." + output);
    }
    state->trajectories = side_by_side(make_test_set(system), system.spec().own_outputs());
    if (wrap_angles) {
      state->trajectories.turns = turns_of(system.spec()).cwiseQuotient(state->trajectories.output_sd);
    }
  }
  state_ = std::move(state);
}

Evaluation::~Evaluation() = default;
Evaluation::Evaluation(Evaluation&&) noexcept = default;

const std::vector<std::string>& Evaluation::names() const {
  return state_->names;
}

std::vector<Metric> Evaluation::evaluate(const ssm::Model& model) const {
  check_columns(state_->outputs, state_->controls, model.gp.structure);
  const std::vector<double> values =
      state_->is_map ? test_on_grid(state_->grid, model) : TrajectoryTest(state_->trajectories, model).run();
  std::vector<Metric> metrics;
  for (std::size_t i = 0; i < values.size(); ++i) {
    metrics.push_back({state_->names[i], values[i]});
  }
  return metrics;
}

}  // namespace gpilot::trials
