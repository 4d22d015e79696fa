#include <fmt/format.h>

#include <array>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include "gpilot/core/error.hpp"
#include "gpilot/io/checksum.hpp"
#include "gpilot/study/store_connection.hpp"

namespace gpilot::study {

namespace {

constexpr int kFirstVersion = 3;  ///< of the schema, that has checksums

struct CheckedTable {
  std::string_view name;
  std::string_view columns;  ///< all but the checksum
};

constexpr std::array kChecked{
    CheckedTable{"study", "id, config, seed, version, created_at"},
    CheckedTable{"sequences", "id, origin, broad, outputs, reason, begun_at, ended"},
    CheckedTable{"trainings", "id, after_step, status, message, chosen, bound, version, model, seconds, finished_at"},
    CheckedTable{"steps",
                 "id, sequence, phase, status, asked, applied, outputs, rig_time, training, criterion, evaluations, "
                 "reason, asked_at, closed_at, violation, safe, reference_sd, plan, voided, fallback"},
    CheckedTable{"late_tells", "step, applied, outputs, rig_time, told_at"},
    CheckedTable{"corrections",
                 "id, step, sequence, voids, why, trainings, voided, applied, outputs, rig_time, made_at"},
};

/// A value with its type and length, so that no two rows read the same.
void append(std::string& bytes, sqlite3_value* value) {
  const int type = ::sqlite3_value_type(value);
  bytes += static_cast<char>('0' + type);
  if (type == SQLITE_INTEGER) {
    bytes += fmt::format("{}", ::sqlite3_value_int64(value));
  } else if (type == SQLITE_FLOAT) {
    std::array<char, sizeof(double)> bits{};
    const double number = ::sqlite3_value_double(value);
    std::memcpy(bits.data(), &number, sizeof number);
    bytes.append(bits.data(), bits.size());
  } else if (type != SQLITE_NULL) {
    const void* const begin = ::sqlite3_value_blob(value);
    const auto size = static_cast<std::size_t>(::sqlite3_value_bytes(value));
    bytes += fmt::format("{}:", size);
    bytes.append(static_cast<const char*>(begin), begin == nullptr ? 0 : size);
  }
}

void checksum_of_values(sqlite3_context* context, int count, sqlite3_value** values) {
  try {
    std::string bytes;
    for (int k = 0; k < count; ++k) {
      append(bytes, values[k]);
    }
    const std::string sum = io::checksum(bytes);
    ::sqlite3_result_text(context, sum.c_str(), static_cast<int>(sum.size()), SQLITE_TRANSIENT);
  } catch (const std::exception&) {  // SQLite is C: nothing may fly through it
    ::sqlite3_result_error_nomem(context);
  }
}

/// Whether a finding of SQLite's is about what a row holds: checksums tell that, and which row it is.
bool is_about_a_value(std::string_view found) {
  return found.starts_with("CHECK constraint failed") || found.starts_with("NULL value in") ||
         found.starts_with("non-");
}

const CheckedTable& checked_table(std::string_view name) {
  for (const CheckedTable& table : kChecked) {
    if (table.name == name) {
      return table;
    }
  }
  throw std::logic_error(fmt::format("no checksums in {}", name));
}

}  // namespace

void add_checksum_function(SQLite::Database& db) {
  db.createFunction("gpilot_checksum", -1, true, nullptr, checksum_of_values, nullptr, nullptr, nullptr);
}

void seal(SQLite::Database& db, std::string_view table, std::string_view where) {
  const CheckedTable& checked = checked_table(table);
  db.exec(fmt::format("UPDATE {} SET checksum = gpilot_checksum({}) WHERE {}", table, checked.columns, where));
}

void seal_all(SQLite::Database& db) {
  for (const CheckedTable& table : kChecked) {
    seal(db, table.name, "true");
  }
}

bool has_checksums(SQLite::Database& db) {
  return db.execAndGet("SELECT count(*) FROM pragma_table_info('steps') WHERE name = 'checksum'").getInt() > 0;
}

void Store::check_pages() const {
  guarded(path_, [&] {
    db_->each("PRAGMA quick_check(100)", [&](SQLite::Statement& row) {
      const std::string found = row.getColumn(0).getString();
      if (found != "ok" && (db_->version < kFirstVersion || !is_about_a_value(found))) {
        throw StoreError(fmt::format("{}: the study's file is damaged: {}", path_, found));
      }
    });
    if (has_checksums(db_->db) != (db_->version >= kFirstVersion)) {
      throw StoreError(
          fmt::format("{}: the study's file is damaged: it is not of schema version {}", path_, db_->version));
    }
  });
}

std::vector<DamagedRow> Store::damage() const {
  std::vector<DamagedRow> all;
  if (db_->version < kFirstVersion) {
    return all;
  }
  guarded(path_, [&] {
    for (const CheckedTable& table : kChecked) {
      const std::string sql = fmt::format("SELECT {} FROM {} WHERE checksum IS NOT gpilot_checksum({}) ORDER BY 1",
                                          table.name == "late_tells" ? "step" : "id", table.name, table.columns);
      db_->each(sql.c_str(), [&](SQLite::Statement& row) {
        all.push_back({std::string(table.name), row.getColumn(0).getInt64()});
      });
    }
  });
  return all;
}

}  // namespace gpilot::study
