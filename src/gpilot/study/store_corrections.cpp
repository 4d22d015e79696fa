#include <cstdint>

#include "gpilot/study/store.hpp"
#include "gpilot/study/store_columns.hpp"
#include "gpilot/study/store_connection.hpp"

namespace gpilot::study {

std::vector<CorrectionRecord> Store::corrections() const {
  std::vector<CorrectionRecord> all;
  if (db_->version < 3) {
    return all;
  }
  guarded(path_, [&] {
    db_->each(
        "SELECT id, step, voids, why, trainings, voided, applied, outputs, rig_time, made_at, sequence "
        "FROM corrections ORDER BY id",
        [&](SQLite::Statement& row) {
          all.push_back({.id = row.getColumn(0).getInt64(),
                         .step = row.getColumn(1).getInt64(),
                         .sequence = row.getColumn(10).getInt64(),
                         .voids = row.getColumn(2).getInt() != 0,
                         .why = text(row.getColumn(3)),
                         .trainings = row.getColumn(4).getInt64(),
                         .voided = row.getColumn(5).getInt() != 0,
                         .applied = numbers(row.getColumn(6)),
                         .outputs = numbers(row.getColumn(7)),
                         .rig_time = optional_real(row.getColumn(8)),
                         .made_at = text(row.getColumn(9))});
        });
  });
  return all;
}

void Store::add(const CorrectionRecord& c) {
  transaction([&] {
    db_->run(
        "INSERT INTO corrections (id, step, voids, why, trainings, voided, applied, outputs, rig_time, made_at, "
        "sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [&](SQLite::Statement& row) {
          row.bind(1, std::int64_t{c.id});
          if (c.step > 0) {
            row.bind(2, std::int64_t{c.step});
          }
          row.bind(3, c.voids ? 1 : 0);
          row.bind(4, c.why);
          row.bind(5, std::int64_t{c.trainings});
          row.bind(6, c.voided ? 1 : 0);
          bind_numbers(row, 7, c.applied);
          bind_numbers(row, 8, c.outputs);
          bind(row, 9, c.rig_time);
          row.bind(10, c.made_at);
          if (c.sequence > 0) {
            row.bind(11, std::int64_t{c.sequence});
          }
        });
    seal(db_->db, "corrections", by_id(c.id));
  });
}

}  // namespace gpilot::study
