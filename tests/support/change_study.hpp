#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "gpilot/study/store_connection.hpp"

/// Studies that are changed behind their backs.
namespace gpilot::test {

/// As a failing disk or another program does.
inline void change(const std::string& study, const std::string& sql) {
  SQLite::Database(study, SQLite::OPEN_READWRITE).exec(sql);
}

/// With checksums that belong to it.
inline void change_and_seal(const std::string& study, const std::string& sql) {
  SQLite::Database db(study, SQLite::OPEN_READWRITE);
  study::add_checksum_function(db);
  db.exec(sql);
  study::seal_all(db);
}

}  // namespace gpilot::test
