#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>

#include "gpilot/core/version.hpp"
#include "gpilot/io/numbers_text.hpp"
#include "gpilot/study/stamp.hpp"
#include "gpilot/study/store.hpp"
#include "gpilot/study/store_columns.hpp"
#include "gpilot/study/store_connection.hpp"

namespace gpilot::study {

namespace {

bool has_failed(const StepRecord& step) {
  return step.status != StepStatus::kAsked && step.status != StepStatus::kTold;
}

/// The column `reason` says why a step failed; of any other, what is to be known about its choice.
const std::string& reason_of(const StepRecord& step) {
  return has_failed(step) ? step.reason : step.choice.note;
}

}  // namespace

/// What to say of a word that makes no sense; "" where the checksum of the row has told of it.
std::string Store::damaged(std::string_view table, Index id) const {
  return db_->version < 3 ? fmt::format("{}: damaged: {} {}", path_, table, id) : "";
}

StudyHeader Store::header() const {
  StudyHeader header;
  for (const DamagedRow& row : damage()) {
    if (row.table == "study") {
      throw StoreError(fmt::format("{}: damaged: the configuration is not the one that was stored", path_));
    }
  }
  guarded(path_, [&] {
    db_->each("SELECT config, version, created_at FROM study", [&](SQLite::Statement& row) {
      header = {row.getColumn(0).getString(), row.getColumn(1).getString(), row.getColumn(2).getString()};
    });
  });
  return header;
}

std::vector<SequenceRecord> Store::sequences() const {
  std::vector<SequenceRecord> all;
  guarded(path_, [&] {
    db_->each("SELECT id, origin, broad, outputs, reason, begun_at, ended FROM sequences ORDER BY id",
              [&](SQLite::Statement& row) {
                all.push_back({.id = row.getColumn(0).getInt64(),
                               .origin = word(row.getColumn(1), sequence_origin_from_name, SequenceOrigin::kBroken,
                                              damaged("sequence", row.getColumn(0).getInt64())),
                               .broad = row.getColumn(2).getInt() != 0,
                               .outputs = numbers(row.getColumn(3)),
                               .reason = text(row.getColumn(4)),
                               .begun_at = text(row.getColumn(5)),
                               .ended = row.getColumn(6).getInt() != 0});
              });
  });
  return all;
}

std::vector<StepRecord> Store::steps() const {
  std::vector<StepRecord> all;
  guarded(path_, [&] {
    const std::string sql = fmt::format(
        "SELECT id, sequence, phase, status, asked, applied, outputs, rig_time, training, criterion, evaluations, "
        "reason, asked_at, closed_at, {}, {} FROM steps ORDER BY id",
        db_->version < 2 ? "NULL, 1, NULL, NULL" : "violation, safe, reference_sd, plan",
        db_->version < 3 ? "0, 0" : "voided, fallback");
    db_->each(sql.c_str(), [&](SQLite::Statement& row) {
      const Index id = row.getColumn(0).getInt64();
      StepRecord step{.id = id,
                      .sequence = row.getColumn(1).getInt64(),
                      .choice = {.control = numbers(row.getColumn(4)),
                                 .phase = word(row.getColumn(2), plan::phase_from_name, plan::Phase::kImported,
                                               damaged("step", id)),
                                 .step = id,
                                 .criterion = real(row.getColumn(9)),
                                 .evaluations = row.getColumn(10).getInt(),
                                 .violation = real(row.getColumn(14)),
                                 .safe = row.getColumn(15).getInt() != 0,
                                 .reference_sd = real(row.getColumn(16)),
                                 .fallback = row.getColumn(19).getInt() != 0},
                      .status = word(row.getColumn(3), step_status_from_name, StepStatus::kTold, damaged("step", id)),
                      .training = row.getColumn(8).getInt64(),
                      .applied = numbers(row.getColumn(5)),
                      .outputs = numbers(row.getColumn(6)),
                      .voided = row.getColumn(18).getInt() != 0,
                      .asked_at = text(row.getColumn(12)),
                      .closed_at = text(row.getColumn(13))};
      const Vector plan = numbers(row.getColumn(17));
      const Index P = step.choice.control.size();
      const bool whole = P > 0 && plan.size() % P == 0;
      if (plan.size() > 0 && !whole && db_->version < 3) {
        throw StoreError(fmt::format("{}: damaged: step {}: wrong plan", path_, step.id));
      }
      step.choice.plan = plan.size() > 0 && whole ? Matrix(plan.reshaped(P, plan.size() / P).transpose()) : Matrix();
      (has_failed(step) ? step.reason : step.choice.note) = text(row.getColumn(11));
      step.rig_time = optional_real(row.getColumn(7));
      all.push_back(std::move(step));
    });
  });
  return all;
}

std::vector<TrainingRecord> Store::trainings() const {
  std::vector<TrainingRecord> all;
  guarded(path_, [&] {
    db_->each(
        "SELECT id, after_step, status, message, chosen, bound, version, model IS NOT NULL, seconds, finished_at "
        "FROM trainings ORDER BY id",
        [&](SQLite::Statement& row) {
          all.push_back(
              {.id = row.getColumn(0).getInt64(),
               .summary = {.after_step = row.getColumn(1).getInt64(),
                           .status = word(row.getColumn(2), ssm::fit_status_from_name, ssm::FitStatus::kFailed,
                                          damaged("training", row.getColumn(0).getInt64())),
                           .message = text(row.getColumn(3)),
                           .chosen = text(row.getColumn(4)),
                           .bound = real(row.getColumn(5)),
                           .seconds = row.getColumn(8).getDouble()},
               .version = text(row.getColumn(6)),
               .has_model = row.getColumn(7).getInt() != 0,
               .finished_at = text(row.getColumn(9))});
        });
  });
  return all;
}

std::vector<SessionRecord> Store::sessions() const {
  std::vector<SessionRecord> all;
  guarded(path_, [&] {
    db_->each("SELECT id, pid, host, version, begun_at, ended_at, note FROM sessions ORDER BY id",
              [&](SQLite::Statement& row) {
                all.push_back({.id = row.getColumn(0).getInt64(),
                               .pid = row.getColumn(1).getInt64(),
                               .host = text(row.getColumn(2)),
                               .version = text(row.getColumn(3)),
                               .begun_at = text(row.getColumn(4)),
                               .ended_at = text(row.getColumn(5)),
                               .note = text(row.getColumn(6))});
              });
  });
  return all;
}

Index Store::late_tells() const {
  return guarded(path_, [&] { return Index{db_->db.execAndGet("SELECT count(*) FROM late_tells").getInt64()}; });
}

std::optional<std::string> Store::model(Index training) const {
  std::optional<std::string> model;
  guarded(path_, [&] {
    SQLite::Statement query(db_->db, "SELECT model FROM trainings WHERE id = ? AND model IS NOT NULL");
    query.bind(1, std::int64_t{training});
    if (query.executeStep()) {
      model = query.getColumn(0).getString();
    }
  });
  return model;
}

void Store::put(const SequenceRecord& s, const char* how) {
  transaction([&] {
    db_->run(fmt::format("{} INTO sequences (id, origin, broad, outputs, reason, begun_at, ended) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?)",
                         how)
                 .c_str(),
             [&](SQLite::Statement& row) {
               row.bind(1, std::int64_t{s.id});
               row.bind(2, std::string(name(s.origin)));
               row.bind(3, s.broad ? 1 : 0);
               row.bind(4, io::format_numbers(s.outputs));
               row.bind(5, s.reason);
               row.bind(6, s.begun_at);
               row.bind(7, s.ended ? 1 : 0);
             });
    seal(db_->db, "sequences", by_id(s.id));
  });
}

void Store::end_sequence(Index id) {
  transaction([&] {
    db_->run("UPDATE sequences SET ended = 1 WHERE id = ?",
             [&](SQLite::Statement& row) { row.bind(1, std::int64_t{id}); });
    seal(db_->db, "sequences", by_id(id));
  });
}

void Store::put(const StepRecord& s, const char* how) {
  transaction([&] {
    const std::string sql = fmt::format(
        "{} INTO steps (id, sequence, phase, status, asked, applied, outputs, rig_time, training, criterion, "
        "evaluations, reason, asked_at, closed_at, violation, safe, reference_sd, plan, voided, fallback) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        how);
    db_->run(sql.c_str(), [&](SQLite::Statement& row) {
      row.bind(1, std::int64_t{s.id});
      row.bind(2, std::int64_t{s.sequence});
      row.bind(3, std::string(name(s.choice.phase)));
      row.bind(4, std::string(name(s.status)));
      row.bind(5, io::format_numbers(s.choice.control));
      bind_numbers(row, 6, s.applied);
      bind_numbers(row, 7, s.outputs);
      bind(row, 8, s.rig_time);
      if (s.training > 0) {
        row.bind(9, std::int64_t{s.training});
      }
      bind(row, 10, s.choice.criterion);
      row.bind(11, s.choice.evaluations);
      row.bind(12, reason_of(s));
      row.bind(13, s.asked_at);
      if (!s.closed_at.empty()) {
        row.bind(14, s.closed_at);
      }
      bind(row, 15, s.choice.violation);
      row.bind(16, s.choice.safe ? 1 : 0);
      bind(row, 17, s.choice.reference_sd);
      if (s.choice.plan.rows() > 0) {
        row.bind(18, io::format_numbers(s.choice.plan.transpose().reshaped()));
      }
      row.bind(19, s.voided ? 1 : 0);
      row.bind(20, s.choice.fallback ? 1 : 0);
    });
    seal(db_->db, "steps", by_id(s.id));
  });
}

void Store::close(const StepRecord& s) {
  transaction([&] {
    const int changed = db_->run(
        "UPDATE steps SET status = ?, applied = ?, outputs = ?, rig_time = ?, reason = ?, closed_at = ? "
        "WHERE id = ? AND status = 'asked'",
        [&](SQLite::Statement& row) {
          row.bind(1, std::string(name(s.status)));
          bind_numbers(row, 2, s.applied);
          bind_numbers(row, 3, s.outputs);
          bind(row, 4, s.rig_time);
          row.bind(5, reason_of(s));
          row.bind(6, s.closed_at);
          row.bind(7, std::int64_t{s.id});
        });
    if (changed != 1) {
      throw StoreError(
          fmt::format("{}: step {} does not wait any more: another program has changed the file", path_, s.id));
    }
    seal(db_->db, "steps", by_id(s.id));
  });
}

void Store::set_config(const std::string& config) {
  transaction([&] {
    db_->run("UPDATE study SET config = ?", [&](SQLite::Statement& row) { row.bind(1, config); });
    seal(db_->db, "study", "id = 1");
  });
}

void Store::add_late(const StepRecord& told) {
  transaction([&] {
    db_->run("INSERT OR IGNORE INTO late_tells (step, applied, outputs, rig_time, told_at) VALUES (?, ?, ?, ?, ?)",
             [&](SQLite::Statement& row) {
               row.bind(1, std::int64_t{told.id});
               row.bind(2, io::format_numbers(told.applied));
               row.bind(3, io::format_numbers(told.outputs));
               bind(row, 4, told.rig_time);
               row.bind(5, told.closed_at);
             });
    seal(db_->db, "late_tells", fmt::format("step = {}", told.id));
  });
}

void Store::add(const TrainingRecord& t, const std::string* model, Index keep) {
  transaction([&] {
    db_->run(
        "INSERT INTO trainings (id, after_step, status, message, chosen, bound, version, model, seconds, finished_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [&](SQLite::Statement& row) {
          row.bind(1, std::int64_t{t.id});
          row.bind(2, std::int64_t{t.summary.after_step});
          row.bind(3, std::string(name(t.summary.status)));
          row.bind(4, t.summary.message);
          row.bind(5, t.summary.chosen);
          bind(row, 6, t.summary.bound);
          row.bind(7, t.version);
          if (model != nullptr) {
            row.bind(8, *model);
          }
          row.bind(9, t.summary.seconds);
          row.bind(10, t.finished_at);
        });
    seal(db_->db, "trainings", by_id(t.id));
    const std::string old = fmt::format(
        "model IS NOT NULL AND id NOT IN (SELECT id FROM trainings WHERE model IS NOT NULL ORDER BY id DESC LIMIT {})",
        keep);
    std::vector<Index> forgotten;
    db_->each(("SELECT id FROM trainings WHERE " + old).c_str(),
              [&](SQLite::Statement& row) { forgotten.push_back(row.getColumn(0).getInt64()); });
    for (const Index id : forgotten) {
      db_->run("UPDATE trainings SET model = NULL WHERE id = ?",
               [&](SQLite::Statement& row) { row.bind(1, std::int64_t{id}); });
      seal(db_->db, "trainings", by_id(id));
    }
  });
  constexpr std::uintmax_t kLargestLog = 4 << 20;
  std::error_code none;
  if (const std::uintmax_t size = std::filesystem::file_size(path_ + "-wal", none); !none && size > kLargestLog) {
    // Its failure costs nothing: the log stays as it is.
    ::sqlite3_wal_checkpoint_v2(db_->db.getHandle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  }
}

Index Store::begin_session(const std::string& note) {
  return guarded(path_, [&] {
    db_->run("INSERT INTO sessions (pid, host, version, begun_at, note) VALUES (?, ?, ?, ?, ?)",
             [&](SQLite::Statement& row) {
               row.bind(1, std::int64_t{::getpid()});
               row.bind(2, host_name());
               row.bind(3, std::string(version()));
               row.bind(4, utc_now());
               row.bind(5, note);
             });
    return Index{db_->db.getLastInsertRowid()};
  });
}

void Store::end_session(Index id) {
  guarded(path_, [&] {
    db_->run("UPDATE sessions SET ended_at = ? WHERE id = ?", [&](SQLite::Statement& row) {
      row.bind(1, utc_now());
      row.bind(2, std::int64_t{id});
    });
  });
}

}  // namespace gpilot::study
