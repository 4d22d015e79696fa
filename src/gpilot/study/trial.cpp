#include "gpilot/study/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/study/standpoint.hpp"
#include "gpilot/study/system_model.hpp"
#include "gpilot/systems/controls.hpp"
#include "gpilot/systems/simulate.hpp"

namespace gpilot::study {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// How the limits were kept over some measurements.
struct Kept {
  Index measurements = 0;
  Index violations = 0;  ///< of them, with a true output outside
  Index unsafe = 0;      ///< of them, under a control of no safe plan
};

/// A simulated rig: applies controls one after another and measures.
class Rig {
 public:
  Rig(const systems::System& system, const TrialOptions& options)
      : system_(system),
        simulator_(system, {.seed = options.seed, .trial = options.trial}),
        limits_(options.limits),
        x_(simulator_.initial_state()) {}

  Vector apply(VectorRef control, bool safe = true) {
    x_ = simulator_.advance(x_, control, t_++);
    ++kept_.measurements;
    kept_.violations += limits_ && limits_->violated_by(system_.spec().emission * x_) ? 1 : 0;
    kept_.unsafe += safe ? 0 : 1;
    return simulator_.measure(x_, t_);
  }

  /// Since this was asked before.
  Kept kept() { return std::exchange(kept_, {}); }

 private:
  const systems::System& system_;
  systems::Simulator simulator_;
  std::optional<acquisition::OutputLimits> limits_;
  Vector x_;
  Index t_ = 0;
  Kept kept_;
};

/// A random control that obeys the limits as far as the rows at hand tell. A training that fails leaves the draw.
acquisition::Choice limited_control(const systems::System& system, const ssm::Dataset& history,
                                    const ssm::ModelSpec& spec, const inference::FitOptions& fit,
                                    const TrialOptions& options, Vector draw) {
  constexpr std::uint32_t kInitialSteps = 0x8000'0000;  // explorations count from 1: no stream is used twice
  try {
    Standpoint standpoint(inference::fit(history, spec, fit), options.seed);
    standpoint.limit(*options.limits);
    const auto step = kInitialSteps + static_cast<std::uint32_t>(history.front().rows());
    return standpoint.choose(*acquisition::make_strategy("random"), {.box = system.spec().control_box,
                                                                     .history = &history,
                                                                     .planning = options.planning,
                                                                     .seed = options.seed,
                                                                     .trial = options.trial,
                                                                     .step = step});
  } catch (const NumericalError&) {
    return {.control = std::move(draw), .plan = {}, .landscape = {}};
  }
}

/// The rows before the first choice; row 0 has no output.
ssm::Sequence initial_rows(const systems::System& system, Rig& rig, const ssm::ModelSpec& spec,
                           const inference::FitOptions& fit, const TrialOptions& options) {
  constexpr Index kFewestRows = 2;  // measurements that a model can be trained on
  const Matrix controls = options.initial_controls
                              ? *options.initial_controls
                              : systems::random_controls(system, options.initial, {}, options.seed, options.trial);
  systems::check_in_control_box(system, controls);
  ssm::Sequence data{Matrix::Constant(controls.rows() + 1, system.control_dim(), kNaN),
                     Matrix::Constant(controls.rows() + 1, system.output_dim(), kNaN)};
  for (Index t = 0; t < controls.rows(); ++t) {
    acquisition::Choice choice{.control = controls.row(t).transpose(), .plan = {}, .landscape = {}};
    if (options.limits && !options.initial_controls && t >= kFewestRows) {
      const ssm::Dataset history{{data.controls.topRows(t + 1), data.outputs.topRows(t + 1)}};
      choice = limited_control(system, history, spec, fit, options, choice.control);
    }
    data.controls.row(t) = choice.control.transpose();
    data.outputs.row(t + 1) = rig.apply(choice.control, choice.safe).transpose();
  }
  return data;
}

std::vector<Metric> limit_metrics(const Kept& kept, double probability) {
  const auto n = static_cast<double>(kept.measurements);
  return {{std::string(kLimitMetrics[0]), static_cast<double>(kept.violations) / n},
          {std::string(kLimitMetrics[1]), probability},
          {std::string(kLimitMetrics[2]), static_cast<double>(kept.unsafe) / n}};
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
  if (const std::string wrong = acquisition::no_reference_sd(strategy);
      !std::isnan(until_sd) && !make_strategy && !wrong.empty()) {
    throw InputError(fmt::format("until-sd: {}", wrong));
  }
}

std::vector<std::string> trial_metrics(const Evaluation& evaluation, const TrialOptions& options) {
  std::vector<std::string> names = evaluation.names();
  if (options.limits) {
    names.insert(names.end(), std::begin(kLimitMetrics), std::end(kLimitMetrics));
  }
  return names;
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
                                         .planning = options.planning,
                                         .region = options.region,
                                         .retrain_every = options.retrain_every,
                                         .landscape = options.landscape,
                                         .seed = options.seed,
                                         .trial = options.trial,
                                         .limits = options.limits,
                                         .until_sd = options.until_sd};
  ssm::ModelSpec spec = model_spec(system, true, options.angles);
  if (options.paper) {
    apply_paper_settings(system, spec, exploration_options.fit);
  }
  if (options.limits) {
    options.limits->validate(spec.outputs);
  }
  exploration_options.fit.seed = options.seed;
  Rig rig(system, options);
  trial.data = initial_rows(system, rig, spec, exploration_options.fit, options);
  Exploration exploration(
      std::move(spec), system.spec().control_box, trial.data, std::move(exploration_options),
      options.make_strategy ? options.make_strategy() : acquisition::make_strategy(options.strategy));
  const auto keep = [&trial, &exploration] {
    trial.model = exploration.model();
    trial.data = exploration.data();
  };
  const auto finish_step = [&](const ExplorationStep& step) {
    keep();
    trial.steps.push_back(judged(step, evaluation, trial.model));
    if (options.limits) {
      Kept kept = rig.kept();
      kept.unsafe += step.safe ? 0 : 1;
      std::ranges::move(limit_metrics(kept, step.violation), std::back_inserter(trial.steps.back().metrics));
    }
    return !on_step || on_step(trial.steps.back());
  };
  try {
    bool go_on = finish_step(exploration.steps().back());
    for (Index k = 0; go_on && k < options.steps; ++k) {
      if (exploration.sure_enough()) {
        trial.stopped = sure_enough_words(exploration.choice().reference_sd, options.until_sd, k);
        break;
      }
      const Vector control = exploration.ask();
      go_on = finish_step(exploration.observe(control, rig.apply(control)));
    }
  } catch (...) {
    keep();  // a measurement whose training failed counts, too
    throw;
  }
}

}  // namespace gpilot::study
