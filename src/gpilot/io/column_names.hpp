#pragma once

#include <span>
#include <string>
#include <string_view>

#include "gpilot/core/types.hpp"

namespace gpilot::io {

/// A column's name as people write it with its unit: "u [V]", "u (V)" or "u/V".
struct ColumnName {
  std::string_view name;  ///< "u"
  std::string_view unit;  ///< "V"; empty where the name has none
};
ColumnName split_unit(std::string_view column);

/// Where the column stands that is called `name`, or the only one that is called so without its unit; -1 if none is.
Index find_column(std::span<const std::string> columns, std::string_view name);

/// The same; an error that names the file, the role and the columns if there is none.
Index require_column(std::span<const std::string> columns, const std::string& file, const std::string& name,
                     std::string_view role);

/// Whether a column is the time by its name: time, Zeit, seconds, t_ms, .. with a unit or without, in any case.
bool is_time_name(std::string_view column);

/// The unit of a column of times: of the row of units, or else of the column's name; empty for none.
std::string_view time_unit(std::string_view in_row, std::string_view column);

/// Seconds of a unit of time; 1 for none. Throws for what is no such unit.
double seconds_per(std::string_view unit, const std::string& file, std::string_view column);

}  // namespace gpilot::io
