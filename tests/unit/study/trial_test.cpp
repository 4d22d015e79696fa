#include "gpilot/study/trial.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "gpilot/error.hpp"
#include "gpilot/study/system_model.hpp"
#include "gpilot/systems/registry.hpp"
#include "support/message_of.hpp"

namespace gpilot::study {
namespace {

TrialOptions short_trial(const std::string& strategy, std::uint32_t trial = 0) {
  return {.strategy = strategy, .steps = 3, .initial = 5, .seed = 4, .trial = trial};
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
    EXPECT_EQ(trial.model.states.rows(), trial.data.rows());
    rows.push_back(trial.data.rows());
    if (step.exploration.step == 2) {
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

TEST(Trial, TakesInitialControls) {
  const auto system = systems::make_system("pendulum");
  const Evaluation evaluation(*system);
  TrialOptions options = short_trial("random");
  options.steps = 1;
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
  EXPECT_EQ(trial.model.report.chosen, "adam");
  EXPECT_EQ(trial.model.scaling.state_scale, Vector::Ones(1));
  EXPECT_FALSE(trial.model.gp.structure.linear_kernel);
  EXPECT_EQ(trial.model.report.trace.size(), 100U);
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
  options.steps = 1;
  options.angles = true;
  const Trial trial = run_trial(*system, Evaluation(*system, true), options);
  EXPECT_EQ(trial.model.spec.angles, std::vector<std::string>{"th"});
  EXPECT_EQ(trial.model.gp.structure.angles.size(), 1U);
}

TEST(TrialOptions, WrongOnesAreNamed) {
  TrialOptions options = short_trial("random");
  options.steps = 0;
  EXPECT_NE(test::message_of<InputError>([&] { options.validate(); }).find("steps: 0"), std::string::npos);
  options.steps = 1;
  options.initial = 1;
  EXPECT_EQ(test::message_of<InputError>([&] { options.validate(); }),
            "initial: 1 measurement(s), expected at least 2");
  options.initial = 2;
  EXPECT_NO_THROW(options.validate());
  options.paper = options.angles = true;
  EXPECT_EQ(test::message_of<InputError>([&] { options.validate(); }),
            "angles: the paper's model knows none; expected no angles with it");
  options.paper = false;
  options.initial_controls = Matrix::Zero(1, 1);
  EXPECT_NE(test::message_of<InputError>([&] { options.validate(); }).find("initial: 1"), std::string::npos);
}

}  // namespace
}  // namespace gpilot::study
