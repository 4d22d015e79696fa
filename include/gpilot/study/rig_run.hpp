#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "gpilot/rig/rig.hpp"
#include "gpilot/study/study.hpp"

/// A study that runs a rig: asks for a control, has the rig apply it, tells what came back, and so on.
///
/// After a crash or a failure nobody knows the state of a physical system, so these rules hold:
///  - a step that waits for its answer is sent again only to a rig that declares itself idempotent; for any other, and
///    in real time, it becomes `unknown`;
///  - the sequence of an idempotent rig goes on; any other begins a new one, from p(x_0) if the rig can be reset, and
///    anywhere if not; so does every rig in real time;
///  - a rig that says that its episode is over is reset for the next sequence; one that cannot be reset ends the run;
///  - after every failure, before a sequence that no reset begins, and at the end, the rig is sent the safe control.
namespace gpilot::study {

struct RigRunEvent {
  enum class Kind { kRig, kSequence, kTrained, kTold, kFailed };
  Kind kind = Kind::kTold;
  std::string text;                          ///< what happened, for kRig and kFailed
  const StepRecord* step = nullptr;          ///< kTold and kFailed, where there is one
  const TrainingRecord* training = nullptr;  ///< kTrained
};

struct RigRunOptions {
  rig::RigOptions rig;
  Index steps = 0;     ///< outputs to measure in this run
  Index failures = 3;  ///< failures in a row after which the run ends
  /// Seconds between two steps: decisions are made in time, and training goes on beside them. Without it every step
  /// waits for the training before it.
  std::optional<double> period_s;
  std::function<void(const RigRunEvent&)> on_event;
  const std::atomic<bool>* stop = nullptr;  ///< ends the run after the step at hand

  /// Throws InputError naming the field.
  void validate() const;
};

struct RigRunSummary {
  Index told = 0;                ///< outputs measured in this run
  Index failed = 0;              ///< steps that failed, were unsafe, or whose outcome is unknown
  Index restarts = 0;            ///< of the rig's process
  Index implausible = 0;         ///< steps of which an output was kept, but not learned from
  Index failed_trainings = 0;    ///< the model before each decided instead
  Index random = 0;              ///< steps under a random control, since training or choosing had failed
  std::string random_because{};  ///< the newest reason
  Index missed = 0;              ///< periods without a decision in time, in which the safe control was applied
  Index outside = 0;             ///< outputs measured outside their limits
  Index no_plan = 0;             ///< steps for which no plan was found that keeps them
  Index episodes = 0;            ///< sequences that the rig ended, without a failure
  bool stopped = false;
  std::string sure_enough{};  ///< of the study, when the run ended
  std::string over{};         ///< why the rig can give no more measurements, though nothing failed; "" if it can
};

/// The rig failed too often in a row. What was measured is in the study.
class RigRunFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The options for a rig from the settings of a configuration; its log stands beside the study.
rig::RigOptions rig_options(const RigSettings& settings, const std::string& study_path);

/// Starts a rig, which has said hello when this returns. Throws as rig::Rig does, and InputError for a rig that
/// declares something else than the configuration does (rig::misfit): it has been closed then, with the safe control.
std::unique_ptr<rig::Rig> start_rig(const rig::RigOptions& options, const StudyConfig& config);

/// Brings a rig to its initial state and returns the outputs that it measured there, if any. Throws RigError if it
/// could not be done.
Vector reset_rig(rig::Rig& rig, Index seed);

/// A rig that has no study yet, started as a run does: after a failure again, RigRunFailed after options.failures of
/// them. InputError as start_rig() throws it. Null if the run was asked to stop. For what Study::create() calls before
/// it makes a file, so that nothing is left behind by a rig that cannot be run.
std::unique_ptr<rig::Rig> first_start(const RigRunOptions& options, const StudyConfig& config);

/// Runs the rig: `started` if there is one, else a new process. Whatever happens, the rig has been sent the safe
/// control and its process has ended when this returns or throws.
RigRunSummary run_rig(Study& study, const RigRunOptions& options, std::unique_ptr<rig::Rig> started = nullptr);

}  // namespace gpilot::study
