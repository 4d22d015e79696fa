#include "gpilot/trials/trajectory_test.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/batch_filter.hpp"
#include "gpilot/ssm/ensemble.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/trials/scores.hpp"

namespace gpilot::trials {

namespace {

constexpr double kLargestError = 10.0;  ///< in units of the test standard deviation

/// (user - offset) / scale, a row each.
Matrix to_scaled(const Matrix& user, const Vector& offset, const Vector& scale) {
  return (user.colwise() - offset).array().colwise() / scale.array();
}

std::vector<FreeRun> free_runs_of(const ssm::Dataset& sequences, Index rows) {
  std::vector<FreeRun> runs;
  for (Index start = 0; start < rows; start += start == 0 ? kFirstFiltered : kBetweenStarts) {
    for (std::size_t n = 0; n < sequences.size(); ++n) {
      const Index steps = std::min(kFreeSteps, sequences[n].rows() - 1 - start);
      if (steps >= kFewestFreeSteps && !(start == 0 && sequences[n].broad_start)) {
        runs.push_back({.trajectory = static_cast<Index>(n), .start = start, .steps = steps});
      }
    }
  }
  return runs;
}

/// Predictions of one model on the test trajectories, and their errors.
class TrajectoryTest {
 public:
  TrajectoryTest(const Trajectories& data, const ssm::Model& model)
      : data_(data),
        scaling_(model.scaling),
        transition_(model.gp.structure, model.gp.parameters, model.gp.weights),
        filter_(transition_, gp::make_nodes(gp::NodeRule::kCubature3, model.gp.structure.states)),
        output_squares_(Vector::Zero(data.output_sd.size())),
        free_counts_(Vector::Zero(data.output_sd.size())),
        spread_(model.gp.spread.size() > 0 ? model.gp.spread : Vector(Vector::Ones(data.output_sd.size()))) {}

  /// In the order of Evaluation::names().
  std::vector<double> run() {
    const ssm::BeliefBatch starts = filter_pass();
    const double diverged = free_runs(starts);
    std::vector<double> values{root_mean(output_squares_(data_.judged).sum(), free_counts_(data_.judged).sum()),
                               root_mean(one_step_squares_, one_step_count_),
                               scores_.nlpd(),
                               scores_.coverage(),
                               one_step_scores_.coverage(),
                               diverged};
    for (Index e = 0; e < output_squares_.size(); ++e) {
      values.push_back(data_.output_sd(e) * root_mean(output_squares_(e), free_counts_(e)));
    }
    return values;
  }

 private:
  static double root_mean(double squares, double count) { return std::sqrt(squares / count); }

  /// Errors of the outputs of a batch, 0 where the truth is unknown, and their standard deviations, in units of the
  /// test's. [E x N]
  void compare(const ssm::BeliefBatch& beliefs, const Matrix& truth, Matrix& error, Matrix& sd) const {
    filter_.outputs(beliefs, error, sd);
    const Vector unit = scaling_.output_scale.cwiseQuotient(data_.output_sd);
    error = (unit.asDiagonal() * error).colwise() + scaling_.output_offset.cwiseQuotient(data_.output_sd);
    error -= data_.output_sd.cwiseInverse().asDiagonal() * truth;
    error = truth.array().isNaN().select(0.0, error);
    for (Index e = 0; e < error.rows(); ++e) {
      for (Index n = 0; n < error.cols() && data_.turns(e) > 0.0; ++n) {
        error(e, n) = ssm::nearest_turn(error(e, n), 0.0, data_.turns(e));
      }
    }
    error = error.cwiseMax(-kLargestError).cwiseMin(kLargestError);
    if (data_.measured) {
      sd.colwise() += transition_.parameters().log_r.array().exp().matrix();
    }
    sd = unit.asDiagonal() * sd.cwiseMax(0.0).cwiseSqrt();
  }

  Matrix scaled_controls(Index row) const {
    return to_scaled(data_.controls[static_cast<std::size_t>(row)], scaling_.control_offset, scaling_.control_scale);
  }

  ssm::BeliefBatch initial_beliefs() const {
    const Index D = transition_.structure().states;
    ssm::BeliefBatch beliefs = filter_.initial(data_.count());
    const ssm::BeliefBatch anywhere = filter_.initial(1, true);
    for (Index n = 0; n < data_.count(); ++n) {
      if (data_.broad[static_cast<std::size_t>(n)]) {
        beliefs.mean.col(n) = anywhere.mean;
        beliefs.covariance.middleCols(n * D, D) = anywhere.covariance;
      }
    }
    return beliefs;
  }

  /// Filters all rows, adds up one-step errors, and returns the beliefs that free runs start from, side by side.
  ssm::BeliefBatch filter_pass() {
    const Index D = transition_.structure().states;
    ssm::BeliefBatch beliefs = initial_beliefs();
    ssm::BeliefBatch starts = filter_.initial(std::ssize(data_.runs));
    std::vector<bool> held(static_cast<std::size_t>(data_.count()), false);
    std::size_t next = 0;  // of the runs
    for (Index row = 0; row < data_.rows(); ++row) {
      const Matrix& outputs = data_.outputs[static_cast<std::size_t>(row)];
      if (row > 0) {
        filter_.predict(beliefs, scaled_controls(row - 1), held);
        add_one_step_errors(beliefs, row);
      }
      filter_.update(beliefs, to_scaled(outputs, scaling_.output_offset, scaling_.output_scale));
      for (; next < data_.runs.size() && data_.runs[next].start == row; ++next) {
        const Index n = data_.runs[next].trajectory;
        const auto k = static_cast<Index>(next);
        starts.mean.col(k) = beliefs.mean.col(n);
        starts.covariance.middleCols(k * D, D) = beliefs.covariance.middleCols(n * D, D);
      }
    }
    return starts;
  }

  /// A trajectory that began anywhere counts once it has warmed up.
  void add_one_step_errors(const ssm::BeliefBatch& beliefs, Index row) {
    Matrix error;
    Matrix sd;
    Matrix truth = data_.truth[static_cast<std::size_t>(row)];
    for (Index n = 0; n < truth.cols() && row <= kFirstFiltered; ++n) {
      if (data_.broad[static_cast<std::size_t>(n)]) {
        truth.col(n).setConstant(kNaN);
      }
    }
    compare(beliefs, truth, error, sd);
    for (Index n = 0; n < error.cols(); ++n) {
      for (const Index e : data_.judged) {
        if (!std::isnan(truth(e, n))) {
          one_step_squares_ += error(e, n) * error(e, n);
          one_step_count_ += 1.0;
          one_step_scores_.add(error(e, n), sd(e, n));
        }
      }
    }
  }

  /// Runs ahead from all starts, each by the same draws of the function; returns the share of runs most of whose draws
  /// diverged.
  double free_runs(const ssm::BeliefBatch& starts) {
    const Index D = transition_.structure().states;
    ssm::DrawnFunctions functions(transition_, kFreeDraws, kDrawSeed);
    Index diverged = 0;
    for (std::size_t k = 0; k < data_.runs.size(); ++k) {
      const FreeRun& run = data_.runs[k];
      const auto n = static_cast<Index>(k);
      ssm::Ensemble ensemble(functions, {starts.mean.col(n), starts.covariance.middleCols(n * D, D)}, kDrawSeed);
      for (Index row = run.start + 1; row <= run.start + run.steps; ++row) {
        ensemble.advance(scaled_controls(row - 1).col(run.trajectory));
        add_free_errors(ensemble.outputs(), data_.truth[static_cast<std::size_t>(row)].col(run.trajectory));
      }
      diverged += 2 * std::ranges::count(ensemble.diverged(), true) > kFreeDraws ? 1 : 0;
    }
    return static_cast<double>(diverged) / static_cast<double>(data_.runs.size());
  }

  /// `outputs` [draws x E] are scaled, `truth` [E] is not.
  void add_free_errors(const Matrix& outputs, const Vector& truth) {
    const Vector unit = scaling_.output_scale.cwiseQuotient(data_.output_sd);
    for (Index e = 0; e < truth.size(); ++e) {
      if (std::isnan(truth(e))) {
        continue;
      }
      const ssm::CentralDraws draws = ssm::central(outputs.col(e));
      const double predicted = unit(e) * draws.median + scaling_.output_offset(e) / data_.output_sd(e);
      const double error = std::clamp(ssm::nearest_turn(predicted - truth(e) / data_.output_sd(e), 0.0, data_.turns(e)),
                                      -kLargestError, kLargestError);
      output_squares_(e) += error * error;
      free_counts_(e) += 1.0;
      if (std::ranges::find(data_.judged, e) != data_.judged.end()) {
        const double noise = data_.measured ? std::exp(transition_.parameters().log_r(e)) : 0.0;
        scores_.add(error, spread_(e) * unit(e) * std::sqrt(draws.sd * draws.sd + noise));
      }
    }
  }

  const Trajectories& data_;
  const ssm::Scaling& scaling_;
  ssm::Transition transition_;
  ssm::BatchFilter filter_;
  Vector output_squares_;  ///< [E] of free runs, in units of the test sd
  Vector free_counts_;     ///< [E] values they are of
  double one_step_squares_ = 0.0;
  double one_step_count_ = 0.0;
  Vector spread_;  ///< [E] calibrated factor on the sd of a free run
  Scores scores_, one_step_scores_;
};

}  // namespace

Trajectories side_by_side(const TestSet& set, std::vector<Index> judged) {
  Trajectories t;
  t.judged = std::move(judged);
  const auto N = static_cast<Index>(set.sequences.size());
  Index rows = 0;
  for (const ssm::Sequence& sequence : set.sequences) {
    rows = std::max(rows, sequence.rows());
    t.broad.push_back(sequence.broad_start);
  }
  for (Index row = 0; row < rows; ++row) {
    Matrix c(set.sequences.front().controls.cols(), N);
    Matrix y = Matrix::Constant(set.output_sd.size(), N, kNaN);
    Matrix truth = y;
    for (Index n = 0; n < N; ++n) {
      const auto k = static_cast<std::size_t>(n);
      const Index last = set.sequences[k].rows() - 1;
      c.col(n) = set.sequences[k].controls.row(std::min(row, last - 1)).transpose();
      if (row <= last) {
        y.col(n) = set.sequences[k].outputs.row(row).transpose();
        truth.col(n) = set.truth[k].row(row).transpose();
      }
    }
    t.controls.push_back(std::move(c));
    t.outputs.push_back(std::move(y));
    t.truth.push_back(std::move(truth));
  }
  t.runs = free_runs_of(set.sequences, rows);
  t.output_sd = set.output_sd;
  t.turns = Vector::Zero(set.output_sd.size());
  return t;
}

std::vector<std::string> trajectory_metrics(const std::vector<std::string>& outputs) {
  std::vector<std::string> names{"rmse", "one_step", "nlpd", "coverage90", "coverage90_one_step", "diverged"};
  for (const std::string& output : outputs) {
    names.push_back("rmse." + output);
  }
  return names;
}

std::vector<double> test_on_trajectories(const Trajectories& trajectories, const ssm::Model& model) {
  return TrajectoryTest(trajectories, model).run();
}

double held_rmse(const Trajectories& t) {
  double squares = 0.0;
  double count = 0.0;
  for (const FreeRun& run : t.runs) {
    for (const Index e : t.judged) {
      double held = kNaN;
      for (Index row = 0; row <= run.start + run.steps; ++row) {
        const double y = t.outputs[static_cast<std::size_t>(row)](e, run.trajectory);
        if (row <= run.start) {
          held = std::isnan(y) ? held : y;
        } else if (!std::isnan(y) && !std::isnan(held)) {
          const double error = ssm::nearest_turn((held - y) / t.output_sd(e), 0.0, t.turns(e));
          squares += std::pow(std::clamp(error, -kLargestError, kLargestError), 2);
          count += 1.0;
        }
      }
    }
  }
  return std::sqrt(squares / count);
}

}  // namespace gpilot::trials
