#include "gpilot/trials/trial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"
#include "support/message_of.hpp"
#include "support/probe_strategy.hpp"

namespace gpilot::trials {
namespace {

TrialOptions short_trial(const std::string& strategy, std::uint32_t trial = 0) {
  return {.explore = {.strategy = strategy, .initial = 5, .steps = 3, .seed = 4, .trial = trial}};
}

TEST(Trial, StrategiesShareTheirInitialRows) {
  const auto system = systems::make_system("kink");
  const Evaluation evaluation(*system);
  const Trial a = run_trial(*system, evaluation, short_trial("random"));
  const Trial b = run_trial(*system, evaluation, short_trial("randext"));
  const Trial c = run_trial(*system, evaluation, short_trial("random", 1));
  EXPECT_EQ(a.data.outputs.middleRows(1, 5), b.data.outputs.middleRows(1, 5));
  EXPECT_EQ(a.data.controls.topRows(5), b.data.controls.topRows(5));
  EXPECT_NE(a.data.controls.topRows(5), c.data.controls.topRows(5));
  EXPECT_EQ(a.steps.front().metrics.front().value, b.steps.front().metrics.front().value);
  ASSERT_EQ(a.steps.size(), 4U);
  EXPECT_EQ(a.data.rows(), 9);
}

TEST(Trial, StopsWhenTold) {
  const auto system = systems::make_system("kink");
  const Evaluation evaluation(*system);
  int seen = 0;
  const Trial trial =
      run_trial(*system, evaluation, short_trial("random"), [&](const TrialStep&) { return ++seen < 2; });
  EXPECT_EQ(trial.steps.size(), 2U);
}

TEST(Trial, HoldsWhatThereIsAtEveryStepAndAfterAnException) {
  const auto system = systems::make_system("kink");
  const Evaluation evaluation(*system);
  const TrialOptions options = short_trial("random");
  Trial trial;
  std::vector<Index> rows;
  const auto fail_late = [&](const TrialStep& step) {
    EXPECT_EQ(trial.model->states.rows(), trial.data.rows());
    rows.push_back(trial.data.rows());
    if (step.step == 2) {
      throw std::runtime_error("the disk is full");
    }
    return true;
  };
  EXPECT_EQ(test::message_of<std::runtime_error>([&] { run_trial(*system, evaluation, options, fail_late, trial); }),
            "the disk is full");
  EXPECT_EQ(rows, (std::vector<Index>{6, 7, 8}));
  EXPECT_EQ(trial.steps.size(), 3U);
  const Trial whole = run_trial(*system, evaluation, options);
  EXPECT_EQ(trial.data.outputs.bottomRows(7), whole.data.outputs.middleRows(1, 7));
  EXPECT_EQ(trial.data.controls.topRows(7), whole.data.controls.topRows(7));
}

TEST(Trial, ObservedStatesSeeTheSameMotion) {
  const auto system = systems::make_system("pendulum");
  const Trial latent = run_trial(*system, Evaluation(*system), short_trial("random"));
  system->observe_states();
  const Trial observed = run_trial(*system, Evaluation(*system), short_trial("random"));
  EXPECT_EQ(latent.data.controls.topRows(8), observed.data.controls.topRows(8));
  EXPECT_EQ(latent.data.outputs.bottomRows(8), observed.data.outputs.bottomRows(8).leftCols(1));
  EXPECT_EQ(observed.model->gp.parameters.C, Matrix::Identity(2, 2));
  EXPECT_FALSE(observed.model->gp.structure.kinematics.empty());  // still the derivative of the angle
}

/// The values of a metric, a step each.
std::vector<double> values_of(const Trial& trial, std::string_view name) {
  std::vector<double> values;
  for (const TrialStep& step : trial.steps) {
    for (const Metric& metric : step.metrics) {
      if (metric.name == name) {
        values.push_back(metric.value);
      }
    }
  }
  return values;
}

TEST(Trial, CountsTrueOutputsOutsideTheLimits) {
  const auto system = systems::make_system("pendulum");
  const Evaluation evaluation(*system);
  TrialOptions options = short_trial("random");
  options.explore.steps = 6;
  // It hangs outside these limits at first, and no control is strong enough to change that at once.
  options.explore.limits = plan::make_limits({"y_th"}, std::vector<plan::NamedLimit>{{"th", 0.2, 0.4}}, 0.05);
  const Trial trial = run_trial(*system, evaluation, options);
  EXPECT_EQ(trial_metrics(evaluation, options).size(), trial.steps[0].metrics.size());
  for (std::size_t i = 0; i < trial.steps[0].metrics.size(); ++i) {
    EXPECT_EQ(trial.steps[0].metrics[i].name, trial_metrics(evaluation, options)[i]);
  }
  const std::vector<double> violation = values_of(trial, "violation");
  ASSERT_EQ(violation.size(), 7U);
  // The truth, from the same streams.
  const systems::Simulator simulator(*system, {.seed = options.explore.seed, .trial = options.explore.trial});
  Vector x = simulator.initial_state();
  double initial = 0.0;
  for (Index t = 0; t < 11; ++t) {
    x = simulator.advance(x, trial.data.controls.row(t).transpose(), t);
    const double outside = x(0) < 0.2 || x(0) > 0.4 ? 1.0 : 0.0;
    if (t < 5) {
      initial += outside / 5.0;
    } else {
      EXPECT_EQ(violation[static_cast<std::size_t>(t - 4)], outside) << t;
    }
  }
  EXPECT_NEAR(violation[0], initial, 1e-12);
  EXPECT_GT(std::accumulate(violation.begin(), violation.end(), 0.0), 0.0);
  EXPECT_TRUE(values_of(run_trial(*system, evaluation, short_trial("random")), "violation").empty());
}

TEST(Trial, WithLimitsTheFirstControlsAreDrawnOneByOne) {
  const auto system = systems::make_system("pendulum");
  const Evaluation evaluation(*system);
  TrialOptions options = short_trial("random");
  const Trial free = run_trial(*system, evaluation, options);
  options.explore.limits = plan::make_limits({"y_th"}, std::vector<plan::NamedLimit>{{"th", -9.0, 9.0}}, 0.05);
  const Trial limited = run_trial(*system, evaluation, options);
  // Without a model there is nothing to obey: the first two are those of every trial of this number.
  EXPECT_EQ(free.data.controls.topRows(2), limited.data.controls.topRows(2));
  EXPECT_NE(free.data.controls.middleRows(2, 3), limited.data.controls.middleRows(2, 3));
  EXPECT_EQ(values_of(limited, "violation"), (std::vector<double>{0.0, 0.0, 0.0, 0.0}));
  // No stream twice: neither of the initial controls returns later.
  for (Index a = 0; a < 8; ++a) {
    for (Index b = a + 1; b < 8; ++b) {
      EXPECT_NE(limited.data.controls(a, 0), limited.data.controls(b, 0)) << a << ' ' << b;
    }
  }
  // Every strategy begins with them, and the user's own controls are the user's own.
  options.explore.strategy = "randext";
  EXPECT_EQ(limited.data.controls.topRows(5), run_trial(*system, evaluation, options).data.controls.topRows(5));
  options.initial_controls = Matrix::Constant(4, 1, 0.25);
  EXPECT_EQ(run_trial(*system, evaluation, options).data.controls.topRows(4), *options.initial_controls);
}

TEST(Trial, TellsWhatAStrategyOfOnesOwnSaysOfTheLimits) {
  const auto system = systems::make_system("kink");
  const Evaluation evaluation(*system);
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.violation = 0.3;
  probe->answer.safe = false;
  TrialOptions options = short_trial("random");
  options.explore.limits = plan::make_limits({"y"}, std::vector<plan::NamedLimit>{{"y", -9.0, 9.0}}, 0.05);
  options.make_strategy = [&] { return std::make_unique<test::ProbeStrategy>(probe); };
  const Trial trial = run_trial(*system, evaluation, options);
  EXPECT_EQ(probe->limits.size(), 3U);
  EXPECT_EQ(values_of(trial, "no_safe_plan"), (std::vector<double>{0.0, 1.0, 1.0, 1.0}));
  const std::vector<double> expected = values_of(trial, "violation_model");
  EXPECT_TRUE(std::isnan(expected[0]));
  EXPECT_EQ(expected[1], 0.3);
}

TEST(Trial, EndsWhenTheModelIsSureEnough) {
  const auto system = systems::make_system("kink");
  const Evaluation evaluation(*system);
  const auto probe = std::make_shared<test::Probe>();
  probe->answer.reference_sd = 0.2;
  probe->shrinking = 0.5;
  TrialOptions options = short_trial("random");
  options.make_strategy = [&] { return std::make_unique<test::ProbeStrategy>(probe); };
  options.explore.until_sd = 0.06;
  const Trial trial = run_trial(*system, evaluation, options);
  EXPECT_EQ(trial.steps.size(), 3U);  // 0, 1 and 2: the third choice is not applied
  EXPECT_EQ(trial.data.rows(), 8);
  EXPECT_EQ(trial.steps[2].choice.reference_sd, 0.1);
  EXPECT_EQ(trial.stopped,
            "the model's standard deviation on the reference is 0.05, below 0.06: stopped after 2 step(s)");
  options.explore.until_sd = 1e-9;
  EXPECT_EQ(run_trial(*system, evaluation, options).stopped, "");
}

TEST(Trial, TakesInitialControls) {
  const auto system = systems::make_system("pendulum");
  const Evaluation evaluation(*system);
  TrialOptions options = short_trial("random");
  options.explore.steps = 1;
  options.initial_controls = Matrix::Constant(7, 1, 0.25);
  const Trial trial = run_trial(*system, evaluation, options);
  EXPECT_EQ(trial.data.controls.topRows(7), *options.initial_controls);
  EXPECT_EQ(trial.data.rows(), 9);
  options.initial_controls = Matrix::Constant(7, 1, 0.75);
  EXPECT_NE(test::message_of<InputError>([&] { run_trial(*system, evaluation, options); }).find("[-0.5, 0.5]"),
            std::string::npos);
}

TEST(Trial, ThePapersTrainingGoesOnFromTheModelBefore) {
  const auto system = systems::make_system("kink");
  const Evaluation evaluation(*system);
  TrialOptions options = short_trial("totmi");
  options.paper = true;
  const Trial trial = run_trial(*system, evaluation, options);
  EXPECT_EQ(trial.model->report.chosen, "adam");
  EXPECT_EQ(trial.model->scaling.state_scale, Vector::Ones(1));
  EXPECT_FALSE(trial.model->gp.structure.linear_kernel);
  EXPECT_EQ(trial.model->report.trace.size(), 100U);
}

TEST(SystemModel, PaperSettingsAreThoseOfItsTable) {
  const auto system = systems::make_system("pendulum");
  ssm::ModelSpec spec = model_spec(*system);
  EXPECT_EQ(spec.derivatives.size(), 1U);
  inference::FitOptions fit;
  apply_paper_settings(*system, spec, fit);
  EXPECT_EQ(spec.kernel, kernels::Kind::kMatern32);
  EXPECT_TRUE(spec.derivatives.empty());
  EXPECT_EQ(fit.epochs, 200);
  EXPECT_EQ(fit.paper_start, (inference::PaperStart{0.3, 5.0}));
}

TEST(SystemModel, EveryColumnHasARange) {
  for (const std::string& name : systems::system_names()) {
    const auto system = systems::make_system(name);
    const ssm::ModelSpec spec = model_spec(*system);
    EXPECT_EQ(spec.ranges.size(), spec.inputs.size() + spec.outputs.size() + spec.derivatives.size()) << name;
    spec.validate();
    system->observe_states();
    EXPECT_NO_THROW(model_spec(*system).validate()) << name;
  }
}

TEST(SystemModel, AnglesAreDeclaredOnRequestOnly) {
  const auto angles = [](const char* name, bool declare) {
    const ssm::ModelSpec spec = model_spec(*systems::make_system(name), true, declare);
    spec.validate();
    return spec.angles;
  };
  EXPECT_TRUE(angles("pendulum", false).empty());
  EXPECT_EQ(angles("pendulum", true), std::vector<std::string>{"th"});
  EXPECT_EQ(angles("cart-pole", true), std::vector<std::string>{"th"});
  EXPECT_TRUE(angles("tras", true).empty());
  EXPECT_TRUE(angles("kink", true).empty());
}

TEST(Trial, DeclaresAnglesToItsModel) {
  const auto system = systems::make_system("pendulum");
  TrialOptions options = short_trial("random");
  options.explore.steps = 1;
  options.angles = true;
  const Trial trial = run_trial(*system, Evaluation(*system, true), options);
  EXPECT_EQ(trial.model->spec.angles, std::vector<std::string>{"th"});
  EXPECT_EQ(trial.model->gp.structure.angles.size(), 1U);
}

TEST(TrialOptions, WrongOnesAreNamed) {
  const auto system = systems::make_system("kink");
  TrialOptions options = short_trial("random");
  options.explore.steps = 0;
  EXPECT_NE(test::message_of<InputError>([&] { options.validate(*system); }).find("steps: 0"), std::string::npos);
  options.explore.steps = 1;
  options.explore.initial = 1;
  EXPECT_EQ(test::message_of<InputError>([&] { options.validate(*system); }),
            "initial measurements: 1, expected at least 2");
  options.explore.initial = 2;
  EXPECT_NO_THROW(options.validate(*system));
  options.explore.until_sd = 0.1;
  EXPECT_NE(test::message_of<InputError>([&] { options.validate(*system); }).find("until-sd: the strategy 'random'"),
            std::string::npos);
  options.explore.until_sd = std::numeric_limits<double>::quiet_NaN();
  options.paper = options.angles = true;
  EXPECT_EQ(test::message_of<InputError>([&] { options.validate(*system); }),
            "angles: the paper's model knows none; expected no angles with it");
  options.paper = false;
  options.initial_controls = Matrix::Zero(1, 1);
  EXPECT_NE(test::message_of<InputError>([&] { options.validate(*system); }).find("initial measurements: 1"),
            std::string::npos);
}

}  // namespace
}  // namespace gpilot::trials
