#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/explore/explorer.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/evaluation.hpp"
#include "gpilot/trials/trial_record.hpp"

/// One exploration of a simulated system or a rig, judged after every step.
namespace gpilot::trials {

/// What came back from a step.
struct Measured {
  Vector applied;         ///< [P]
  Vector outputs;         ///< [E], NaN = missing
  bool violated = false;  ///< the outputs, true ones where they are known, lie outside their limits
  bool done = false;      ///< the sequence ends with it
};

/// What a trial explores.
class TrialRig {
 public:
  virtual ~TrialRig() = default;
  /// Begins a sequence and tells the exploration how.
  virtual void begin(explore::Explorer& explorer) = 0;
  /// Applies a control for one step; nothing if it could not be done, and a new sequence must begin.
  virtual std::optional<Measured> apply(VectorRef control) = 0;
};

struct TrialOptions {
  /// How it explores. Trials with the same (seed, trial) share x_0, initial controls and noise. With limits the random
  /// controls before the first choice obey them, too, from the third on: by then there is a model.
  explore::ExploreOptions explore{};
  bool paper = false;                        ///< the paper's kernels, initial values and Adam training
  bool derivatives = true;                   ///< declares which states are derivatives of others
  bool angles = false;                       ///< declares the system's angles to the model
  std::vector<std::string> knowledge{};      ///< what else it is told, see trials/system_knowledge.hpp
  std::optional<Matrix> initial_controls{};  ///< [at least 2 x P] instead of random ones; `explore.initial` is ignored
  /// Makes a strategy of one's own instead of the one named above.
  std::function<std::unique_ptr<plan::Strategy>()> make_strategy{};

  /// Throws InputError naming the field.
  void validate(const systems::System& system) const;
};

/// What happened in one step of a trial.
struct TrialStep {
  Index step = 0;            ///< from 1; step 0 is the training on the initial rows
  plan::Choice choice = {};  ///< its control is empty for step 0
  Vector outputs = {};       ///< [E] that followed
  bool trained = false;
  explore::TrainingSummary training = {};  ///< the newest, of this step if it trained
  std::vector<Metric> metrics = {};        ///< in the order of trial_metrics()
  double choose_seconds = 0.0;
  double train_seconds = 0.0;  ///< 0 if this step did not train
  double evaluate_seconds = 0.0;
};

struct Trial {
  std::vector<TrialStep> steps;             ///< 0..steps; fewer if it was stopped
  std::shared_ptr<const ssm::Model> model;  ///< the last one; null before the first training
  std::string stopped{};                    ///< why it ended before its steps were done; "" unless until_sd did it
  ssm::Sequence data;  ///< all that was measured, user units; row 0 has no outputs, the last no controls
};

/// What a comparison keeps of a step.
RecordedStep record_of(const TrialStep& step);

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
/// The same for any rig; the exploration draws the initial controls.
void run_trial(explore::Explorer explorer, TrialRig& rig, const Evaluation& evaluation, const OnTrialStep& on_step,
               Trial& trial);

}  // namespace gpilot::trials
