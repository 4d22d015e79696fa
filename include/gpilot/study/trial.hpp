#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/study/evaluation.hpp"
#include "gpilot/study/exploration.hpp"
#include "gpilot/systems/system.hpp"

/// One exploration of a simulated system, judged after every step.
namespace gpilot::study {

struct TrialOptions {
  std::string strategy = "totmi";
  Index steps = 30;
  Index initial = 5;  ///< measurements before the first choice, at least 2
  Index retrain_every = 1;
  std::uint64_t seed = 0;
  std::uint32_t trial = 0;  ///< trials with the same (seed, trial) share x_0, initial controls and noise
  bool paper = false;       ///< the paper's kernels, initial values and Adam training
  bool angles = false;      ///< declares the system's angles to the model
  bool landscape = false;
  std::optional<Matrix> initial_controls{};  ///< [at least 2 x P] instead of random ones; `initial` is ignored

  /// Throws InputError naming the field.
  void validate() const;
};

struct TrialStep {
  ExplorationStep exploration;
  std::vector<Metric> metrics;
  double evaluate_seconds = 0.0;
};

struct Trial {
  std::vector<TrialStep> steps;  ///< 0..steps; fewer if it was stopped
  ssm::Model model;              ///< the last one; has no states' rows before the first training
  ssm::Sequence data;            ///< all that was measured, user units; row 0 has no outputs, the last no controls
};

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
