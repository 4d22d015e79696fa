#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "gpilot/core/types.hpp"
#include "gpilot/explore/training.hpp"
#include "gpilot/plan/choice.hpp"

/// What a study keeps of what happened. User units; times are UTC in ISO 8601.
namespace gpilot::study {

/// The study's file could not be read or written: a full or failing disk, a damaged file. What was acknowledged before
/// is in the file.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Another process writes to the study.
class StudyBusy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Access {
  kRead,
  kWrite,
  kRepair,  ///< to write, even if a step is damaged: it must be voided or corrected before anything else
};

enum class StepStatus {
  kAsked,    ///< waits for its outputs
  kTold,     ///< has them
  kFailed,   ///< the rig says that it did not work, or it was never sent
  kUnsafe,   ///< the rig refused it or broke it off
  kUnknown,  ///< nobody knows whether it was applied
};
enum class SequenceOrigin {
  kFirst,     ///< the study's first; the declared p(x_0) holds
  kReset,     ///< the rig was reset to p(x_0)
  kBroken,    ///< after a step of unknown outcome, or a pause: it begins anywhere
  kImported,  ///< measured before
};

std::string_view name(StepStatus status);
std::string_view name(SequenceOrigin origin);
/// Throw InputError for any other name.
StepStatus step_status_from_name(std::string_view text);
SequenceOrigin sequence_origin_from_name(std::string_view text);

struct StepRecord {
  Index id = 0;              ///< from 1, over the whole study
  Index sequence = 0;        ///< from 1
  plan::Choice choice = {};  ///< what was asked, and by whom; its step is the id
  StepStatus status = StepStatus::kAsked;
  Index training = 0;                   ///< whose model chose the control; 0 = none
  Vector applied = {};                  ///< [P] what the rig says it did; empty unless told
  Vector outputs = {};                  ///< [E] NaN = missing; empty unless told
  std::optional<double> rig_time = {};  ///< s
  std::string reason = {};              ///< of a failure
  bool voided = false;                  ///< kept, but not learned from: its outputs count as missing
  std::string void_reason = {};
  std::string asked_at = {}, closed_at = {};
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
  Index id = 0;  ///< from 1
  explore::TrainingSummary summary;
  std::string version;     ///< of the library
  bool has_model = false;  ///< the file still holds its model
  std::string finished_at;
};

/// A correction of a step, or of the first row of a sequence. What holds now stands there; here is what was on record
/// before.
struct CorrectionRecord {
  Index id = 0;        ///< from 1
  Index step = 0;      ///< 0 = the first row of a sequence
  Index sequence = 0;  ///< 0 = a step
  bool voids = false;  ///< outputs count as missing since then; else they were told anew
  std::string why = {};
  Index trainings = 0;  ///< how many there were: those of them that knew the step decide no more
  bool voided = false;  ///< before
  Vector applied = {};  ///< [P] before
  Vector outputs = {};  ///< [E] before
  std::optional<double> rig_time = {};
  std::string made_at = {};
};

struct SessionRecord {
  Index id = 0;
  Index pid = 0;
  std::string host, version, begun_at, ended_at, note;
};

}  // namespace gpilot::study
