#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "gpilot/types.hpp"

/// What a study keeps of what happened. User units; times are UTC in ISO 8601.
namespace gpilot::study {

enum class Access { kRead, kWrite };

enum class StepStatus {
  kAsked,    ///< waits for its outputs
  kTold,     ///< has them
  kFailed,   ///< the rig says that it did not work, or it was never sent
  kUnsafe,   ///< the rig refused it or broke it off
  kUnknown,  ///< nobody knows whether it was applied
};
enum class StepPhase {
  kRandom,    ///< before there is a model
  kChosen,    ///< by the strategy
  kSafe,      ///< the safe control, since no decision was ready in time
  kImported,  ///< measured before
};
enum class SequenceOrigin {
  kFirst,     ///< the study's first; the declared p(x_0) holds
  kReset,     ///< the rig was reset to p(x_0)
  kBroken,    ///< after a step of unknown outcome, or a pause: it begins anywhere
  kImported,  ///< measured before
};

std::string_view name(StepStatus status);
std::string_view name(StepPhase phase);
std::string_view name(SequenceOrigin origin);
/// Throw InputError for any other name.
StepStatus step_status_from_name(std::string_view text);
StepPhase step_phase_from_name(std::string_view text);
SequenceOrigin sequence_origin_from_name(std::string_view text);

struct StepRecord {
  Index id = 0;        ///< from 1, over the whole study
  Index sequence = 0;  ///< from 1
  StepPhase phase = StepPhase::kRandom;
  StepStatus status = StepStatus::kAsked;
  Vector asked;                                                 ///< [P]
  Vector applied;                                               ///< [P] what the rig says it did; empty unless told
  Vector outputs;                                               ///< [E] NaN = missing; empty unless told
  std::optional<double> rig_time;                               ///< s
  Index training = 0;                                           ///< whose model chose the control; 0 = none
  double criterion = std::numeric_limits<double>::quiet_NaN();  ///< at the control; NaN = none
  int evaluations = 0;                                          ///< of the criterion
  std::string reason;                                           ///< of a failure
  std::string asked_at, closed_at;
  /// Probability, under the model that chose, that the outputs leave their limits; NaN = none.
  double violation = std::numeric_limits<double>::quiet_NaN();
  bool safe = true;  ///< false: no control was found that keeps the limits
  double reference_sd = std::numeric_limits<double>::quiet_NaN();  ///< of acquisition::Choice; NaN = none
  std::string plan{};  ///< controls planned from this step on, a JSON array; "" = none
};

struct SequenceRecord {
  Index id = 0;  ///< from 1
  SequenceOrigin origin = SequenceOrigin::kFirst;
  bool broad = false;  ///< its first state may be anywhere
  Vector outputs;      ///< [E] of its first row; NaN = missing
  std::string reason;
  std::string begun_at;
  bool ended = false;
};

struct TrainingRecord {
  Index id = 0;          ///< from 1
  Index after_step = 0;  ///< trained on all steps told up to this one
  std::string status;    ///< as in ssm::FitReport, or "failed"
  std::string message;
  std::string chosen;  ///< the candidate it took
  double bound = std::numeric_limits<double>::quiet_NaN();
  std::string version;     ///< of the library
  bool has_model = false;  ///< the file still holds its model
  double seconds = 0.0;
  std::string finished_at;
};

struct SessionRecord {
  Index id = 0;
  Index pid = 0;
  std::string host, version, begun_at, ended_at, note;
};

}  // namespace gpilot::study
