#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/study/record.hpp"

namespace gpilot::study {

/// What a study's file says of the study itself.
struct StudyHeader {
  std::string config;  ///< TOML
  std::string version;
  std::string created_at;
};

/// A row whose checksum is not that of what it holds. `id` is that of the row; of a late answer, its step.
struct DamagedRow {
  std::string table;
  Index id = 0;
};

/// The file of a study: one SQLite database in WAL mode with synchronous=FULL, so that whatever a call stored is on the
/// disk when it returns, and readers never block the writer. Every call is a transaction of its own unless it is within
/// transaction(). Throws StoreError when the file cannot be read or written, InputError when it is no study or one of a
/// newer version.
class Store {
 public:
  /// Makes the file, whole or not at all. InputError if there is one.
  static void create(const std::string& path, const std::string& config, const std::string& seed);

  Store(std::string path, Access access);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) = delete;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  StudyHeader header() const;
  std::vector<SequenceRecord> sequences() const;
  std::vector<StepRecord> steps() const;
  std::vector<TrainingRecord> trainings() const;
  std::vector<SessionRecord> sessions() const;
  Index late_tells() const;  ///< how many
  std::vector<CorrectionRecord> corrections() const;
  std::optional<std::string> model(Index training) const;
  /// Rows that something else than this program has changed. None in a file of a version without checksums.
  std::vector<DamagedRow> damage() const;

  /// Runs `work`, whose reads all see the same state of the file.
  void snapshot(const std::function<void()>& work) const;
  void set_config(const std::string& config);
  /// All or nothing of what `work` stores. Within another one it is a part of that.
  void transaction(const std::function<void()>& work);
  void add(const SequenceRecord& sequence) { put(sequence, "INSERT"); }
  void end_sequence(Index id);
  void add(const StepRecord& step) { put(step, "INSERT"); }
  /// Status, applied control, outputs, rig time and reason of a step that waits. StoreError if it does not.
  void close(const StepRecord& step);
  /// Keeps outputs that came too late; the same twice once.
  void add_late(const StepRecord& told);
  void add(const CorrectionRecord& correction);
  /// Writes a step or a sequence that is there anew.
  void replace(const StepRecord& step) { put(step, "REPLACE"); }
  void replace(const SequenceRecord& sequence) { put(sequence, "REPLACE"); }
  /// Keeps the newest `keep` models, and the records of all trainings.
  void add(const TrainingRecord& training, const std::string* model, Index keep);
  Index begin_session(const std::string& note);
  void end_session(Index id);

 private:
  /// StoreError if SQLite finds its own structure broken.
  void check_pages() const;
  std::string damaged(std::string_view table, Index id) const;
  void put(const SequenceRecord& sequence, const char* how);
  void put(const StepRecord& step, const char* how);

  struct Connection;
  std::string path_;
  std::unique_ptr<Connection> db_;
};

}  // namespace gpilot::study
