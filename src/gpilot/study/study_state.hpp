#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/explore/explorer.hpp"
#include "gpilot/study/store.hpp"
#include "gpilot/study/study.hpp"
#include "gpilot/study/writer_lock.hpp"

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
  std::vector<SequenceRecord> sequences;
  std::vector<StepRecord> steps;
  std::vector<TrainingRecord> trainings;
  Index session = 0;
  std::string unusable;        ///< why this object can no longer write, if it cannot
  explore::Explorer explorer;  ///< is told all that was told

  void require_writable() const;
  void require_none_pending() const;
  const StepRecord* pending() const;
  const SequenceRecord* current() const;
  Index told() const;
  std::string sure_enough() const;

  /// A sequence to be added if there is none open.
  SequenceRecord next_sequence(SequenceOrigin origin, const Vector& outputs, std::string reason) const;
  SequenceRecord sequence_for_next_step() const;
  /// The step that would be asked next, in a sequence that is open or begins with it.
  StepRecord next_step(const SequenceRecord& sequence);

  /// Everything that the file holds. StoreError if it contradicts itself.
  void load();
  void check() const;
  /// Tells the explorer all steps, and gives it the newest model.
  void replay(const std::optional<std::string>& model);
  void take_model(const std::string& text);
  const TrainingRecord* newest_model() const;
  void begin(const SequenceRecord& sequence);
  void end_current();
  void close(StepRecord step, bool ends_sequence);
};

}  // namespace gpilot::study
