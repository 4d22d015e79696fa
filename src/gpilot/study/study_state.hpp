#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/explore/explorer.hpp"
#include "gpilot/study/store.hpp"
#include "gpilot/study/study.hpp"
#include "gpilot/study/writer_lock.hpp"

namespace gpilot::study {

/// A study in memory: what its file holds, and what follows from that.
struct Study::State {
  State(const std::string& file, Access wanted, std::unique_ptr<WriterLock> writer_lock);
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
  std::vector<CorrectionRecord> corrections;
  std::vector<DamagedRow> damage;     ///< that must be repaired before anything else is done
  std::vector<DamagedRow> tolerated;  ///< that costs nothing but time
  std::vector<std::string> warnings;
  Index session = 0;
  Access access;
  std::string unusable;        ///< why this object can no longer write, if it cannot
  explore::Explorer explorer;  ///< is told all that was told
  const std::atomic<bool>* stop = nullptr;

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
  /// Begins the sequences and tells the steps up to `last` to an explorer; calls `after` after each.
  void retell(explore::Explorer& to, Index last, const std::function<void(Index step)>& after) const;
  const TrainingRecord* newest_model() const;
  /// Whether a training learned from what was corrected since, or its record is damaged: its model decides no more.
  bool is_stale(const TrainingRecord& training) const;
  bool concerns(const CorrectionRecord& c, Index after_step) const;
  /// A correction that came after a training had begun, of what it learned from; or null.
  const CorrectionRecord* missed_correction(const explore::TrainingResult& result) const;
  /// The newest training that is not stale, or null.
  const TrainingRecord* newest_training() const;
  void tell_explorer(explore::Explorer& to, const StepRecord& step) const;
  /// Sorts what the checksums say into what is refused and what is only said.
  void take_damage(const std::vector<DamagedRow>& rows);
  bool is_damaged(std::string_view table, Index id) const;
  std::string damage_words() const;
  void require_repairable() const;
  /// Puts a correction on the disk, then loads everything anew: as a process does that opens the study.
  void correct(CorrectionRecord correction, const std::function<void()>& change);
  void begin(const SequenceRecord& sequence);
  void end_current();
  void close(StepRecord step, bool ends_sequence);
};

}  // namespace gpilot::study
