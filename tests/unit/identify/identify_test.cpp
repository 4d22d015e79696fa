#include "gpilot/identify/identify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "gpilot/core/central_interval.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/identify/linear_model.hpp"
#include "gpilot/identify/structure_choice.hpp"
#include "gpilot/identify/validation.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/kalman.hpp"
#include "support/message_of.hpp"

namespace gpilot::identify {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// y' = 1.2 y - 0.4 y(t-1) + curvature tanh(2 u(t-2)) .. : second order, a dead time of 2 rows, in units that are
/// not 1.
ssm::Sequence recording(Index rows, bool curved, std::uint64_t seed, double noise_sd = 0.05) {
  RandomStream random(seed, Purpose::kTest);
  ssm::Sequence s{Matrix::Zero(rows, 1), Matrix::Zero(rows, 1)};
  Vector y = Vector::Zero(rows);
  for (Index t = 0; t < rows; ++t) {
    s.controls(t, 0) = t % 5 == 0 ? 2.0 * random.normal() : s.controls(t - 1, 0);
  }
  for (Index t = 1; t < rows; ++t) {
    const double u = s.controls(std::max<Index>(0, t - 3), 0);
    y(t) = 1.2 * y(t - 1) - 0.4 * (t > 1 ? y(t - 2) : 0.0) + (curved ? std::tanh(1.5 * u) : 0.3 * u);
  }
  for (Index t = 0; t < rows; ++t) {
    s.outputs(t, 0) = 50.0 + 10.0 * (y(t) + noise_sd * random.normal());
  }
  return s;
}

ssm::ModelSpec columns() {
  ssm::ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"y"};
  spec.inducing = 8;
  return spec;
}

double free_run_rmse(const ssm::Model& model, const ssm::Dynamics& dynamics, const ssm::Sequence& s, Index warmup) {
  const ssm::Prediction run = ssm::Predictor(model, dynamics).free_run(s, {.warmup = warmup, .draws = 50, .seed = 1});
  const Index rows = s.rows() - warmup;
  return std::sqrt((run.mean - s.outputs).bottomRows(rows).squaredNorm() / static_cast<double>(rows));
}

bool same(const ssm::Dynamics& a, const ssm::Dynamics& b) {
  return a.parameters.mean_weights == b.parameters.mean_weights && a.parameters.log_q == b.parameters.log_q &&
         a.parameters.log_r == b.parameters.log_r && a.parameters.C == b.parameters.C &&
         a.parameters.Z == b.parameters.Z && a.parameters.log_length_scales == b.parameters.log_length_scales;
}

TEST(LinearModel, EqualsTheKalmanFilterOfItsEquations) {
  const ssm::Sequence s = recording(160, false, 1);
  const ssm::Model model = identify({s}, columns(), {.structure = StateKind::kLinear, .states = 3});
  EXPECT_EQ(model.gp.structure.inducing, 0);  // the Gaussian process is switched off
  EXPECT_TRUE(model.gp.structure.gp_rows().empty());
  constexpr Index kWarmup = 100;
  ssm::Dynamics dynamics = model.gp;
  dynamics.spread.resize(0);
  const ssm::Prediction run = ssm::Predictor(model, dynamics).free_run(s, {.warmup = kWarmup, .draws = 0});

  // The textbook's filter and smoother: outputs after the warm-up are not there, so smoothing them is predicting.
  ssm::Sequence seen = s;
  seen.outputs.bottomRows(s.rows() - kWarmup).setConstant(kNaN);
  const ssm::Series series = ssm::concatenate({dynamics.delayed(model.scaling.to_scaled(seen))});
  const test::KalmanResult kalman =
      test::kalman_rts(inference::linear_part(dynamics.structure, dynamics.parameters), series);
  const ssm::Parameters& p = dynamics.parameters;
  const Index D = dynamics.structure.states;
  for (Index t = kWarmup; t < s.rows(); ++t) {
    const double mean = p.C.row(0).dot(kalman.mean.col(t)) + p.d(0);
    const double variance =
        p.C.row(0) * kalman.covariance.middleCols(D * t, D) * p.C.row(0).transpose() + std::exp(p.log_r(0));
    EXPECT_NEAR(run.mean(t, 0), model.scaling.output_offset(0) + model.scaling.output_scale(0) * mean, 1e-5);
    EXPECT_NEAR(run.sd(t, 0), model.scaling.output_scale(0) * std::sqrt(variance), 1e-5);
  }
}

TEST(LinearModel, FindsOrderAndDeadTime) {
  const ssm::Sequence s = recording(400, false, 2, 0.02);
  const ssm::Model model = identify({s}, columns(), {.structure = StateKind::kLinear});
  EXPECT_LT(free_run_rmse(model, model.gp, recording(200, false, 3, 0.0), 30), 0.5);  // of a range of 40
  EXPECT_EQ(model.linear.spread.size(), 1);
  EXPECT_GT(model.linear.spread(0), 0.0);
}

/// From 12 rows on: of the orders that the rows bear, by validation or, below 40 rows, by Akaike's criterion.
TEST(LinearModel, FewRowsBearALowOrder) {
  for (const Index rows : {12, 17, 20, 30, 39, 40, 44, 55}) {
    const ssm::Sequence s = recording(rows, false, static_cast<std::uint64_t>(rows), 0.02);
    const ssm::Model model = identify({s}, columns(), {.structure = StateKind::kLinear});
    EXPECT_LE(model.gp.structure.states, 4) << rows;
    EXPECT_TRUE(std::isfinite(free_run_rmse(model, model.gp, s, rows / 3))) << rows;
    EXPECT_EQ(model.report.reason.find("Akaike") != std::string::npos, rows < kShortestValidated) << rows;
  }
  const std::string refusal = test::message_of<InputError>(
      [] { identify({recording(11, false, 1)}, columns(), {.structure = StateKind::kLinear}); });
  EXPECT_NE(refusal.find("11 rows"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("at least 12"), std::string::npos) << refusal;
}

TEST(LinearModel, AnOffsetOfTheOutputsChangesNothing) {
  ssm::Sequence s = recording(120, false, 5);
  // Values that an offset leaves exact, with a standard deviation of about .5.
  s.outputs = (s.outputs.array() * (1024.0 / 40.0)).round() / 1024.0;
  ssm::Sequence far = s;
  far.outputs.array() += 1e9;
  const IdentifyOptions options{.structure = StateKind::kLinear, .states = 2, .dead_time = 2};
  const ssm::Model near_model = identify({s}, columns(), options);
  const ssm::Model far_model = identify({far}, columns(), options);
  const double rmse = free_run_rmse(near_model, near_model.gp, s, 40);
  EXPECT_NEAR(free_run_rmse(far_model, far_model.gp, far, 40), rmse, 1e-6 * rmse);
  EXPECT_NEAR(far_model.output_sd(0), near_model.output_sd(0), 1e-9 * near_model.output_sd(0));
}

TEST(Validation, FoldsLeaveOutputsOutAndModelsDoNotSeeThem) {
  const ssm::Dataset data{recording(200, true, 4)};
  ssm::Dataset spoiled = data;
  spoiled[0].outputs.middleRows(100, 50).array() += 1000.0;  // the third quarter
  const StructureChoice choice{.kind = StateKind::kDelay,
                               .linear = {.order = 2, .dead_time = 1},
                               .dead_time = 1,
                               .output_lags = 2,
                               .input_lags = 1};
  IdentifyOptions options{.iterations = 5};
  const auto trained = [&](const ssm::Dataset& from, std::size_t fold) {
    const Problem problem(quarter_folds(from)[fold].training, columns());
    return fit_candidate(problem, choice, fit_linear_candidate(problem, choice.linear, options), columns(), options,
                         {.iterations = options.iterations})
        .dynamics;
  };
  ASSERT_EQ(quarter_folds(data).size(), 3U);
  EXPECT_TRUE(same(trained(data, 1), trained(spoiled, 1)));   // left out there: not a bit changes
  EXPECT_FALSE(same(trained(data, 0), trained(spoiled, 0)));  // trained on there: it would be noticed
  const std::vector<Fold> half = half_fold(data);
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(half[0].training[0].rows(), 100);
  EXPECT_EQ(half[0].blocks[0].begin, 100);
  EXPECT_EQ(half[0].blocks[0].end, 200);
}

TEST(Validation, BaselinesOfLeftOutRows) {
  ssm::Sequence s{Matrix::Zero(kShortestValidated, 0), Vector::LinSpaced(kShortestValidated, 0.0, 39.0)};
  s.outputs(9, 0) = kNaN;  // 8 is held over the second quarter, rows 10 to 19
  Fold fold{{s}, {{0, 10, 20}}};
  fold.training[0].outputs.middleRows(10, 10).setConstant(kNaN);
  const BaselineErrors errors = baseline_errors({s}, {fold}, Vector::Constant(1, 2.0));
  double hold = 0.0;
  double from_mean = 0.0;
  const double mean = (36.0 + 590.0) / 29.0;  // of 0 to 8 and 20 to 39
  for (int t = 10; t < 20; ++t) {
    hold += std::pow((t - 8.0) / 2.0, 2) / 10.0;
    from_mean += std::pow((t - mean) / 2.0, 2) / 10.0;
  }
  EXPECT_NEAR(errors.hold, std::sqrt(hold), 1e-12);
  EXPECT_NEAR(errors.mean, std::sqrt(from_mean), 1e-12);
}

TEST(Validation, RunsUseNothingAfterTheirStart) {
  const ssm::Dataset data{recording(200, true, 4)};
  const std::vector<Fold> folds = quarter_folds(data);
  const Problem problem(folds[1].training, columns());
  const ssm::Dynamics dynamics = fit_linear_candidate(problem, {.order = 2, .dead_time = 2}, {}).dynamics;
  const Vector unit = Vector::Ones(1);
  const auto errors = [&](const ssm::Dataset& of) {
    return validate(columns(), problem.scaling, dynamics, of, folds[1], unit, 0, ssm::Detail::kDistribution);
  };
  ssm::Dataset later = data;
  later[0].outputs.bottomRows(50).array() += 1000.0;
  EXPECT_EQ(errors(data).squares, errors(later).squares);
  ssm::Dataset inside = data;  // what is to be predicted moves by 7: so does every error, and nothing else
  inside[0].outputs.middleRows(100, 50).array() += 7.0;
  const ValidationErrors a = errors(data);
  const ValidationErrors b = errors(inside);
  EXPECT_EQ(a.sd, b.sd);
  EXPECT_NE(a.squares, b.squares);
}

TEST(Validation, SpreadCoversNineTenths) {
  RandomStream random(1, Purpose::kTest);
  std::vector<double> z;
  for (int k = 0; k < 20000; ++k) {
    z.push_back(std::abs(2.0 * random.normal()));
  }
  EXPECT_NEAR(spread_of(z), 2.0, 0.05);
  EXPECT_EQ(spread_of({}), 1.0);
  EXPECT_TRUE(quarter_folds({recording(39, false, 1)}).empty());
  EXPECT_TRUE(half_fold({recording(39, false, 1)}).empty());
}

TEST(Identify, TakesTheGaussianProcessWhereTheSystemIsCurved) {
  const ssm::Model model = identify({recording(240, true, 5)}, columns(), {.states = 3, .iterations = 40});
  EXPECT_GT(model.gp.structure.inducing, 0);
  EXPECT_NE(model.report.structure, "linear");
  EXPECT_FALSE(model.report.reason.empty());
  EXPECT_FALSE(model.report.calibration.empty());
  EXPECT_GT(model.report.candidates.size(), 2U);
  const ssm::Sequence fresh = recording(200, true, 6);
  EXPECT_LT(free_run_rmse(model, model.gp, fresh, 30), 0.7 * free_run_rmse(model, model.linear, fresh, 30));
}

TEST(Identify, KeepsTheLinearModelWhereTheSystemIsLinear) {
  const ssm::Model model = identify({recording(240, false, 7)}, columns(), {.states = 3, .iterations = 20});
  const ssm::Sequence fresh = recording(200, false, 8);
  EXPECT_LT(free_run_rmse(model, model.gp, fresh, 30), 1.05 * free_run_rmse(model, model.linear, fresh, 30));
}

TEST(Identify, FlagsFixEveryChoice) {
  const ssm::Dataset data{recording(200, true, 9)};
  const ssm::Model delay =
      identify(data, columns(),
               {.structure = StateKind::kDelay, .dead_time = 2, .output_lags = 2, .input_lags = 0, .iterations = 10});
  EXPECT_EQ(delay.gp.dead_time, 2);
  EXPECT_EQ(delay.gp.input_lags, 0);
  EXPECT_EQ(delay.spec.states, (std::vector<std::string>{"y", "y(t-1)"}));
  ASSERT_EQ(delay.gp.structure.shifts.size(), 1U);
  const ssm::Model subspace =
      identify(data, columns(), {.structure = StateKind::kSubspace, .order = 3, .dead_time = 1, .iterations = 10});
  EXPECT_EQ(subspace.gp.structure.states, 3);
  EXPECT_EQ(subspace.gp.structure.gp_rows().size(), 1U);
  EXPECT_TRUE(subspace.spec.learn_C);
}

TEST(Identify, SurvivesAModelFile) {
  const ssm::Dataset data{recording(150, true, 10)};
  for (const StateKind kind : {StateKind::kLinear, StateKind::kDelay, StateKind::kSubspace}) {
    const ssm::Model model =
        identify(data, columns(), {.structure = kind, .order = 2, .dead_time = 1, .iterations = 5});
    const ssm::Model again = io::parse_model(io::format_model(model), "model.json");
    const ssm::PredictOptions options{.warmup = 60, .draws = 20, .seed = 3};
    for (const bool linear : {false, true}) {
      const ssm::Prediction a = ssm::Predictor(model, linear ? model.linear : model.gp).free_run(data[0], options);
      const ssm::Prediction b = ssm::Predictor(again, linear ? again.linear : again.gp).free_run(data[0], options);
      EXPECT_EQ(a.mean, b.mean) << name(kind);
      EXPECT_EQ(a.sd, b.sd) << name(kind);
    }
  }
}

Index rows_of(const ssm::Dataset& data) {
  Index rows = 0;
  for (const ssm::Sequence& sequence : data) {
    rows += sequence.rows();
  }
  return rows;
}

TEST(JudgedPart, IsAllOfShortDataAndStretchesOfLongOnes) {
  EXPECT_TRUE(judged_part({recording(2000, true, 1)}).empty());
  const ssm::Sequence whole = recording(20000, true, 1);
  const ssm::Dataset part = judged_part({whole});
  ASSERT_EQ(part.size(), 3U);
  EXPECT_EQ(rows_of(part), 1500);
  EXPECT_FALSE(part[0].broad_start);
  EXPECT_TRUE(part[1].broad_start);  // its first state may be anywhere
  EXPECT_EQ(part[0].outputs, whole.outputs.topRows(500));
  EXPECT_EQ(part[2].outputs, whole.outputs.bottomRows(500));
  EXPECT_EQ(part[2].controls, whole.controls.bottomRows(500));
}

TEST(JudgedPart, TakesWholeSequencesWhereTheyAreShort) {
  const ssm::Dataset part = judged_part(ssm::Dataset(200, recording(100, true, 1)));
  EXPECT_EQ(part.size(), 15U);
  EXPECT_EQ(rows_of(part), 1500);
}

TEST(JudgedPart, PassesOverStretchesWithoutOutputs) {
  ssm::Sequence whole = recording(20000, true, 1);
  whole.outputs.topRows(700).setConstant(kNaN);
  whole.outputs.bottomRows(9000).setConstant(kNaN);
  for (const ssm::Sequence& stretch : judged_part({whole})) {
    EXPECT_LT(stretch.outputs.array().isNaN().count(), 250);
  }
}

TEST(Identify, LongDataAreJudgedByAPartAndLearnedFromAsAWhole) {
  const ssm::Dataset data{recording(6000, false, 3)};
  const ssm::Model model = identify(data, columns(), {.structure = StateKind::kLinear, .order = 2});
  EXPECT_NE(model.report.reason.find("judged by 1500 of the 6000 rows"), std::string::npos) << model.report.reason;
  EXPECT_EQ(model.states.rows(), 6000);
  const ssm::Sequence fresh = recording(400, false, 4);
  EXPECT_LT(free_run_rmse(model, model.gp, fresh, 100), 0.7);  // the noise is 0.5
}

TEST(Identify, SaysWhereNothingCanBePredicted) {
  RandomStream random(3, Purpose::kTest);
  ssm::Sequence walk{Matrix::Zero(150, 1), Matrix::Zero(150, 1)};
  for (Index t = 0; t < 150; ++t) {
    walk.controls(t, 0) = random.normal();  // does nothing
    walk.outputs(t, 0) = (t > 0 ? walk.outputs(t - 1, 0) : 0.0) + random.normal();
  }
  const ssm::Model model = identify({walk}, columns(), {.states = 2});
  EXPECT_EQ(model.report.status, ssm::FitStatus::kNotUseful);
  EXPECT_NE(model.report.message.find("holding the last value by"), std::string::npos) << model.report.message;
  EXPECT_EQ(identify({recording(150, false, 8)}, columns(), {.states = 3}).report.status, ssm::FitStatus::kConverged);
}

TEST(Identify, AStopKeepsTheBestSoFar) {
  const std::atomic<bool> stop{true};
  for (const Index rows : {200, 6000}) {
    const ssm::Dataset data{recording(rows, true, 3)};
    const ssm::Model model = identify(data, columns(), {.stop = &stop});
    EXPECT_EQ(model.report.status, ssm::FitStatus::kInterrupted);
    EXPECT_EQ(model.report.structure, "linear");
    EXPECT_EQ(model.states.rows(), std::min<Index>(rows, 1500));
  }
}

TEST(Identify, SameSeedSameBits) {
  const ssm::Dataset data{recording(120, true, 11)};
  const IdentifyOptions options{.structure = StateKind::kDelay, .output_lags = 2, .input_lags = 1, .iterations = 10};
  EXPECT_TRUE(same(identify(data, columns(), options).gp, identify(data, columns(), options).gp));
}

TEST(Identify, SameBitsForAnyNumberOfThreads) {
  const ssm::Dataset data{recording(120, true, 11)};
  const auto with = [&](int threads) {
    return identify(data, columns(), {.states = 3, .iterations = 10, .threads = threads});
  };
  const ssm::Model one = with(1);
  const ssm::Model three = with(3);
  EXPECT_EQ(one.report.message, three.report.message);
  EXPECT_TRUE(same(one.gp, three.gp));
}

TEST(Identify, SeveralRecordingsWithOffsets) {
  ssm::Dataset data;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    data.push_back(recording(150, false, seed));
    data.back().outputs.array() += 30.0 * static_cast<double>(seed);
  }
  const ssm::Model with = identify(data, columns(), {.structure = StateKind::kLinear, .offset_per_sequence = true});
  ssm::Sequence fresh = recording(150, false, 12);
  fresh.outputs.array() += 55.0;
  EXPECT_LT(free_run_rmse(with, with.gp, fresh, 60), 3.0);  // found from the warm-up
  EXPECT_EQ(with.gp.structure.shifts.size(), 1U);
}

TEST(Identify, RefusesWhatItCannotUse) {
  const ssm::Dataset data{recording(100, true, 1)};
  const auto refusal = [&](const IdentifyOptions& options) {
    return test::message_of<InputError>([&] { identify(data, columns(), options); });
  };
  EXPECT_NE(refusal({.states = 0}).find("states: 0"), std::string::npos);
  EXPECT_NE(refusal({.order = 99}).find("order: 99"), std::string::npos);
  EXPECT_NE(refusal({.dead_time = -1}).find("dead-time: -1"), std::string::npos);
  EXPECT_NE(refusal({.iterations = 0}).find("iterations: 0"), std::string::npos);
  ssm::ModelSpec two = columns();
  two.outputs = {"y", "z"};
  EXPECT_NE(test::message_of<InputError>([&] { identify(data, two, {}); }).find("expected 1 and 2"), std::string::npos);
  EXPECT_NE(test::message_of<InputError>([] { state_kind_from_name("x"); }).find("unknown structure 'x'"),
            std::string::npos);
}

}  // namespace
}  // namespace gpilot::identify
