#include "gpilot/study/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "gpilot/core/error.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/io/descriptor.hpp"
#include "gpilot/io/write_target.hpp"
#include "gpilot/study/record.hpp"
#include "gpilot/study/schema.hpp"
#include "gpilot/study/stamp.hpp"
#include "gpilot/study/store_connection.hpp"

namespace gpilot::study {

namespace {

namespace fs = std::filesystem;

constexpr int kApplicationId = 0x67706c74;  // "gplt"

int pragma(SQLite::Database& db, const char* name) {
  return db.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

/// Brings a file to the newest version of the schema, all or nothing.
void migrate(SQLite::Database& db) {
  const std::vector<std::string_view>& versions = schema_versions();
  const auto newest = static_cast<int>(versions.size());
  const int version = pragma(db, "user_version");
  if (version == newest) {
    return;
  }
  const bool had_checksums = has_checksums(db);
  SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
  for (int k = version; k < newest; ++k) {
    db.exec(std::string(versions[static_cast<std::size_t>(k)]));
  }
  if (!had_checksums) {
    seal_all(db);  // what an older version wrote is taken as it is
  }
  db.exec(fmt::format("PRAGMA user_version = {}", newest));
  transaction.commit();
}

/// Gives the finished file its name, unless that is taken.
void publish(const fs::path& temporary, const std::string& path) {
  const fs::path target = fs::absolute(path);
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) {
      throw InputError(fmt::format("{}: the file exists already", path));
    }
    // A file system without that call: the writer's lock keeps other studies away.
    if ((errno != EINVAL && errno != ENOSYS) || fs::exists(target) ||
        ::rename(temporary.c_str(), target.c_str()) != 0) {
      io::fail_to_write(path);
    }
  }
  io::sync_directory(target.parent_path());
}

}  // namespace

void Store::create(const std::string& path, const std::string& config, const std::string& seed) {
  if (fs::exists(path)) {
    throw InputError(fmt::format("{}: the file exists already", path));
  }
  const io::WriteTarget target = io::write_target(path);
  // Under another name until it is whole. The writer's lock is held: what stands there was left by a process that died.
  const fs::path temporary = target.file.parent_path() / fmt::format(".{}.tmp", target.file.filename().string());
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(temporary.string() + suffix, ignored);
  }
  try {
    guarded(path, [&] {
      SQLite::Database db(temporary.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      db.exec("PRAGMA synchronous = FULL");
      add_checksum_function(db);
      db.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
      SQLite::Transaction transaction(db, SQLite::TransactionBehavior::IMMEDIATE);
      for (const std::string_view sql : schema_versions()) {
        db.exec(std::string(sql));
      }
      db.exec(fmt::format("PRAGMA user_version = {}", schema_versions().size()));
      SQLite::Statement insert(db, "INSERT INTO study (id, config, seed, version, created_at) VALUES (1, ?, ?, ?, ?)");
      insert.bind(1, config);
      insert.bind(2, seed);
      insert.bind(3, std::string(version()));
      insert.bind(4, utc_now());
      insert.exec();
      seal_all(db);
      transaction.commit();
      // Only now, when everything is in the file itself: a log beside it would not take part in the renaming.
      if (db.execAndGet("PRAGMA journal_mode = WAL").getString() != "wal") {
        throw StoreError(fmt::format("{}: the file system cannot hold a study (SQLite has no WAL there)", path));
      }
    });
    publish(temporary, target.file);
  } catch (...) {
    fs::remove(temporary, ignored);
    throw;
  }
}

Store::Store(std::string path, Access access) : path_(std::move(path)) {
  std::error_code ignored;
  if (!fs::exists(path_, ignored)) {
    throw InputError(fmt::format("{}: there is no such study", path_));
  }
  if (fs::is_directory(path_, ignored)) {
    throw InputError(fmt::format("{}: is a directory, expected a study", path_));
  }
  guarded(path_, [&] {
    db_ = std::make_unique<Connection>(path_, access);
    if (pragma(db_->db, "application_id") != kApplicationId) {
      throw InputError(fmt::format("{}: not a study: an SQLite database of another program", path_));
    }
    const int version = pragma(db_->db, "user_version");
    const auto newest = static_cast<int>(schema_versions().size());
    if (version > newest) {
      throw InputError(fmt::format("{}: written by a newer gpilot (schema version {}, this program reads up to {})",
                                   path_, version, newest));
    }
    db_->version = version;
    check_pages();
    if (access != Access::kRead) {
      migrate(db_->db);
      db_->version = newest;
    }
  });
}

Store::~Store() = default;
Store::Store(Store&&) noexcept = default;

void Store::snapshot(const std::function<void()>& work) const {
  guarded(path_, [&] {
    SQLite::Transaction transaction(db_->db);
    work();
    transaction.commit();
  });
}

void Store::transaction(const std::function<void()>& work) {
  guarded(path_, [&] {
    if (::sqlite3_get_autocommit(db_->db.getHandle()) == 0) {
      work();
      return;
    }
    SQLite::Transaction transaction(db_->db, SQLite::TransactionBehavior::IMMEDIATE);
    work();
    transaction.commit();
  });
}

}  // namespace gpilot::study
