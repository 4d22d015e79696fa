#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "gpilot/core/error.hpp"
#include "gpilot/core/types.hpp"
#include "gpilot/io/numbers_text.hpp"
#include "gpilot/study/record.hpp"

/// Private to the sources of Store: values of a row, from and to SQLite.
namespace gpilot::study {

inline void bind(SQLite::Statement& statement, int index, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) {
    statement.bind(index, *value);
  } else {
    statement.bind(index);
  }
}

inline void bind_numbers(SQLite::Statement& statement, int index, const Vector& values) {
  if (values.size() > 0) {
    statement.bind(index, io::format_numbers(values));
  } else {
    statement.bind(index);
  }
}

/// Empty for what is no list of numbers: whoever needs them finds too few.
inline Vector numbers(const SQLite::Column& column) {
  try {
    return column.isNull() ? Vector() : io::parse_numbers(column.getString());
  } catch (const InputError&) {
    return {};
  }
}

/// A word that only a damaged file has wrong: StoreError, or `otherwise` if there is nothing to say of it.
template <class Kind>
Kind word(const SQLite::Column& column, Kind (*parse)(std::string_view), Kind otherwise, const std::string& complaint) {
  try {
    return parse(column.getString());
  } catch (const InputError& error) {
    if (!complaint.empty()) {
      throw StoreError(fmt::format("{}: {}", complaint, error.what()));
    }
    return otherwise;
  }
}

inline std::optional<double> optional_real(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional(column.getDouble());
}

inline std::string by_id(Index id) {
  return fmt::format("id = {}", id);
}

inline std::string text(const SQLite::Column& column) {
  return column.isNull() ? std::string() : column.getString();
}

inline double real(const SQLite::Column& column) {
  return column.isNull() ? kNaN : column.getDouble();
}

}  // namespace gpilot::study
