#include "gpilot/inference/batches.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/bound_optimiser.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/report.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/transition.hpp"
#include "support/message_of.hpp"
#include "support/toy_data.hpp"

namespace gpilot::inference {
namespace {

using test::message_of;
using test::quick_options;
using test::toy_sequence;
using test::toy_spec;

BatchOptions small_batches() {
  BatchOptions batches;
  batches.rows = 60;
  batches.length = 20;
  batches.count = 2;
  batches.piece = 70;
  batches.overlap = 10;
  return batches;
}

ssm::Dataset two_recordings() {
  return {toy_sequence(300), toy_sequence(90, 2)};
}

double free_run_error(const ssm::Model& model) {
  const ssm::Sequence fresh = toy_sequence(60, 9, 0.0);
  const ssm::Prediction prediction =
      ssm::Predictor(model, model.gp).free_run(fresh, {.warmup = 1, .draws = 0, .seed = 0});
  return (prediction.mean - fresh.outputs).norm() / (fresh.outputs.array() - fresh.outputs.mean()).matrix().norm();
}

/// Mean of the learned function at a few points, scaled.
Vector function_of(const ssm::Dynamics& dynamics, const std::vector<gp::Weights>& weights) {
  Matrix X(9, 2);
  X << Vector::LinSpaced(9, -1.5, 1.5), Vector::LinSpaced(9, 1.0, -1.0);
  Matrix mean;
  Matrix variance;
  ssm::Transition(dynamics.structure, dynamics.parameters, weights).moments(X, mean, variance);
  return mean.col(0);
}

TEST(Batches, CoverAllPartsWithoutLeavingARecording) {
  const ssm::Dataset data{toy_sequence(1000), toy_sequence(15, 2), toy_sequence(400, 3)};
  const RecordingsInMemory recordings(data);
  EXPECT_EQ(recordings.total_rows(), 1415);
  BatchOptions batches;
  batches.rows = 200;
  batches.length = 20;
  batches.count = 3;
  const auto drawn = draw_batches(recordings, batches, 7);
  ASSERT_EQ(drawn.size(), 3U);
  for (const std::vector<Window>& batch : drawn) {
    ASSERT_EQ(batch.size(), 10U);
    Index in_first = 0;
    for (const Window& w : batch) {
      EXPECT_GE(w.begin, 0);
      EXPECT_LE(w.end, recordings.rows(w.recording));
      EXPECT_EQ(w.rows(), w.recording == 1 ? 15 : 20);
      in_first += w.recording == 0 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(in_first), 7.0, 1.01);  // 1000 of 1415 rows
  }
  EXPECT_EQ(drawn, draw_batches(recordings, batches, 7));
  EXPECT_NE(drawn, draw_batches(recordings, batches, 8));
}

TEST(Batches, ReadGivesTheRowsOfEveryWindow) {
  const ssm::Dataset data = two_recordings();
  const std::vector<Window> windows{{0, 5, 9}, {0, 7, 12}, {1, 0, 3}};
  std::size_t visited = 0;
  RecordingsInMemory(data).read(windows, [&](std::size_t k, const ssm::Sequence& rows) {
    EXPECT_EQ(k, visited++);
    const ssm::Sequence& all = data[static_cast<std::size_t>(windows[k].recording)];
    EXPECT_EQ(rows.outputs, all.outputs.middleRows(windows[k].begin, windows[k].rows()));
    EXPECT_EQ(rows.controls, all.controls.middleRows(windows[k].begin, windows[k].rows()));
    return k < 1;
  });
  EXPECT_EQ(visited, 2U);
}

TEST(BatchFit, LearnsTheToySystem) {
  const ssm::Dataset data = two_recordings();
  const ssm::Model model = fit_batches(RecordingsInMemory(data), toy_spec(), quick_options(), small_batches());
  EXPECT_LT(free_run_error(model), 0.25);
  const ssm::Summary summary = ssm::summarize(model, model.gp);
  EXPECT_EQ(summary.rows, 390);
  EXPECT_EQ(summary.sequences, 2);
  EXPECT_EQ(model.states.rows(), model.starts.back());
  double mean = 0.0;
  double sd = 0.0;
  ssm::column_statistics(data, 0, 0.0, mean, sd);
  EXPECT_NEAR(model.output_mean(0), mean, 1e-12);
  EXPECT_NEAR(model.output_sd(0), sd, 1e-12);
}

TEST(BatchFitThreads, SameBitsForAnyNumberOfThreads) {
  const ssm::Dataset data = two_recordings();
  FitOptions options = quick_options();
  options.rounds = 1;
  options.polish = 5;
  BatchOptions batches = small_batches();
  batches.piece = 200;
  const ssm::Model one = fit_batches(RecordingsInMemory(data), toy_spec(), options, batches);
  options.threads = 2;
  const ssm::Model two = fit_batches(RecordingsInMemory(data), toy_spec(), options, batches);
  EXPECT_EQ(one.gp.weights.front().mu, two.gp.weights.front().mu);
  EXPECT_EQ(one.gp.parameters.Z, two.gp.parameters.Z);
  EXPECT_EQ(one.states.m, two.states.m);
}

/// The passes in pieces arrive at the q(v) that smoothing whole recordings arrives at.
TEST(BatchFit, FunctionIsThatOfSmoothingAllRowsAtOnce) {
  const ssm::Dataset data = two_recordings();
  BatchOptions batches = small_batches();
  batches.sweeps = 6;
  const ssm::Model model = fit_batches(RecordingsInMemory(data), toy_spec(), quick_options(), batches);
  ssm::Dataset scaled;
  for (const ssm::Sequence& sequence : data) {
    scaled.push_back(model.scaling.to_scaled(sequence));
  }
  const ssm::Series series = ssm::concatenate(scaled);
  ssm::StatePosterior q = ssm::StatePosterior::zero(1, series.rows());
  q.m = series.outputs;
  q.S_chol.setConstant(0.05);
  ssm::Elbo elbo(model.gp.structure, series, gp::make_nodes(gp::NodeRule::kAuto, 1));
  Priors priors;
  priors.centre = model.gp.parameters;
  BoundOptimiser optimiser(elbo, priors, ssm::Free::defaults(model.gp.structure), model.gp.parameters, q);
  optimiser.e_step(60, 1e-9);
  const Vector whole = function_of(model.gp, optimiser.weights());
  EXPECT_LT((function_of(model.gp, model.gp.weights) - whole).cwiseAbs().maxCoeff(), 2e-3);
}

TEST(BatchFit, FewRowsAreTrainedOnAsAWhole) {
  const ssm::Dataset data{toy_sequence(40)};
  BatchOptions batches = small_batches();
  const ssm::Model whole = fit(data, toy_spec(), quick_options());
  const ssm::Model model = fit_batches(RecordingsInMemory(data), toy_spec(), quick_options(), batches);
  EXPECT_EQ(whole.gp.weights.front().mu, model.gp.weights.front().mu);
  EXPECT_EQ(whole.states.m, model.states.m);
}

/// What is declared of the first state holds for the recording's first row, not for sub-sequences.
TEST(BatchFit, KeepsADeclaredFirstState) {
  const ssm::Dataset data = two_recordings();
  ssm::ModelSpec spec = toy_spec();
  spec.x0_mean = Vector::Constant(1, 0.5);
  spec.x0_sd = Vector::Constant(1, 1e-3);
  const ssm::Model model = fit_batches(RecordingsInMemory(data), spec, quick_options(), small_batches());
  const ssm::Summary summary = ssm::summarize(model, model.gp);
  EXPECT_NEAR(summary.x0_mean(0), 0.5, 1e-12);
  EXPECT_NEAR(summary.x0_sd(0), 1e-3, 1e-12);
  EXPECT_LT(free_run_error(model), 0.25);
}

/// Stopped anywhere, there is a whole model that says so.
TEST(BatchFit, StoppedKeepsTheBestSoFar) {
  const ssm::Dataset data = two_recordings();
  for (const double where : {0.0, 0.5, 0.8, 0.95}) {
    std::atomic<bool> stop{false};
    FitOptions options = quick_options();
    double largest = 0.0;
    options.on_progress = [&](const Progress& progress) {
      EXPECT_GE(progress.fraction, largest);
      largest = progress.fraction;
      stop = stop || progress.fraction >= where;
    };
    options.stop = &stop;
    const ssm::Model model = fit_batches(RecordingsInMemory(data), toy_spec(), options, small_batches());
    EXPECT_EQ(model.report.status, ssm::FitStatus::kInterrupted) << where;
    EXPECT_EQ(model.states.rows(), model.starts.back()) << where;
    EXPECT_EQ(model.gp.weights.size(), 1U) << where;
    EXPECT_TRUE(std::isfinite(free_run_error(model))) << where;
  }
}

TEST(BatchFit, WrongOptionsAreNamed) {
  const ssm::Dataset data = two_recordings();
  const auto error_of = [&](const auto& change) {
    BatchOptions batches = small_batches();
    change(batches);
    return message_of<InputError>([&] { fit_batches(RecordingsInMemory(data), toy_spec(), quick_options(), batches); });
  };
  EXPECT_EQ(error_of([](BatchOptions& b) { b.rows = 5; }), "batch: 5 is below 10");
  EXPECT_EQ(error_of([](BatchOptions& b) { b.length = 0; }), "batch-length: 0 is below 10");
  EXPECT_EQ(error_of([](BatchOptions& b) { b.count = 0; }), "batches: 0 is below 1");
  EXPECT_EQ(error_of([](BatchOptions& b) { b.sweeps = 0; }), "sweeps: 0 is below 1");
  EXPECT_EQ(error_of([](BatchOptions& b) { b.piece = 1; }), "piece: 1 is below 2");
  EXPECT_EQ(error_of([](BatchOptions& b) { b.overlap = 0; }), "overlap: 0 is below 1");
  FitOptions options = quick_options();
  options.method = Method::kAdam;
  EXPECT_EQ(
      message_of<InputError>([&] { fit_batches(RecordingsInMemory(data), toy_spec(), options, small_batches()); }),
      "batches go with the methods em and lbfgs, not with adam");
}

}  // namespace
}  // namespace gpilot::inference
