#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/study/standpoint.hpp"
#include "gpilot/study/study.hpp"
#include "store.hpp"
#include "writer_lock.hpp"

namespace gpilot::study {

/// A study in memory: what its file holds, and what follows from that.
struct Study::State {
  State(const std::string& path, Access access, std::unique_ptr<WriterLock> lock);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  std::unique_ptr<WriterLock> lock;  ///< null for a reader; outlives the store
  std::string path;
  Store store;
  StudyHeader header;
  StudyConfig config;
  std::unique_ptr<acquisition::Strategy> strategy;
  std::vector<SequenceRecord> sequences;
  std::vector<StepRecord> steps;
  std::vector<TrainingRecord> trainings;
  Index session = 0;
  std::string unusable;     ///< why this object can no longer write, if it cannot
  bool model_lost = false;  ///< the newest model cannot be read: another is due

  std::optional<Standpoint> standpoint;  ///< of the newest model
  Index standing_in = 0;                 ///< the sequence it stands in
  Index followed = 0;                    ///< the newest step it has seen

  void require_writable() const;
  void require_none_pending() const;
  const StepRecord* pending() const;
  const SequenceRecord* current() const;
  Index told() const;
  std::string sure_enough() const;

  /// The rows of all steps told up to `last`.
  ssm::Dataset data(Index last) const;
  bool training_is_due() const;
  /// Places the model of a training at the end of its data.
  void stand(ssm::Model model, const TrainingRecord& training);
  /// Brings the standpoint to the newest row of a sequence.
  void catch_up(const SequenceRecord& sequence);

  /// A sequence to be added if there is none open.
  SequenceRecord next_sequence(SequenceOrigin origin, const Vector& outputs, std::string reason) const;
  SequenceRecord sequence_for_next_step() const;
  StepRecord choose(const SequenceRecord& sequence);

  struct Plan {
    Matrix controls;      ///< [.. x P] what is left, the next control first
    Index committed = 0;  ///< of them, to apply before another plan is made
  };
  Plan plan_left(const SequenceRecord& sequence) const;
  /// Where the control was before the next step of a sequence.
  Vector previous_control(const SequenceRecord& sequence) const;

  /// Everything that the file holds. StoreError if it contradicts itself.
  void load();
  void check() const;
  void take_model(const std::string& text);
  const TrainingRecord* newest_model() const;
  void close(StepRecord step, bool ends_sequence);
};

}  // namespace gpilot::study
