#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "gpilot/study/rig_run.hpp"

namespace gpilot::study {

/// A study and the process of its rig. Keeps the rules of rig_run.hpp.
class RigDriver {
 public:
  /// `started` is the first process, or null.
  RigDriver(Study& study, const RigRunOptions& options, std::unique_ptr<rig::Rig> started);
  /// Sends the safe control and ends the process.
  ~RigDriver();
  RigDriver(const RigDriver&) = delete;
  RigDriver& operator=(const RigDriver&) = delete;
  RigDriver(RigDriver&&) = delete;
  RigDriver& operator=(RigDriver&&) = delete;

  /// How many outputs are left to measure in this run.
  Index remaining() const {
    return summary_.over.empty() && study_.sure_enough().empty() ? options_.steps - summary_.told : 0;
  }
  /// Whether the run was asked to stop.
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }
  const std::atomic<bool>* stop() const { return options_.stop; }
  /// Makes sure that the rig runs and that the study agrees with it. False if that failed; RigRunFailed if it has
  /// failed too often.
  bool ready();
  rig::Rig& rig() { return *rig_; }
  Study& study() { return study_; }
  RigRunSummary& summary() { return summary_; }

  /// Trains if it is due; a stop cuts it short, and it does not count then.
  void train();
  /// Adopts a training, unless the run was asked to stop.
  void adopt(const explore::TrainingResult& result);
  /// Says that the outputs of a step are on the disk.
  void acknowledge(Index id);
  /// Keeps the answer to a step. An answer that says it failed ends the sequence.
  void take(Index id, const rig::RigAnswer& answer);
  /// The exchange of a step failed: the rig is given up, and another one will be started. `id` is 0 for an exchange
  /// that was no step.
  void give_up(Index id, const std::string& why);
  /// The rows that follow do not belong to the sequence: the next step begins another.
  void break_off(const std::string& why);
  /// The rig says that its episode is over: the next step begins a sequence, or, where there is no reset, none follows.
  void end_episode();
  /// Sends the safe control, if the rig is there; it is given up if that fails.
  void make_safe();
  /// Sends the safe control, ends the process, and ends the sequence of a rig that does not keep its state.
  void close();
  void emit(const RigRunEvent& event);

 private:
  void meet();
  void begin_sequence(const std::string& why);
  void apply_safe();
  /// Whether a step that waits may be sent again and its sequence go on. Not in real time: then time does not stand
  /// still.
  bool repeats() const { return rig_ && rig_->traits().idempotent && !options_.period_s; }
  void count_failure(const std::string& why);

  Study& study_;
  const RigRunOptions& options_;
  std::unique_ptr<rig::Rig> rig_;
  bool met_ = false;  ///< the study agrees with the state that this process may be in
  RigRunSummary summary_;
  Index failures_ = 0;      ///< in a row
  std::string recovering_;  ///< why the rig needs a new sequence before its next step; "" if it does not
  bool started_before_ = false;
  std::mutex emitting_;
};

/// Steps at fixed times until the rig fails or there is nothing left to measure.
void run_periods(RigDriver& driver, double period_s);

}  // namespace gpilot::study
