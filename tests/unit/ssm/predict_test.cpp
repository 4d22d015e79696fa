#include "gpilot/ssm/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/message_of.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::message_of;
using test::RandomProblem;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMedian = 3;

/// A model with every part at random values and scales that are not 1.
Model make_model(const RandomProblem::Options& options) {
  const RandomProblem problem(options);
  RandomStream random(options.seed, Purpose::kTest, 1);
  const Structure& s = problem.structure;
  Model model;
  model.gp = {s, problem.parameters, {}};
  for (std::size_t g = 0; g < s.gp_rows().size(); ++g) {
    const Matrix root = 0.2 * random.normal_matrix(s.features(), s.features());
    model.gp.weights.push_back({0.3 * random.normal_vector(s.features()),
                                root * root.transpose() + 0.01 * Matrix::Identity(s.features(), s.features())});
  }
  model.scaling.control_offset = Vector::Constant(s.controls, 0.5);
  model.scaling.control_scale = Vector::Constant(s.controls, 3.0);
  model.scaling.output_offset = Vector::Constant(s.outputs, -2.0);
  model.scaling.output_scale = Vector::Constant(s.outputs, 10.0);
  model.scaling.state_offset = Vector::Zero(s.states);
  model.scaling.state_scale = Vector::Ones(s.states);
  return model;
}

/// Data in the model's user units.
Sequence make_sequence(const Model& model, Index rows) {
  RandomStream random(5, Purpose::kTest, 2);
  const Structure& s = model.gp.structure;
  Sequence sequence{random.normal_matrix(rows, s.controls), 10.0 * random.normal_matrix(rows, s.outputs)};
  sequence.controls.row(rows - 1).setConstant(kNaN);
  sequence.outputs(rows / 2, 0) = kNaN;
  return sequence;
}

/// The filter, step by step, and what it says of the outputs in user units.
struct ByHand {
  explicit ByHand(const Model& m)
      : model(m),
        transition(m.gp.structure, m.gp.parameters, m.gp.weights),
        filter(transition, gp::make_nodes(m.spec.nodes, m.gp.structure.states)) {}

  Vector mean(const StateBelief& belief) const {
    Vector mean;
    Vector variance;
    filter.outputs(belief, mean, variance);
    return model.scaling.output_offset + model.scaling.output_scale.cwiseProduct(mean);
  }
  Vector sd(const StateBelief& belief) const {
    Vector mean;
    Vector variance;
    filter.outputs(belief, mean, variance);
    return model.scaling.output_scale.cwiseProduct(variance.cwiseSqrt());
  }

  const Model& model;
  Transition transition;
  Filter filter;
};

void expect_row(const Prediction& prediction, Index row, const Vector& mean, const Vector& sd) {
  EXPECT_LT((prediction.mean.row(row).transpose() - mean).cwiseAbs().maxCoeff(), 1e-10) << "mean of row " << row;
  EXPECT_LT((prediction.sd.row(row).transpose() - sd).cwiseAbs().maxCoeff(), 1e-10) << "sd of row " << row;
}

void expect_ordered(const Prediction& prediction) {
  for (std::size_t k = 1; k < kQuantileLevels.size(); ++k) {
    EXPECT_GT((prediction.quantiles[k] - prediction.quantiles[k - 1]).minCoeff(), 0.0) << "level " << k;
  }
}

void expect_same_bits(const Prediction& a, const Prediction& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.sd, b.sd);
  EXPECT_EQ(a.quantiles, b.quantiles);
}

TEST(FreeRun, WarmupIsTheFilterAndTheRestIsPredicted) {
  for (const bool kinematics : {false, true}) {
    const Model model = make_model({.states = 3, .kinematics = kinematics});
    const Sequence data = make_sequence(model, 9);
    const Sequence scaled = model.scaling.to_scaled(data);
    const Prediction prediction = Predictor(model, model.gp).free_run(data, {.warmup = 6, .draws = 0});
    const ByHand hand(model);
    StateBelief belief = hand.filter.initial();
    for (Index t = 0; t < 9; ++t) {
      if (t > 0) {
        belief = hand.filter.predict(belief, scaled.controls.row(t - 1).transpose());
      }
      if (t < 6) {
        hand.filter.update(belief, scaled.outputs.row(t).transpose());
      }
      expect_row(prediction, t, hand.mean(belief), hand.sd(belief));
    }
    EXPECT_EQ(prediction.diverged, 0);
    expect_ordered(prediction);
  }
}

/// A recording that may begin anywhere: what the model declares of x_0 does not hold for it.
TEST(FreeRun, ABroadStartIsWhereTheFilterBegins) {
  Model model = make_model({.states = 2});
  model.gp.structure.x0_mean.setConstant(0.8);
  model.gp.structure.x0_sd.setConstant(0.01);
  Sequence data = make_sequence(model, 6);
  data.broad_start = true;
  const Sequence scaled = model.scaling.to_scaled(data);
  const Predictor predictor(model, model.gp);
  const ByHand hand(model);
  const Vector start_sd = hand.sd(hand.filter.initial(true));
  ASSERT_GT((start_sd - hand.sd(hand.filter.initial(false))).minCoeff(), 1.0);
  for (const Index warmup : {0, 3}) {
    StateBelief belief = hand.filter.initial(true);
    const Prediction prediction = predictor.free_run(data, {.warmup = warmup, .draws = 0});
    for (Index t = 0; t < data.rows(); ++t) {
      if (t > 0) {
        belief = hand.filter.predict(belief, scaled.controls.row(t - 1).transpose());
      }
      if (t < warmup) {
        hand.filter.update(belief, scaled.outputs.row(t).transpose());
      }
      expect_row(prediction, t, hand.mean(belief), hand.sd(belief));
    }
  }
  expect_row(predictor.ahead(data, 1), 0, hand.mean(hand.filter.initial(true)), start_sd);
  const Prediction drawn = predictor.free_run(data, {.warmup = 0, .draws = 400});
  for (Index e = 0; e < start_sd.size(); ++e) {
    EXPECT_NEAR(drawn.sd(0, e), start_sd(e), 0.1 * start_sd(e)) << "output " << e;
  }
}

TEST(FreeRun, OutputsAfterTheWarmupAreNotUsed) {
  const Model model = make_model({});
  const Sequence data = make_sequence(model, 8);
  Sequence blind = data;
  blind.outputs.bottomRows(5).setConstant(kNaN);
  const Predictor predictor(model, model.gp);
  for (const Index draws : {0, 20}) {
    expect_same_bits(predictor.free_run(data, {.warmup = 3, .draws = draws}),
                     predictor.free_run(blind, {.warmup = 3, .draws = draws}));
  }
}

/// One step from p(x_0): dense nodes give the exact moments, the draws must agree within their Monte Carlo error.
TEST(FreeRun, DrawsAgreeWithExactMomentsAfterOneStep) {
  for (const kernels::Kind kernel : kernels::kKinds) {
    Model model = make_model({.kernel = kernel, .kinematics = true});
    model.spec.nodes = gp::NodeRule::kGaussHermite;
    model.spec.node_points = 40;
    const Sequence data = make_sequence(model, 2);
    const Predictor predictor(model, model.gp);
    const Prediction exact = predictor.free_run(data, {.draws = 0});
    constexpr Index kDraws = 8000;
    const Prediction drawn = predictor.free_run(data, {.draws = kDraws, .seed = 1});
    for (Index t = 0; t < 2; ++t) {
      const double sd = exact.sd(t, 0);
      EXPECT_NEAR(drawn.mean(t, 0), exact.mean(t, 0), 4.5 * sd / std::sqrt(kDraws)) << kernels::name(kernel);
      EXPECT_NEAR(drawn.sd(t, 0), sd, 5.0 * sd / std::sqrt(2.0 * kDraws)) << kernels::name(kernel);
    }
    // Row 0 is exactly Gaussian, so its quantiles are known too, and the error sqrt(p (1 - p) / n) / density of theirs.
    for (std::size_t k = 0; k < kQuantileLevels.size(); ++k) {
      const double sd = exact.sd(0, 0);
      const double z = (exact.quantiles[k](0, 0) - exact.mean(0, 0)) / sd;
      const double density = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
      const double error = std::sqrt(kQuantileLevels[k] * (1.0 - kQuantileLevels[k]) / kDraws) / density;
      EXPECT_NEAR(drawn.quantiles[k](0, 0), exact.quantiles[k](0, 0), 4.0 * error * sd) << "level " << k;
    }
  }
}

/// x' = w x with one unknown w: along a trajectory w is the same, so x_t = w^t x_0. Moment matching forgets that.
TEST(FreeRun, DrawsKeepOneFunctionAlongAPath) {
  Model model = make_model({.states = 1, .inducing = 0, .mean = MeanKind::kZero});
  Dynamics& c = model.gp;
  c.structure.x0_mean << 1.0;
  c.structure.x0_sd << 1e-5;
  c.parameters.mean_weights.setZero();
  c.parameters.log_linear_sd.setZero();
  c.parameters.log_q.setConstant(std::log(1e-10));
  c.parameters.log_r.setConstant(std::log(1e-10));
  c.parameters.C.setOnes();
  c.parameters.d.setZero();
  c.weights[0].mu << 0.9, 0.0, 0.0;
  c.weights[0].Sigma = Eigen::Vector3d(0.1 * 0.1, 1e-14, 1e-14).asDiagonal();
  constexpr Index kSteps = 4;
  constexpr Index kDraws = 20000;
  Sequence data{Matrix::Constant(kSteps + 1, 1, 0.5), Matrix::Constant(kSteps + 1, 1, kNaN)};
  const Prediction drawn = Predictor(model, c).free_run(data, {.draws = kDraws});
  // w^4 rises with w, so that its quantiles are those of w ~ N(m, s^2), to the fourth power.
  constexpr double kNormal90 = 1.6448536269514722;
  const auto quantile = [](double z) { return std::pow(0.9 + 0.1 * z, kSteps); };
  const double sd = (quantile(kNormal90) - quantile(-kNormal90)) / (2.0 * kNormal90);
  const auto scaled = [&](double user) { return (user + 2.0) / 10.0; };
  EXPECT_NEAR(scaled(drawn.mean(kSteps, 0)), quantile(0.0), 0.01);
  EXPECT_NEAR(drawn.sd(kSteps, 0) / 10.0, sd, 0.03 * sd);
  EXPECT_EQ(drawn.quantiles[kMedian](kSteps, 0), drawn.mean(kSteps, 0));
  const Prediction matched = Predictor(model, c).free_run(data, {.draws = 0});
  EXPECT_LT(matched.sd(kSteps, 0), 0.7 * drawn.sd(kSteps, 0));
}

TEST(FreeRun, SameSeedSameBits) {
  const Model model = make_model({.states = 3, .kinematics = true});
  const Sequence data = make_sequence(model, 12);
  const PredictOptions options{.warmup = 4, .draws = 30, .seed = 9};
  const Prediction a = Predictor(model, model.gp).free_run(data, options);
  expect_same_bits(a, Predictor(model, model.gp).free_run(data, options));
  expect_ordered(a);
  const Prediction other = Predictor(model, model.gp).free_run(data, {.warmup = 4, .draws = 30, .seed = 10});
  EXPECT_EQ(a.mean.topRows(4), other.mean.topRows(4));
  EXPECT_NE(a.mean, other.mean);
}

TEST(FreeRun, UnstableModelsStayFiniteAndAreCounted) {
  Model model = make_model({.states = 1, .inducing = 0});
  model.gp.weights[0].mu(0) = 5.0 * std::exp(-model.gp.parameters.log_linear_sd(0, 0));  // x' = (1 + 5) x + ..
  const Sequence data = make_sequence(model, 60);
  for (const Index draws : {0, 25}) {
    const Prediction prediction = Predictor(model, model.gp).free_run(data, {.draws = draws});
    EXPECT_GT(prediction.diverged, 0);
    EXPECT_TRUE(prediction.mean.allFinite() && prediction.sd.allFinite());
    for (const Matrix& quantile : prediction.quantiles) {
      EXPECT_TRUE(quantile.allFinite());
    }
    expect_ordered(prediction);
  }
}

TEST(Ahead, EveryRowSeesTheOutputsThatManyRowsBack) {
  const Model model = make_model({.states = 3});
  const Sequence data = make_sequence(model, 8);
  const Predictor predictor(model, model.gp);
  for (const Index steps : {1, 3}) {
    const Prediction ahead = predictor.ahead(data, steps);
    for (Index t = 0; t < 8; ++t) {
      const Index seen = std::max<Index>(0, t - steps + 1);  // rows 0 .. seen - 1
      const Prediction run = predictor.free_run(data, {.warmup = seen, .draws = 0});
      expect_row(ahead, t, run.mean.row(t).transpose(), run.sd.row(t).transpose());
    }
  }
}

TEST(Predictor, WrongInputIsNamed) {
  const Model model = make_model({.states = 3});
  const Predictor predictor(model, model.gp);
  const Sequence good = make_sequence(model, 5);
  const auto run = [&](const Sequence& data, const PredictOptions& options = {}) {
    return message_of<InputError>([&] { predictor.free_run(data, options); });
  };
  EXPECT_EQ(run(good, {.warmup = 6}), "warmup: 6 rows, expected 0 to 5, the rows of the data");
  EXPECT_EQ(run(good, {.warmup = -1}), "warmup: -1 rows, expected 0 to 5, the rows of the data");
  EXPECT_EQ(run(good, {.draws = -1}), "draws: -1, expected 0 (moment matching) to 1000000");
  Sequence bad = good;
  bad.controls = Matrix::Zero(5, 2);
  EXPECT_EQ(run(bad), "data: 2 controls and 2 outputs, the model has 1 and 2");
  bad.controls = Matrix::Zero(4, 1);
  EXPECT_EQ(run(bad), "data: 4 rows of controls and 5 rows of outputs, expected as many, at least 1");
  bad = good;
  bad.controls(3, 0) = kNaN;
  EXPECT_EQ(run(bad), "data: a control is missing in row 3 (only the last row's may be)");
  bad = good;
  bad.outputs(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(bad), "data: an output is infinite");
  EXPECT_EQ(message_of<InputError>([&] { predictor.ahead(good, 0); }), "steps: 0, expected at least 1");
}

}  // namespace
}  // namespace gpilot::ssm
