#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/prediction.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/message_of.hpp"

namespace gpilot::ssm {
namespace {

using ::gpilot::test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ssm::Prediction gaussian(const Matrix& mean, const Matrix& sd) {
  ssm::Prediction p = ssm::Prediction::zero(mean.rows(), mean.cols());
  for (Index t = 0; t < mean.rows(); ++t) {
    p.set_gaussian(t, mean.row(t).transpose(), sd.row(t).transpose());
  }
  return p;
}

TEST(Score, MatchesValuesByHand) {
  Matrix truth(4, 2);
  truth << 1.0, kNaN,  //
      3.0, 0.0,        //
      kNaN, 2.0,       //
      -1.0, kNaN;
  Matrix sd(4, 2);
  sd << 1.0, 1.0, 2.0, 1.0, 1.0, 0.5, 0.5, 1.0;
  const Score s = score(gaussian(Matrix::Zero(4, 2), sd), truth);
  EXPECT_EQ(s.count, (std::vector<Index>{3, 2}));
  EXPECT_NEAR(s.rmse(0), std::sqrt((1.0 + 9.0 + 1.0) / 3.0), 1e-15);
  EXPECT_NEAR(s.rmse(1), std::sqrt(2.0), 1e-15);
  const double log_root = 0.5 * std::log(2.0 * std::numbers::pi);
  // z = 1, 1.5, -2 and log sd = 0, log 2, -log 2.
  EXPECT_NEAR(s.nlpd(0), log_root + 0.5 * (1.0 + 2.25 + 4.0) / 3.0, 1e-14);
  // z = 0, 4 and log sd = 0, -log 2.
  EXPECT_NEAR(s.nlpd(1), log_root + 0.5 * 16.0 / 2.0 - 0.5 * std::log(2.0), 1e-14);
  // |z| < 0.674, 1.645, 1.960.
  EXPECT_NEAR(s.coverage(0, 0), 0.0, 1e-15);
  EXPECT_NEAR(s.coverage(0, 1), 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(s.coverage(0, 2), 2.0 / 3.0, 1e-15);
  EXPECT_NEAR(s.coverage(1, 0), 0.5, 1e-15);
  EXPECT_NEAR(s.coverage(1, 2), 0.5, 1e-15);
}

TEST(Score, AnglesCountByTheirNearestTurn) {
  const double turn = 2.0 * std::numbers::pi;
  Matrix mean(3, 2);
  mean << 3.0, 3.0, 20.0, 20.0, 0.0, 0.0;
  Matrix truth = mean;
  truth.array() += 0.3;
  const Score near = score(gaussian(mean, Matrix::Ones(3, 2)), truth);
  truth.row(0).array() -= turn;
  truth.row(1).array() -= 3.0 * turn;
  ssm::Prediction prediction = gaussian(mean, Matrix::Ones(3, 2));
  prediction.turns(0) = turn;
  const Score s = score(prediction, truth);
  EXPECT_NEAR(s.rmse(0), 0.3, 1e-12);
  EXPECT_NEAR(s.nlpd(0), near.nlpd(0), 1e-12);
  EXPECT_EQ(s.coverage.row(0), near.coverage.row(0));
  EXPECT_GT(s.rmse(1), 10.0);  // the other output is no angle
}

TEST(Score, TellsTheIntervalsApart) {
  Matrix truth(4, 1);
  truth << 0.6, 1.6, -1.9, 2.1;
  const Score s = score(gaussian(Matrix::Zero(4, 1), Matrix::Ones(4, 1)), truth);
  EXPECT_EQ(s.coverage, (Matrix(1, 3) << 0.25, 0.5, 0.75).finished());
}

TEST(Score, LeavesOutTheFirstRows) {
  Matrix truth(3, 1);
  truth << 100.0, 3.0, 4.0;
  const Score s = score(gaussian(Matrix::Zero(3, 1), Matrix::Ones(3, 1)), truth, 1);
  EXPECT_EQ(s.count[0], 2);
  EXPECT_NEAR(s.rmse(0), std::sqrt(12.5), 1e-14);
}

TEST(Score, OutputThatWasNeverMeasuredIsNaN) {
  const Score s = score(gaussian(Matrix::Zero(2, 1), Matrix::Ones(2, 1)), Matrix::Constant(2, 1, kNaN));
  EXPECT_EQ(s.count[0], 0);
  EXPECT_TRUE(std::isnan(s.rmse(0)) && std::isnan(s.nlpd(0)) && s.coverage.array().isNaN().all());
}

TEST(Score, ShapesMustAgree) {
  EXPECT_EQ(message_of<InputError>([] { score(gaussian(Matrix::Zero(2, 1), Matrix::Ones(2, 1)), Matrix(3, 2)); }),
            "score: 2 x 1 predicted values for 3 x 2 outputs");
}

/// A random walk that is observed, with a linear baseline that pulls to 0: everything can be worked out by hand.
ssm::Model walk() {
  ssm::Model model;
  model.scaling = {.control_offset = Vector(0),
                   .control_scale = Vector(0),
                   .output_offset = Vector::Constant(1, 5.0),
                   .output_scale = Vector::Constant(1, 2.0),
                   .state_offset = Vector::Constant(1, 5.0),
                   .state_scale = Vector::Constant(1, 2.0)};
  model.output_mean = Vector::Constant(1, 4.0);
  model.output_sd = Vector::Constant(1, 3.0);
  ssm::Structure s;
  s.x0_mean = Vector::Zero(1);
  s.x0_sd = Vector::Ones(1);
  const Index features = s.features();
  model.gp = {s, ssm::default_parameters(s), {{Vector::Zero(features), 1e-14 * Matrix::Identity(features, features)}}};
  model.gp.parameters.log_q.setConstant(std::log(0.25));
  model.gp.parameters.log_r.setConstant(std::log(0.01));
  model.linear = model.gp;
  model.linear.parameters.mean_weights.setZero();  // x' = noise
  return model;
}

TEST(ScoreModel, PutsTheModelBesideItsBaselines) {
  const ssm::Model model = walk();
  ssm::Sequence data{Matrix(3, 0), Matrix(3, 1)};
  data.outputs << 7.0, 9.0, 4.0;
  const Scoreboard board = score_model(model, data, {.warmup = 1, .draws = 0});
  EXPECT_EQ(board.free_run.count[0], 2);
  // Row 0 filtered: scaled y = 1, gain 1 / 1.01; the free run stays there.
  const double filtered = 5.0 + 2.0 / 1.01;
  EXPECT_NEAR(board.free_run.rmse(0), std::hypot(9.0 - filtered, 4.0 - filtered) / std::sqrt(2.0), 1e-6);
  EXPECT_NEAR(board.mean.rmse(0), std::sqrt(0.5 * 25.0), 1e-12);
  EXPECT_NEAR(board.mean.nlpd(0), 0.5 * std::log(2.0 * std::numbers::pi) + std::log(3.0) + 0.25 * 25.0 / 9.0, 1e-12);
  EXPECT_NEAR(board.hold.rmse(0), std::sqrt(0.5 * (4.0 + 9.0)), 1e-12);
  EXPECT_TRUE(std::isnan(board.hold.nlpd(0)));
  const Scoreboard cold = score_model(model, data, {.warmup = 0, .draws = 0});
  EXPECT_EQ(cold.hold.rmse(0), cold.mean.rmse(0));  // nothing was measured that could be held
  EXPECT_NEAR(board.linear_free_run.rmse(0), std::sqrt(0.5 * (16.0 + 1.0)), 1e-6);
  EXPECT_NEAR(board.linear_one_step.rmse(0), board.linear_free_run.rmse(0), 1e-6);
  // One step: row 1 as the free run, row 2 from the filter after row 1 (variance 0.01/1.01 + 0.25 before it).
  const double variance = 0.01 / 1.01 + 0.25;
  const double second = filtered + variance / (variance + 0.01) * (9.0 - filtered);
  EXPECT_NEAR(board.one_step.rmse(0), std::hypot(9.0 - filtered, 4.0 - second) / std::sqrt(2.0), 1e-6);
  EXPECT_EQ(board.diverged, 0);
}

/// A recording that jumps by a turn is as well predicted as one that does not, by model and baselines alike.
TEST(ScoreModel, AJumpingAngleIsTheSameAngle) {
  ssm::Model model = walk();
  for (ssm::Dynamics* c : {&model.gp, &model.linear}) {
    c->structure.angles = {{0, 2.0}};
    const Index features = c->structure.features();
    c->weights = {{Vector::Zero(features), 1e-14 * Matrix::Identity(features, features)}};
  }
  ssm::Sequence whole{Matrix(4, 0), Matrix(4, 1)};
  whole.outputs << 5.0, 6.0, 6.5, 7.0;
  ssm::Sequence cut = whole;
  for (double& y : cut.outputs.reshaped()) {
    y = std::remainder(y, 2.0 * std::numbers::pi);
  }
  for (const Index draws : {0, 50}) {
    const ssm::PredictOptions options{.warmup = 1, .draws = draws};
    const Scoreboard a = score_model(model, whole, options);
    const Scoreboard b = score_model(model, cut, options);
    for (const auto part :
         {&Scoreboard::free_run, &Scoreboard::one_step, &Scoreboard::mean, &Scoreboard::linear_free_run}) {
      EXPECT_NEAR((a.*part).rmse(0), (b.*part).rmse(0), 1e-9);
      EXPECT_NEAR((a.*part).nlpd(0), (b.*part).nlpd(0), 1e-9);
      EXPECT_EQ((a.*part).coverage, (b.*part).coverage);
    }
    EXPECT_EQ(a.free_run.pit, b.free_run.pit);
  }
}

TEST(ScoreModel, NothingToScoreIsAnError) {
  ssm::Sequence data{Matrix(3, 0), Matrix::Constant(3, 1, kNaN)};
  data.outputs(0, 0) = 7.0;
  EXPECT_EQ(message_of<InputError>([&] { score_model(walk(), data, {.warmup = 1}); }),
            "nothing to score: no output was measured after the 1 warm-up row(s)");
  EXPECT_TRUE(message_of<InputError>([&] { score_model(walk(), data, {.warmup = 4}); }).starts_with("warmup: 4 rows"));
}

}  // namespace
}  // namespace gpilot::ssm
