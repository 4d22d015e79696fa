#include "gpilot/trials/trial.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/trials/system_model.hpp"

namespace gpilot::trials {

namespace {

constexpr Index kFirstInitialStep = -0x8000'0000LL;  ///< no random stream is used twice

/// How the limits were kept over some measurements.
struct Kept {
  Index measurements = 0;
  Index violations = 0;  ///< of them, with a true output outside
  Index unsafe = 0;      ///< of them, under a control of no safe plan
};

/// A simulated rig: applies controls one after another and measures.
class Rig {
 public:
  Rig(const systems::System& system, const explore::ExploreOptions& options)
      : system_(system),
        simulator_(system, {.seed = options.seed, .trial = options.trial}),
        limits_(options.limits),
        x_(simulator_.initial_state()) {}

  Vector apply(VectorRef control, bool safe = true) {
    x_ = simulator_.advance(x_, control, t_++);
    ++kept_.measurements;
    kept_.violations += limits_.any() && limits_.violated_by(system_.spec().emission * x_) ? 1 : 0;
    kept_.unsafe += safe ? 0 : 1;
    return simulator_.measure(x_, t_);
  }

  /// Since this was asked before.
  Kept kept() { return std::exchange(kept_, {}); }

 private:
  const systems::System& system_;
  systems::Simulator simulator_;
  plan::OutputLimits limits_;
  Vector x_;
  Index t_ = 0;
  Kept kept_;
};

/// The rows before the first choice; row 0 has no output. Their steps are far below 1, where the choices begin.
void measure_initial_rows(const systems::System& system, Rig& rig, const TrialOptions& options,
                          explore::Explorer& explorer) {
  const explore::ExploreOptions& e = explorer.options();
  const Matrix controls = options.initial_controls ? *options.initial_controls
                                                   : systems::random_controls(system, e.initial, {}, e.seed, e.trial);
  systems::check_in_control_box(system, controls);
  explorer.begin_sequence();
  for (Index t = 0; t < controls.rows(); ++t) {
    plan::Choice choice{.control = controls.row(t).transpose(), .step = kFirstInitialStep + t + 1};
    if (e.limits.any() && !options.initial_controls) {
      explorer.update();
      if (explorer.model()) {
        choice = explorer.choose(choice.step);
      }
    }
    const Vector control = choice.control;
    explorer.tell(choice, control, rig.apply(control, choice.safe));
  }
}

std::vector<Metric> limit_metrics(const Kept& kept, double probability) {
  const auto n = static_cast<double>(kept.measurements);
  return {{std::string(kLimitMetrics[0]), static_cast<double>(kept.violations) / n},
          {std::string(kLimitMetrics[1]), probability},
          {std::string(kLimitMetrics[2]), static_cast<double>(kept.unsafe) / n}};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A trial while it runs.
class Run {
 public:
  Run(const systems::System& system, const Evaluation& evaluation, const TrialOptions& options,
      explore::Explorer explorer, Trial& trial)
      : system_(system),
        evaluation_(evaluation),
        options_(options),
        limited_(options.explore.limits.any()),
        rig_(system, options.explore),
        explorer_(std::move(explorer)),
        trial_(trial) {}

  void run(const OnTrialStep& on_step) {
    try {
      measure_initial_rows(system_, rig_, options_, explorer_);
      bool go_on = finish({}, on_step);
      for (Index k = 1; go_on && k <= options_.explore.steps; ++k) {
        const auto begin = std::chrono::steady_clock::now();
        TrialStep step{.step = k, .choice = explorer_.choose(k)};
        step.choose_seconds = seconds_since(begin);
        if (explorer_.sure_enough(step.choice)) {
          trial_.stopped = explore::sure_enough_words(step.choice.reference_sd, explorer_.options().until_sd, k - 1);
          break;
        }
        step.outputs = rig_.apply(step.choice.control, step.choice.safe);
        explorer_.tell(step.outputs);
        go_on = finish(std::move(step), on_step);
      }
    } catch (...) {
      keep();  // a measurement whose training failed counts, too
      throw;
    }
  }

 private:
  void keep() {
    trial_.model = explorer_.model();
    if (!explorer_.data().empty()) {
      trial_.data = explorer_.data().front();
    }
  }

  /// Trains if it is due and judges the model. Returns whether to go on.
  bool finish(TrialStep step, const OnTrialStep& on_step) {
    const std::optional<explore::TrainingSummary> training = explorer_.update();
    step.trained = training.has_value() && training->status != ssm::FitStatus::kFailed;
    step.train_seconds = training ? training->seconds : 0.0;
    newest_ = training.value_or(newest_);
    step.training = newest_;
    keep();
    if (!trial_.model) {
      throw NumericalError(newest_.message);
    }
    const auto begin = std::chrono::steady_clock::now();
    step.metrics = evaluation_.evaluate(*trial_.model);
    step.evaluate_seconds = seconds_since(begin);
    if (limited_) {
      std::ranges::move(limit_metrics(rig_.kept(), step.choice.violation), std::back_inserter(step.metrics));
    }
    trial_.steps.push_back(std::move(step));
    return !on_step || on_step(trial_.steps.back());
  }

  const systems::System& system_;
  const Evaluation& evaluation_;
  const TrialOptions& options_;
  bool limited_;
  Rig rig_;
  explore::Explorer explorer_;
  Trial& trial_;
  explore::TrainingSummary newest_;
};

/// The model, the paper's if it is asked for, and how it is explored.
explore::Explorer make_explorer(const systems::System& system, const TrialOptions& options) {
  explore::ExploreOptions explore = options.explore;
  ssm::ModelSpec spec = model_spec(system, true, options.angles);
  if (options.paper) {
    apply_paper_settings(system, spec, explore.fit);
  }
  if (options.initial_controls) {
    explore.initial = options.initial_controls->rows();
  }
  return {std::move(spec), system.spec().control_box, explore,
          options.make_strategy ? options.make_strategy() : plan::make_strategy(explore.strategy)};
}

}  // namespace

void TrialOptions::validate(const systems::System& system) const {
  if (paper && angles) {
    throw InputError("angles: the paper's model knows none; expected no angles with it");
  }
  if (!make_strategy) {
    explore::check_until_sd(explore);
  }
  make_explorer(system, *this);  // throws
}

std::vector<std::string> trial_metrics(const Evaluation& evaluation, const TrialOptions& options) {
  std::vector<std::string> names = evaluation.names();
  if (options.explore.limits.any()) {
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
  options.validate(system);
  Run(system, evaluation, options, make_explorer(system, options), trial).run(on_step);
}

}  // namespace gpilot::trials
