#include "gpilot/io/column_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/io/dialect.hpp"

namespace gpilot::io {

namespace {

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr std::array<TimeUnit, 21> kTimeUnits{{{"s", 1.0},
                                               {"sec", 1.0},
                                               {"secs", 1.0},
                                               {"second", 1.0},
                                               {"seconds", 1.0},
                                               {"sekunden", 1.0},
                                               {"ms", 1e-3},
                                               {"msec", 1e-3},
                                               {"milliseconds", 1e-3},
                                               {"us", 1e-6},
                                               {"\xC2\xB5s", 1e-6},  // micro sign
                                               {"\xCE\xBCs", 1e-6},  // Greek mu
                                               {"microseconds", 1e-6},
                                               {"ns", 1e-9},
                                               {"nanoseconds", 1e-9},
                                               {"min", 60.0},
                                               {"minutes", 60.0},
                                               {"minuten", 60.0},
                                               {"h", 3600.0},
                                               {"hours", 3600.0},
                                               {"stunden", 3600.0}}};
constexpr std::array<std::string_view, 8> kTimes{"t",    "time",  "timestamp", "elapsed",
                                                 "zeit", "temps", "tiempo",    "tempo"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

const TimeUnit* find_time_unit(std::string_view text) {
  const auto* found = std::ranges::find(kTimeUnits, lower_case(text), &TimeUnit::name);
  return found == kTimeUnits.end() ? nullptr : found;
}

/// A column of times as its name and unit: "t_ms" is t in ms, "seconds" the time in seconds.
ColumnName split_time(std::string_view column) {
  const ColumnName parts = split_unit(column);
  if (!parts.unit.empty()) {
    return parts;
  }
  // Short ones are names of anything: only words are taken for the time.
  constexpr std::size_t kShortestWord = 3;
  if (column.size() >= kShortestWord && find_time_unit(column) != nullptr) {
    return {kTimes.front(), column};
  }
  const std::size_t mark = column.rfind('_');
  if (mark != std::string_view::npos && find_time_unit(column.substr(mark + 1)) != nullptr) {
    return {column.substr(0, mark), column.substr(mark + 1)};
  }
  return parts;
}

}  // namespace

ColumnName split_unit(std::string_view column) {
  const char last = column.empty() ? '\0' : column.back();
  const std::size_t open = last == ']' ? column.rfind('[') : last == ')' ? column.rfind('(') : std::string_view::npos;
  if (open != std::string_view::npos && open > 0) {
    return {trim_blanks(column.substr(0, open)), trim_blanks(column.substr(open + 1, column.size() - open - 2))};
  }
  const std::size_t slash = column.find('/');
  if (slash != std::string_view::npos && slash > 0 && slash + 1 < column.size()) {
    return {trim_blanks(column.substr(0, slash)), trim_blanks(column.substr(slash + 1))};
  }
  return {column, {}};
}

Index find_column(std::span<const std::string> columns, std::string_view name) {
  if (const auto found = std::ranges::find(columns, name); found != columns.end()) {
    return static_cast<Index>(found - columns.begin());
  }
  const auto is_meant = [&](const std::string& column) { return split_unit(column).name == name; };
  const auto found = std::ranges::find_if(columns, is_meant);
  const bool only_one = std::ranges::count_if(columns, is_meant) == 1;
  return only_one ? static_cast<Index>(found - columns.begin()) : Index{-1};
}

Index require_column(std::span<const std::string> columns, const std::string& file, const std::string& name,
                     std::string_view role) {
  const Index found = find_column(columns, name);
  if (found < 0) {
    const std::string guess = nearest_name(name, columns);
    const bool by_blanks = columns.size() == 1 && columns.front().find_first_of(" |:") != std::string::npos;
    throw InputError(fmt::format("{}: there is no column '{}' for the {}{} (columns: {}){}", file, name, role,
                                 guess.empty() ? "" : fmt::format(", did you mean '{}'?", guess),
                                 fmt::join(columns, ", "),
                                 by_blanks ? "; expected columns separated by commas, semicolons or tabs" : ""));
  }
  return found;
}

bool is_time_name(std::string_view column) {
  const ColumnName parts = split_time(column);
  const std::string name = lower_case(parts.name);
  const bool may_be_other = name == "t" && !parts.unit.empty() && find_time_unit(parts.unit) == nullptr;  // T [K]
  return std::ranges::find(kTimes, name) != kTimes.end() && !may_be_other;
}

std::string_view time_unit(std::string_view in_row, std::string_view column) {
  constexpr std::string_view kBrackets = "[]() ";
  const std::string_view bare = trim_blanks(in_row, kBrackets);
  return bare.empty() ? split_time(column).unit : bare;
}

double seconds_per(std::string_view unit, const std::string& file, std::string_view column) {
  if (unit.empty()) {
    return 1.0;
  }
  const TimeUnit* found = find_time_unit(unit);
  if (found == nullptr) {
    throw InputError(fmt::format("{}: the unit of the time column '{}' is '{}', expected s, ms, us, ns, min or h", file,
                                 column, unit));
  }
  return found->seconds;
}

}  // namespace gpilot::io
