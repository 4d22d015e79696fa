#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"

namespace gpilot::io {

/// How a CSV file is written, found from its first lines. The default is a plain file.
struct Dialect {
  char separator = ',';            ///< ',' ';' or a tab
  bool decimal_comma = false;      ///< with ';' and tab only
  Index comment_lines = 0;         ///< lines that begin with '#'; grows while the file is read
  std::vector<std::string> units;  ///< the row of units below the names; empty: there is none
  std::vector<bool> stamps;        ///< by column: ISO time stamps, read as seconds since the first of the column
  std::string first_stamp;         ///< of the first such column

  /// "read as semicolon-separated, decimal comma, 1 comment line, units row skipped"; "" for a plain file.
  std::string note() const;
};

enum class Field { kNumber, kNotANumber, kOutOfRange };

/// Values beyond this are refused: their squares would overflow.
inline constexpr double kLargestValue = 1e150;

/// Parses a trimmed field with a decimal point: a number with or without a sign, or nothing or nan in any case, which
/// are NaN.
Field parse_field(std::string_view text, double& value);

/// Blanks at either end removed.
std::string_view trim_blanks(std::string_view text, std::string_view blanks = " \t\r");

/// Finds the dialect from the line of names and the lines below it (comments apart): the separator that splits them all
/// into as many fields (a comma if several do), the decimal mark, a row of units, columns of time stamps.
Dialect find_dialect(std::string_view names, std::span<const std::string> below);

}  // namespace gpilot::io
