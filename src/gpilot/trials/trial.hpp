#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/study/evaluation.hpp"
#include "gpilot/study/exploration.hpp"
#include "gpilot/systems/system.hpp"

/// One exploration of a simulated system, judged after every step.
namespace gpilot::study {

struct TrialOptions {
  std::string strategy = "auto";
  Index steps = 30;
  Index initial = 5;  ///< measurements before the first choice, at least 2
  Index retrain_every = 1;
  std::uint64_t seed = 0;
  std::uint32_t trial = 0;  ///< trials with the same (seed, trial) share x_0, initial controls and noise
  bool paper = false;       ///< the paper's kernels, initial values and Adam training
  bool angles = false;      ///< declares the system's angles to the model
  bool landscape = false;
  std::optional<Matrix> initial_controls{};  ///< [at least 2 x P] instead of random ones; `initial` is ignored
  /// Where outputs must stay, user units. The random controls before the first choice obey them, too, from the second
  /// measurement on: each is drawn with a model of what was measured until then in view.
  std::optional<acquisition::OutputLimits> limits{};
  /// The trial ends when ExplorationStep::reference_sd falls below this, scaled units; NaN = never.
  double until_sd = std::numeric_limits<double>::quiet_NaN();
  acquisition::PlanningOptions planning{};  ///< of strategies that plan
  std::vector<ssm::Range> region{};         ///< where the model will be used, user units; empty: where its runs lead
  /// Makes a strategy of one's own instead of the one named above.
  std::function<std::unique_ptr<acquisition::Strategy>()> make_strategy{};

  /// Throws InputError naming the field.
  void validate() const;
};

struct TrialStep {
  ExplorationStep exploration;
  std::vector<Metric> metrics;  ///< in the order of trial_metrics()
  double evaluate_seconds = 0.0;
};

struct Trial {
  std::vector<TrialStep> steps;  ///< 0..steps; fewer if it was stopped
  ssm::Model model;              ///< the last one; has no states' rows before the first training
  std::string stopped{};         ///< why it ended before its steps were done; "" unless until_sd did it
  ssm::Sequence data;            ///< all that was measured, user units; row 0 has no outputs, the last no controls
};

/// The names of what follows, in this order.
inline constexpr std::string_view kLimitMetrics[] = {"violation", "violation_model", "no_safe_plan"};

/// The metrics of the evaluation and, with limits, how they were kept in a step, counted over the measurements since
/// the step before: for step 0 over the initial ones.
///   violation        share of the measurements whose true output, noise apart, lies outside the limits
///   violation_model  the probability of that under the model that chose the control (NaN for step 0)
///   no_safe_plan     share of the controls for which no plan was found that keeps the limits
std::vector<std::string> trial_metrics(const Evaluation& evaluation, const TrialOptions& options);

/// Called after every step; returning false stops the trial there.
using OnTrialStep = std::function<bool(const TrialStep&)>;

/// Single-threaded; depends on the system and the options alone.
Trial run_trial(const systems::System& system, const Evaluation& evaluation, const TrialOptions& options,
                const OnTrialStep& on_step = {});
/// The same into `trial`, which must be empty. Whenever on_step is called, and after an exception, it holds what there
/// is by then: the steps done, all measurements, and the last model if there is one.
void run_trial(const systems::System& system, const Evaluation& evaluation, const TrialOptions& options,
               const OnTrialStep& on_step, Trial& trial);

}  // namespace gpilot::study
