#pragma once

#include <deque>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/io/dialect.hpp"

namespace gpilot::io {

/// Reads a CSV file row by row, in memory of its first lines and one row. Every error names the file, the line, the
/// column and the offending text, and says what was expected.
class CsvReader {
 public:
  /// Opens the file, finds its dialect and reads the names. Throws InputError.
  explicit CsvReader(const std::string& path);

  const std::vector<std::string>& columns() const { return columns_; }
  /// The next row; false at the end of the file. Throws InputError for a line that is none, and for a file of no rows.
  bool next();
  std::span<const double> values() const { return values_; }
  /// The line of the file that the row stands on, counted from 1.
  Index line() const { return row_line_; }
  /// How the file is written, as far as it has been read.
  const Dialect& dialect() const { return dialect_; }

 private:
  bool next_line();
  bool line_is_blank() const;
  void read_first_lines();
  void read_header();
  void check_header() const;
  void check_blank_line(Index line) const;
  void read_row();
  double parse(std::string_view field, std::size_t column);
  double parse_stamp(std::string_view field, std::size_t column);
  void split_line();
  std::size_t unquote(std::size_t open);
  [[noreturn]] void fail(std::string_view message) const;
  [[noreturn]] void fail_field(std::string_view field, std::size_t column, Field kind) const;

  std::string path_;
  std::ifstream stream_;
  std::deque<std::string> ahead_;  ///< first lines that were looked at and not read yet
  Dialect dialect_;
  char decimal_mark_ = 0;  ///< of a file without commas between fields, once one has been seen
  std::string line_;
  std::string number_;  ///< a field with its decimal comma made a point
  Index line_number_ = 0;
  Index row_line_ = 0;
  Index rows_ = 0;
  Index blank_lines_ = 0;  ///< above line_, not yet handed out as rows
  bool pending_ = false;   ///< line_ holds a row that has not been handed out
  std::vector<std::string> columns_;
  std::vector<std::string_view> fields_;
  std::vector<double> values_;
  std::vector<long long> origins_;  ///< by column: the first time stamp
  std::vector<bool> started_;       ///< by column: whether there was one
};

}  // namespace gpilot::io
