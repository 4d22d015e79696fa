#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"

/// Data files. CSV: a line of column names, then one line of numbers per row; a missing value is an empty field or
/// `nan` in any case. Quoted fields, CRLF line ends, a UTF-8 byte order mark and blank lines at the end are accepted,
/// and the dialects of dialect.hpp: semicolons, tabs, decimal commas, comments, a row of units, time stamps. In a file
/// of one column a blank line between rows is a missing value; elsewhere it is an error.
namespace gpilot::io {

/// Named columns of numbers; NaN = missing.
struct Table {
  std::vector<std::string> columns;
  Matrix values;          ///< [rows x columns]
  std::string note = {};  ///< what is peculiar about the file it was read from, or ""; see Dialect::note

  Index rows() const { return values.rows(); }
  /// The position of a column, or -1.
  Index find(std::string_view name) const;
  /// Appends columns; `block` is [rows x names.size()] and sets the number of rows if the table is empty.
  void append(std::span<const std::string> names, const MatrixRef& block);
};

/// Reads a whole file; at least one row. Throws InputError that names the file, the line, the column and the offending
/// text, and says what was expected.
Table read_csv(const std::string& path);

/// The file's text. Numbers are written with the fewest digits that read back to the same bits, NaN as an empty field
/// (as `nan` in a table of one column, where an empty line would be lost).
std::string format_csv(const Table& table);
void write_csv(const std::string& path, const Table& table);

/// Writes a file whole or not at all: into a temporary file beside it, to the disk, then renamed. A device or pipe is
/// written directly. Throws InputError if the path cannot be written to, std::system_error if the disk fails.
void write_file_atomically(const std::string& path, std::string_view text);

}  // namespace gpilot::io
