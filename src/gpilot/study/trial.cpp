#include "gpilot/study/trial.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/study/system_model.hpp"
#include "gpilot/systems/controls.hpp"
#include "gpilot/systems/simulate.hpp"

namespace gpilot::study {

namespace {

/// A simulated rig: applies controls one after another and measures.
class Rig {
 public:
  Rig(const systems::System& system, const TrialOptions& options)
      : simulator_(system, {.seed = options.seed, .trial = options.trial}), x_(simulator_.initial_state()) {}

  Vector apply(VectorRef control) {
    x_ = simulator_.advance(x_, control, t_++);
    return simulator_.measure(x_, t_);
  }

 private:
  systems::Simulator simulator_;
  Vector x_;
  Index t_ = 0;
};

/// The rows before the first choice; row 0 has no output.
ssm::Sequence initial_rows(const systems::System& system, Rig& rig, const TrialOptions& options) {
  const Matrix controls = options.initial_controls
                              ? *options.initial_controls
                              : systems::random_controls(system, options.initial, {}, options.seed, options.trial);
  systems::check_in_control_box(system, controls);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  ssm::Sequence data{Matrix::Constant(controls.rows() + 1, system.control_dim(), kNaN),
                     Matrix::Constant(controls.rows() + 1, system.output_dim(), kNaN)};
  data.controls.topRows(controls.rows()) = controls;
  for (Index t = 0; t < controls.rows(); ++t) {
    data.outputs.row(t + 1) = rig.apply(controls.row(t).transpose()).transpose();
  }
  return data;
}

TrialStep judged(const ExplorationStep& step, const Evaluation& evaluation, const ssm::Model& model) {
  const auto begin = std::chrono::steady_clock::now();
  TrialStep result{step, evaluation.evaluate(model), 0.0};
  result.evaluate_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace

void TrialOptions::validate() const {
  if (steps < 1) {
    throw InputError(fmt::format("steps: {}, expected at least 1", steps));
  }
  const Index rows = initial_controls ? initial_controls->rows() : initial;
  if (rows < 2) {
    throw InputError(fmt::format("initial: {} measurement(s), expected at least 2", rows));
  }
  if (retrain_every < 1) {
    throw InputError(fmt::format("retrain-every: {} steps, expected at least 1", retrain_every));
  }
  if (paper && angles) {
    throw InputError("angles: the paper's model knows none; expected no angles with it");
  }
}

Trial run_trial(const systems::System& system, const Evaluation& evaluation, const TrialOptions& options,
                const OnTrialStep& on_step) {
  Trial trial;
  run_trial(system, evaluation, options, on_step, trial);
  return trial;
}

void run_trial(const systems::System& system, const Evaluation& evaluation, const TrialOptions& options,
               const OnTrialStep& on_step, Trial& trial) {
  options.validate();
  ExplorationOptions exploration_options{.strategy = options.strategy,
                                         .fit = {},
                                         .retrain_every = options.retrain_every,
                                         .landscape = options.landscape,
                                         .seed = options.seed,
                                         .trial = options.trial};
  ssm::ModelSpec spec = model_spec(system, true, options.angles);
  if (options.paper) {
    apply_paper_settings(system, spec, exploration_options.fit);
  }
  Rig rig(system, options);
  trial.data = initial_rows(system, rig, options);
  Exploration exploration(std::move(spec), system.spec().control_box, trial.data, std::move(exploration_options));
  const auto keep = [&trial, &exploration] {
    trial.model = exploration.model();
    trial.data = exploration.data();
  };
  const auto finish_step = [&](const ExplorationStep& step) {
    keep();
    trial.steps.push_back(judged(step, evaluation, trial.model));
    return !on_step || on_step(trial.steps.back());
  };
  try {
    bool go_on = finish_step(exploration.steps().back());
    for (Index k = 0; go_on && k < options.steps; ++k) {
      const Vector control = exploration.ask();
      go_on = finish_step(exploration.observe(control, rig.apply(control)));
    }
  } catch (...) {
    keep();  // a measurement whose training failed counts, too
    throw;
  }
}

}  // namespace gpilot::study
