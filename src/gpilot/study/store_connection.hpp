#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <string>

#include "gpilot/error.hpp"
#include "gpilot/study/study_error.hpp"
#include "store.hpp"

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

struct Store::Connection {
  /// A reader opens the file for writing, too, and then renounces: after a crash it must be able to recover what is in
  /// the log beside the file.
  Connection(const std::string& path, Access access) : db(path, SQLite::OPEN_READWRITE) {
    constexpr int kBusyMilliseconds = 10'000;  // how long to wait for a checkpoint
    db.setBusyTimeout(kBusyMilliseconds);
    if (access == Access::kRead) {
      db.exec("PRAGMA query_only = ON");
      return;
    }
    db.exec("PRAGMA foreign_keys = ON");
    db.exec("PRAGMA synchronous = FULL");
    // The log is moved into the file after a training (see Store::add), when nobody waits; this is for the rest.
    db.exec("PRAGMA wal_autocheckpoint = 20000");
  }

  template <class Bind>
  void run(const char* sql, Bind&& bind_values) {
    SQLite::Statement statement(db, sql);
    bind_values(statement);
    statement.exec();
  }

  template <class Row>
  void each(const char* sql, Row&& row) {
    SQLite::Statement statement(db, sql);
    while (statement.executeStep()) {
      row(statement);
    }
  }

  SQLite::Database db;
};

}  // namespace gpilot::study
