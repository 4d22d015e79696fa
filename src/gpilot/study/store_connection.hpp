#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "gpilot/core/error.hpp"
#include "gpilot/study/record.hpp"
#include "gpilot/study/store.hpp"

/// Private to the sources of Store: what they share of SQLite.
namespace gpilot::study {

/// Runs `work` and says of SQLite's errors whose file it is and what happened.
template <class Work>
decltype(auto) guarded(const std::string& path, Work&& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode();
    if (code == SQLITE_NOTADB) {
      throw InputError(fmt::format("{}: not a study: the file is no SQLite database", path));
    }
    if (code == SQLITE_CANTOPEN) {
      throw InputError(fmt::format("{}: cannot open the study: {}", path, error.what()));
    }
    const char* const what = code == SQLITE_FULL      ? "the disk is full"
                             : code == SQLITE_IOERR   ? "the disk fails"
                             : code == SQLITE_CORRUPT ? "the file is damaged"
                                                      : error.what();
    throw StoreError(
        fmt::format("{}: the study's file cannot be used: {} (SQLite {})", path, what, error.getExtendedErrorCode()));
  }
}

// Checksums of rows (store_checksums.cpp).

/// Makes the SQL function that computes them known to a connection.
void add_checksum_function(SQLite::Database& db);
/// Stores the checksum of the rows of a table that an SQL condition names; part of the transaction that changed them.
void seal(SQLite::Database& db, std::string_view table, std::string_view where);
/// The same for all rows of all tables.
void seal_all(SQLite::Database& db);
bool has_checksums(SQLite::Database& db);

struct Store::Connection {
  Connection(const std::string& file, Access access) : path(file), db(open(file, access)) {
    constexpr int kBusyMilliseconds = 10'000;  // how long to wait for a checkpoint
    db.setBusyTimeout(kBusyMilliseconds);
    add_checksum_function(db);
    if (access == Access::kRead) {
      db.exec("PRAGMA query_only = ON");
      return;
    }
    db.exec("PRAGMA foreign_keys = ON");
    db.exec("PRAGMA synchronous = FULL");
    // The log is moved into the file after a training (see Store::add), when nobody waits; this is for the rest.
    db.exec("PRAGMA wal_autocheckpoint = 20000");
  }

  /// A reader opens the file for writing, too: after a crash it must be able to recover what is in the log beside the
  /// file. Where nothing can be written, and so nobody writes, the file itself is all there is.
  static SQLite::Database open(const std::string& file, Access access) {
    SQLite::Database db(file, SQLite::OPEN_READWRITE);
    if (access != Access::kRead || std::filesystem::exists(file + "-wal")) {
      return db;
    }
    try {
      db.execAndGet("SELECT count(*) FROM sqlite_master");
      return db;
    } catch (const SQLite::Exception& error) {
      if (error.getErrorCode() != SQLITE_CANTOPEN && error.getErrorCode() != SQLITE_READONLY) {
        throw;
      }
    }
    std::string name = "file:";
    for (const char c : file) {
      name += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", c) : std::string(1, c);
    }
    return {name + "?immutable=1", SQLite::OPEN_READONLY | SQLite::OPEN_URI};
  }

  /// Returns the number of rows that changed. Refuses to write to a file that is no longer where it was.
  template <class Bind>
  int run(const char* sql, Bind&& bind_values) {
    int moved = 0;
    if (::sqlite3_file_control(db.getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0) {
      throw StoreError(fmt::format("{}: the study's file was moved, replaced or removed while it was used", path));
    }
    SQLite::Statement statement(db, sql);
    bind_values(statement);
    return statement.exec();
  }

  template <class Row>
  void each(const char* sql, Row&& row) {
    SQLite::Statement statement(db, sql);
    while (statement.executeStep()) {
      row(statement);
    }
  }

  std::string path;
  SQLite::Database db;
  int version = 0;  ///< of the schema; a reader meets older ones
};

}  // namespace gpilot::study
