#include "gpilot/trials/evaluation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <thread>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/ensemble.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/next_state.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"
#include "gpilot/trials/test_set.hpp"
#include "gpilot/trials/trajectory_test.hpp"
#include "support/message_of.hpp"
#include "support/random_model.hpp"
#include "support/random_problem.hpp"

namespace gpilot::trials {
namespace {

using test::message_of;

double value(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name) {
      return metric.value;
    }
  }
  ADD_FAILURE() << "no metric " << name;
  return std::numeric_limits<double>::quiet_NaN();
}

/// A model of the pendulum's columns whose free runs stay within bounds.
ssm::Model tame_model() {
  ssm::Model model = test::random_model();
  for (gp::Weights& weights : model.gp.weights) {
    weights.mu *= 0.1;
  }
  model.gp.parameters.mean_weights *= 0.7;
  model.spec.nodes = gp::NodeRule::kCubature3;
  return model;
}

/// What draws say about the output of rows start + 1 .. start + steps of one sequence, scaled. Outputs up to row
/// `start` are seen.
struct NaiveRun {
  std::vector<ssm::CentralDraws> rows;
  bool diverged = false;
};

NaiveRun naive_run(const ssm::Model& model, const ssm::Sequence& sequence, Index start, Index steps) {
  const ssm::Sequence s = model.scaling.to_scaled(sequence);
  const ssm::Transition transition(model.gp.structure, model.gp.parameters, model.gp.weights);
  const ssm::Filter filter(transition, gp::make_nodes(gp::NodeRule::kCubature3, model.gp.structure.states));
  ssm::StateBelief belief = filter.initial(s.broad_start);
  filter.update(belief, s.outputs.row(0).transpose());
  for (Index row = 1; row <= start; ++row) {
    if (ssm::StateBelief next = filter.predict(belief, s.controls.row(row - 1).transpose());
        ssm::is_within(next.mean, next.covariance, ssm::prediction_limits(model.gp.structure))) {
      belief = std::move(next);
    }
    filter.update(belief, s.outputs.row(row).transpose());
  }
  ssm::DrawnFunctions functions(transition, kFreeDraws, kDrawSeed);
  ssm::Ensemble ensemble(functions, belief, kDrawSeed);
  NaiveRun run;
  for (Index row = start + 1; row <= start + steps; ++row) {
    ensemble.advance(s.controls.row(row - 1).transpose());
    run.rows.push_back(ssm::central(ensemble.outputs().col(0)));
  }
  run.diverged = 2 * std::ranges::count(ensemble.diverged(), true) > kFreeDraws;
  return run;
}

/// The protocol word by word, one trajectory and one start at a time.
struct Naive {
  double squares = 0.0, surprise = 0.0, inside = 0.0, diverged = 0.0, one_step = 0.0;
  double values = 0.0, runs = 0.0, one_step_values = 0.0;
  bool wrap = false;

  /// Of angles, to the nearest turn if that is asked for.
  double difference(double predicted, double truth) const {
    return wrap ? std::remainder(predicted - truth, 2.0 * std::numbers::pi) : predicted - truth;
  }

  void add_free_run(const ssm::Model& model, const TestSet& set, std::size_t n, Index start) {
    const Index steps = std::min<Index>(20, set.sequences[n].rows() - 1 - start);
    if (steps < 10) {
      return;
    }
    const NaiveRun run = naive_run(model, set.sequences[n], start, steps);
    for (Index k = 0; k < steps; ++k) {
      const double unit = set.output_sd(0);
      const ssm::CentralDraws& draws = run.rows[static_cast<std::size_t>(k)];
      const double predicted = model.scaling.output_offset(0) + model.scaling.output_scale(0) * draws.median;
      const double error = std::clamp(difference(predicted, set.truth[n](start + 1 + k, 0)) / unit, -10.0, 10.0);
      const double sd = std::max(0.01, model.scaling.output_scale(0) * draws.sd / unit);
      squares += error * error;
      surprise += std::min(100.0, 0.5 * std::log(2.0 * std::numbers::pi * sd * sd) + 0.5 * error * error / (sd * sd));
      inside += std::abs(error) <= 1.6448536269514722 * sd ? 1.0 : 0.0;
      values += 1.0;
    }
    diverged += run.diverged ? 1.0 : 0.0;
    runs += 1.0;
  }

  void add_one_step(const ssm::Predictor& predictor, const TestSet& set, std::size_t n) {
    const ssm::Prediction ahead = predictor.ahead(set.sequences[n], 1);
    for (Index row = 1; row < set.sequences[n].rows(); ++row) {
      const double error = difference(ahead.mean(row, 0), set.truth[n](row, 0)) / set.output_sd(0);
      one_step += std::pow(std::clamp(error, -10.0, 10.0), 2);
      one_step_values += 1.0;
    }
  }

  Naive(const ssm::Model& model, const TestSet& set, bool wrap_angles) : wrap(wrap_angles) {
    const ssm::Predictor predictor(model, model.gp);
    for (std::size_t n = 0; n < set.sequences.size(); ++n) {
      add_one_step(predictor, set, n);
      for (const Index start : {0, 10, 25, 40}) {
        add_free_run(model, set, n, start);
      }
    }
  }
};

void expect_naive(const ssm::Model& model, bool wrap = false, TestRange range = TestRange::kRegion) {
  const auto system = systems::make_system("pendulum");
  const std::vector<Metric> metrics = Evaluation(*system, wrap, range).evaluate(model);
  const TestSet set = make_test_set(*system, range);
  const Naive naive(model, set, wrap);
  const double rmse = std::sqrt(naive.squares / naive.values);
  EXPECT_NEAR(value(metrics, "rmse"), rmse, 1e-9);
  EXPECT_NEAR(value(metrics, "rmse.y_th"), rmse * set.output_sd(0), 1e-9);
  EXPECT_NEAR(value(metrics, "one_step"), std::sqrt(naive.one_step / naive.one_step_values), 1e-9);
  EXPECT_NEAR(value(metrics, "nlpd"), naive.surprise / naive.values, 1e-7);
  EXPECT_NEAR(value(metrics, "coverage90"), naive.inside / naive.values, 1e-9);
  EXPECT_NEAR(value(metrics, "diverged"), naive.diverged / naive.runs, 1e-9);
}

TEST(Evaluation, IsTheProtocolDoneOneTrajectoryAtATime) {
  const ssm::Model model = tame_model();
  expect_naive(model);
  expect_naive(model, false, TestRange::kWide);
  ssm::Model linear = model;
  linear.gp = model.linear;
  linear.gp.weights.front().mu *= 0.1;
  expect_naive(linear);
}

TEST(Evaluation, AnUnstableModelIsBoundedAndCounted) {
  ssm::Model model = tame_model();
  model.gp.parameters.mean_weights(1, 0) += 5.0;  // v' = 5 v + ..
  expect_naive(model);
  const std::vector<Metric> metrics = Evaluation(*systems::make_system("pendulum")).evaluate(model);
  EXPECT_GT(value(metrics, "diverged"), 0.9);
  EXPECT_LE(value(metrics, "rmse"), 10.0);
  EXPECT_LE(value(metrics, "nlpd"), 100.0);
  for (const Metric& metric : metrics) {
    EXPECT_TRUE(std::isfinite(metric.value)) << metric.name;
  }
}

TEST(Evaluation, WrapsErrorsOfAnglesOnRequest) {
  ssm::Model model = tame_model();
  model.gp.parameters.mean_weights(1, 0) += 0.5;  // far off, and not yet diverged
  expect_naive(model, true);
  const auto system = systems::make_system("pendulum");
  const std::vector<Metric> plain = Evaluation(*system, false, TestRange::kWide).evaluate(model);
  const std::vector<Metric> wrapped = Evaluation(*system, true, TestRange::kWide).evaluate(model);
  EXPECT_GT(value(plain, "rmse.y_th"), std::numbers::pi);
  EXPECT_LT(value(wrapped, "rmse.y_th"), std::numbers::pi);
}

/// Without gravity the pendulum is linear, and a linear model can be the truth itself.
TEST(Evaluation, TheTruthReachesTheNoiseFloor) {
  const auto system = systems::make_system("pendulum");
  system->set_parameter("g", 0.0);
  ssm::Model model;
  model.spec = model_spec(*system, false);
  model.scaling = {Vector::Zero(1), Vector::Ones(1), Vector::Zero(1),
                   Vector::Ones(1), Vector::Zero(2), Vector::Ones(2)};
  ssm::Structure& s = model.gp.structure;
  s.states = 2;
  s.controls = 1;
  s.mean = ssm::MeanKind::kLinear;
  s.x0_mean = system->spec().x0_mean;
  s.x0_sd = system->spec().x0_sd;
  ssm::Parameters& p = model.gp.parameters;
  p = ssm::default_parameters(s);
  for (Index i = 0; i < 3; ++i) {
    const Vector unit = Vector::Unit(3, i);
    p.mean_weights.row(i) = system->next(unit.head(2), unit.tail(1)).transpose();
  }
  p.mean_weights.row(3).setZero();
  p.log_q.setConstant(std::log(1e-10));
  p.log_r.setConstant(2.0 * std::log(system->spec().output_sd(0)));
  model.gp.weights.assign(2, {Vector::Zero(s.features()), 1e-14 * Matrix::Identity(s.features(), s.features())});
  const std::vector<Metric> metrics = Evaluation(*system).evaluate(model);
  const double test_sd = value(metrics, "rmse.y_th") / value(metrics, "rmse");
  EXPECT_LT(value(metrics, "one_step") * test_sd, 2.0 * system->spec().output_sd(0));
  EXPECT_GT(value(metrics, "coverage90"), 0.8);
  EXPECT_LT(value(metrics, "nlpd"), 0.0);
  EXPECT_EQ(value(metrics, "diverged"), 0.0);
}

TEST(Evaluation, SameBitsFromEveryThread) {
  const Evaluation evaluation(*systems::make_system("pendulum"));
  const ssm::Model model = tame_model();
  const std::vector<Metric> expected = evaluation.evaluate(model);
  std::array<std::vector<Metric>, 2> found;
  {
    std::jthread a([&] { found[0] = evaluation.evaluate(model); });
    std::jthread b([&] { found[1] = evaluation.evaluate(model); });
  }
  for (const std::vector<Metric>& metrics : found) {
    ASSERT_EQ(metrics.size(), expected.size());
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      EXPECT_EQ(metrics[i].name, evaluation.names()[i]);
      EXPECT_EQ(metrics[i].value, expected[i].value);
    }
  }
}

/// Sequences of the pendulum as a rig would give them.
RecordedTests recorded(const std::vector<Index>& lengths) {
  RecordedTests tests{.inputs = {"c"}, .outputs = {"y_th"}, .sequences = {}, .turns = Vector::Zero(1)};
  const TestSet set = make_test_set(*systems::make_system("pendulum"));
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    const ssm::Sequence& s = set.sequences[n];
    tests.sequences.push_back({s.controls.topRows(lengths[n]), s.outputs.topRows(lengths[n])});
  }
  return tests;
}

/// Free runs of a recorded sequence, with what was measured as the truth and its noise in the intervals.
TEST(RecordedEvaluation, IsTheProtocolOneSequenceAtATime) {
  RecordedTests tests = recorded({61, 37, 24, 61, 15});
  tests.sequences[3].broad_start = true;
  tests.sequences[1].outputs(20, 0) = std::numeric_limits<double>::quiet_NaN();
  const ssm::Model model = tame_model();
  double mean = 0.0;
  double unit = 0.0;
  ssm::column_statistics(tests.sequences, 0, 0.0, mean, unit);
  double squares = 0.0;
  double inside = 0.0;
  double values = 0.0;
  const std::vector<std::vector<Index>> starts{{0, 10, 25, 40}, {0, 10, 25}, {0, 10}, {10, 25, 40}, {0}};
  for (std::size_t n = 0; n < starts.size(); ++n) {
    for (const Index start : starts[n]) {
      const ssm::Sequence& s = tests.sequences[n];
      const Index steps = std::min<Index>(20, s.rows() - 1 - start);
      const NaiveRun run = naive_run(model, s, start, steps);
      for (Index row = start + 1; row <= start + steps; ++row) {
        if (!std::isnan(s.outputs(row, 0))) {
          const ssm::CentralDraws& draws = run.rows[static_cast<std::size_t>(row - start - 1)];
          const double scale = model.scaling.output_scale(0);
          const double error = model.scaling.output_offset(0) + scale * draws.median - s.outputs(row, 0);
          const double variance = draws.sd * draws.sd + std::exp(model.gp.parameters.log_r(0));
          squares += std::pow(std::clamp(error / unit, -10.0, 10.0), 2);
          inside += std::abs(error) <= 1.6448536269514722 * scale * std::sqrt(variance) ? 1.0 : 0.0;
          values += 1.0;
        }
      }
    }
  }
  const std::vector<Metric> metrics = Evaluation(tests).evaluate(model);
  EXPECT_NEAR(value(metrics, "rmse"), std::sqrt(squares / values), 1e-9);
  EXPECT_NEAR(value(metrics, "coverage90"), inside / values, 1e-9);
}

TEST(RecordedEvaluation, HoldingTheLastValueOfARampHasAClosedForm) {
  RecordedTests tests{.inputs = {"c"}, .outputs = {"y"}, .sequences = {}, .turns = Vector::Zero(1)};
  tests.sequences.push_back({Matrix::Zero(21, 1), Vector::LinSpaced(21, 0.0, 20.0)});
  double mean = 0.0;
  double sd = 0.0;
  ssm::column_statistics(tests.sequences, 0, 0.0, mean, sd);
  // From row 0 over 20 steps and from row 10 over 10: sums of squares 1 + 4 + ..
  EXPECT_NEAR(Evaluation(tests).held_rmse(), std::sqrt((2870.0 + 385.0) / 30.0) / sd, 1e-12);
}

TEST(RecordedEvaluation, RefusesTestsThatTellNothing) {
  RecordedTests tests = recorded({8, 9});
  EXPECT_NE(message_of<InputError>([&] { Evaluation{tests}; }).find("no free run of 10 steps"), std::string::npos);
  tests = recorded({61});
  tests.sequences[0].outputs.setConstant(0.5);
  EXPECT_NE(message_of<InputError>([&] { Evaluation{tests}; }).find("'y_th' does not move"), std::string::npos);
}

/// A model of the kink's columns, scales other than one.
ssm::Model kink_model() {
  ssm::Model model = test::random_model(false);
  const test::RandomProblem problem({.states = 1});
  ssm::Structure structure = problem.structure;
  const Index n = structure.features();
  model.gp = {structure, problem.parameters, {{Vector::Constant(n, 0.3), 0.05 * Matrix::Identity(n, n)}}};
  model.gp.structure.outputs = 1;
  model.gp.parameters.C = Matrix::Ones(1, 1);
  model.gp.parameters.d = Vector::Zero(1);
  model.gp.parameters.log_r = Vector::Zero(1);
  model.scaling.state_offset = Vector::Constant(1, -0.5);
  model.scaling.state_scale = Vector::Constant(1, 1.3);
  return model;
}

TEST(Evaluation, OfAMapIsTheErrorOfFOnAGrid) {
  const auto system = systems::make_system("kink");
  const ssm::Model model = kink_model();
  double squares = 0.0;
  double inside = 0.0;
  Vector truth(42 * 11);
  Vector sds(truth.size());
  Vector means(truth.size());
  Index count = 0;
  for (int i = 0; i < 42; ++i) {
    for (int j = 0; j < 11; ++j) {
      const Vector x = Vector::Constant(1, -3.0 + 4.1 * i / 41.0);
      const Vector c = Vector::Constant(1, j / 10.0);
      const ssm::NextState next = ssm::next_state(model, x, c);
      truth(count) = system->next(x, c)(0);
      means(count) = next.mean(0, 0);
      sds(count++) = next.sd(0, 0);
    }
  }
  const double unit = std::sqrt((truth.array() - truth.mean()).square().mean());
  double surprise = 0.0;
  for (Index n = 0; n < count; ++n) {
    const double error = means(n) - truth(n);
    const double sd = std::max(sds(n) / unit, 0.01);
    squares += error * error;
    inside += std::abs(error) <= 1.6448536269514722 * sd * unit ? 1.0 : 0.0;
    const double z = error / unit / sd;
    surprise += std::min(100.0, 0.5 * std::log(2.0 * std::numbers::pi) + std::log(sd) + 0.5 * z * z);
  }
  const Evaluation evaluation(*system);
  EXPECT_EQ(evaluation.names(), (std::vector<std::string>{"rmse", "nlpd", "coverage90"}));
  const std::vector<Metric> metrics = evaluation.evaluate(model);
  const auto n = static_cast<double>(count);
  EXPECT_NEAR(value(metrics, "rmse"), std::sqrt(squares / n), 1e-9);
  EXPECT_NEAR(value(metrics, "nlpd"), surprise / n, 1e-9);
  EXPECT_NEAR(value(metrics, "coverage90"), inside / n, 1e-9);
}

// A model that hears nothing from the added output predicts as the one without it, and is judged the same.
TEST(Evaluation, OutputsOfObservedStatesAreNotPooled) {
  const auto system = systems::make_system("pendulum");
  const ssm::Model latent = tame_model();
  const std::vector<Metric> expected = Evaluation(*system).evaluate(latent);
  system->observe_states();
  ssm::Model model = latent;
  model.gp.structure.outputs = 2;
  ssm::Parameters& p = model.gp.parameters;
  p.C = Matrix::Zero(2, 2);
  p.C << latent.gp.parameters.C, 0.0, 1.0;
  p.d = Vector{{latent.gp.parameters.d(0), 0.0}};
  p.log_r = Vector{{latent.gp.parameters.log_r(0), std::log(1e18)}};
  model.scaling.output_offset = Vector{{latent.scaling.output_offset(0), 0.0}};
  model.scaling.output_scale = Vector{{latent.scaling.output_scale(0), 1.0}};
  const Evaluation evaluation(*system);
  const std::vector<Metric> metrics = evaluation.evaluate(model);
  ASSERT_EQ(metrics.size(), expected.size() + 1);
  for (const Metric& metric : expected) {
    EXPECT_NEAR(value(metrics, metric.name), metric.value, 1e-6) << metric.name;
  }
  EXPECT_EQ(metrics.back().name, "rmse.y_th_dot");
  EXPECT_GT(metrics.back().value, 0.0);
}

TEST(Evaluation, NamesEveryOutput) {
  EXPECT_EQ(Evaluation(*systems::make_system("tras")).names(),
            (std::vector<std::string>{"rmse", "one_step", "nlpd", "coverage90", "coverage90_one_step", "diverged",
                                      "rmse.y_a_v", "rmse.y_a_h"}));
}

TEST(Evaluation, RefusesAModelOfAnotherSystem) {
  const Evaluation evaluation(*systems::make_system("tras"));
  EXPECT_EQ(message_of<InputError>([&] { evaluation.evaluate(tame_model()); }),
            "model: 1 controls and 1 outputs, expected 2 and 2 as the system has");
}

}  // namespace
}  // namespace gpilot::trials
