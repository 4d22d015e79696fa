#include "gpilot/trials/trial.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/trials/system_knowledge.hpp"
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

/// A simulator, which knows its true outputs.
class SimulatedRig final : public TrialRig {
 public:
  SimulatedRig(const systems::System& system, const explore::ExploreOptions& options)
      : system_(system),
        simulator_(system, {.seed = options.seed, .trial = options.trial}),
        limits_(options.limits),
        x_(simulator_.initial_state()) {}

  void begin(explore::Explorer& explorer) override { explorer.begin_sequence(); }

  std::optional<Measured> apply(VectorRef control) override {
    x_ = simulator_.advance(x_, control, t_++);
    return Measured{.applied = control,
                    .outputs = simulator_.measure(x_, t_),
                    .violated = limits_.any() && limits_.violated_by(system_.spec().emission * x_)};
  }

 private:
  const systems::System& system_;
  systems::Simulator simulator_;
  plan::OutputLimits limits_;
  Vector x_;
  Index t_ = 0;
};

std::vector<Metric> limit_metrics(const Kept& kept, double probability) {
  const auto n = static_cast<double>(kept.measurements);
  return {{std::string(kLimitMetrics[0]), static_cast<double>(kept.violations) / n},
          {std::string(kLimitMetrics[1]), probability},
          {std::string(kLimitMetrics[2]), static_cast<double>(kept.unsafe) / n}};
}

/// The controls before the first choice.
struct InitialControls {
  Matrix controls = {};  ///< [rows x P]; none: the exploration draws them
  bool fixed = false;    ///< whatever the limits say
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A trial while it runs.
class Run {
 public:
  Run(const Evaluation& evaluation, explore::Explorer explorer, TrialRig& rig, Trial& trial)
      : evaluation_(evaluation),
        limited_(explorer.options().limits.any()),
        rig_(rig),
        explorer_(std::move(explorer)),
        trial_(trial) {}

  void run(const InitialControls& initial, const OnTrialStep& on_step) {
    try {
      rig_.begin(explorer_);
      measure_initial_rows(initial);
      bool go_on = finish({}, on_step);
      for (Index k = 1; go_on && k <= explorer_.options().steps; ++k) {
        TrialStep step{.step = k};
        const auto choose = [&] {
          const auto begin = std::chrono::steady_clock::now();
          step.choice = explorer_.choose(k);
          step.choose_seconds += seconds_since(begin);
          return step.choice;
        };
        if (explorer_.sure_enough(choose())) {
          trial_.stopped = explore::sure_enough_words(step.choice.reference_sd, explorer_.options().until_sd, k - 1);
          break;
        }
        step.outputs = measure(step.choice, choose);
        go_on = finish(std::move(step), on_step);
      }
    } catch (...) {
      keep();  // a measurement whose training failed counts, too
      throw;
    }
  }

 private:
  /// The rows before the first choice. Their steps are far below 1, where the choices begin.
  void measure_initial_rows(const InitialControls& initial) {
    const bool obeys = limited_ && !initial.fixed;
    const Index rows = initial.controls.rows() > 0 ? initial.controls.rows() : explorer_.options().initial;
    for (Index t = 0; t < rows; ++t) {
      const auto choose = [&] {
        if (obeys) {
          explorer_.update();
        }
        const Index step = kFirstInitialStep + t + 1;
        return initial.controls.rows() == 0 || (obeys && explorer_.model())
                   ? explorer_.choose(step)
                   : plan::Choice{.control = initial.controls.row(t).transpose(), .step = step};
      };
      measure(choose(), choose);
    }
  }

  /// Applies the choice and tells what came back. Where the rig could not, a sequence begins and it is made anew.
  template <class Choose>
  Vector measure(plan::Choice choice, const Choose& choose) {
    std::optional<Measured> measured = rig_.apply(choice.control);
    while (!measured) {
      rig_.begin(explorer_);
      choice = choose();
      measured = rig_.apply(choice.control);
    }
    ++kept_.measurements;
    kept_.violations += measured->violated ? 1 : 0;
    kept_.unsafe += choice.safe ? 0 : 1;
    explorer_.tell(std::move(choice), measured->applied, measured->outputs);
    if (measured->done) {
      rig_.begin(explorer_);
    }
    return measured->outputs;
  }

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
      std::ranges::move(limit_metrics(std::exchange(kept_, {}), step.choice.violation),
                        std::back_inserter(step.metrics));
    }
    trial_.steps.push_back(std::move(step));
    return !on_step || on_step(trial_.steps.back());
  }

  const Evaluation& evaluation_;
  bool limited_;
  TrialRig& rig_;
  explore::Explorer explorer_;
  Trial& trial_;
  Kept kept_;  ///< since the step before
  explore::TrainingSummary newest_;
};

/// The model, the paper's if it is asked for, and how it is explored.
explore::Explorer make_explorer(const systems::System& system, const TrialOptions& options) {
  explore::ExploreOptions explore = options.explore;
  ssm::ModelSpec spec = model_spec(system, options.derivatives, options.angles);
  declare_knowledge(system, options.knowledge, explore.seed, explore.trial, spec);
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
  if (paper && !knowledge.empty()) {
    throw InputError("know: the paper's model is told nothing; expected nothing with it");
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
  explore::Explorer explorer = make_explorer(system, options);
  const explore::ExploreOptions& e = explorer.options();
  const InitialControls initial{
      .controls = options.initial_controls.value_or(systems::random_controls(system, e.initial, {}, e.seed, e.trial)),
      .fixed = options.initial_controls.has_value()};
  systems::check_in_control_box(system, initial.controls);
  SimulatedRig rig(system, e);
  Run(evaluation, std::move(explorer), rig, trial).run(initial, on_step);
}

void run_trial(explore::Explorer explorer, TrialRig& rig, const Evaluation& evaluation, const OnTrialStep& on_step,
               Trial& trial) {
  Run(evaluation, std::move(explorer), rig, trial).run({}, on_step);
}

}  // namespace gpilot::trials
