#include "gpilot/io/dialect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "gpilot/io/time_stamp.hpp"

namespace gpilot::io {

namespace {

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {},
                            [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
}

/// The fields of a line, with their quotes; what stands between quotes separates nothing.
std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i == line.size() || (line[i] == separator && !quoted)) {
      std::string_view field = trim_blanks(line.substr(begin, i - begin));
      if (field.size() > 1 && field.front() == '"' && field.back() == '"') {
        field = trim_blanks(field.substr(1, field.size() - 2));
      }
      fields.push_back(field);
      begin = i + 1;
    } else if (line[i] == '"') {
      quoted = !quoted;
    }
  }
  return fields;
}

char find_separator(std::string_view names, std::span<const std::string> below) {
  for (const char separator : {',', ';', '\t'}) {
    const std::size_t fields = split(names, separator).size();
    const bool fits = fields > 1 && std::ranges::all_of(below, [&](const std::string& line) {
                        return trim_blanks(line, " \r").empty() || split(line, separator).size() == fields;
                      });
    if (fits) {
      return separator;
    }
  }
  return ',';
}

/// A number written with a decimal comma: digits on both sides or on one, as 1,5 or 1,5e-3.
bool has_decimal_comma(std::string_view field) {
  const std::size_t comma = field.find(',');
  if (comma == std::string_view::npos || field.find(',', comma + 1) != std::string_view::npos) {
    return false;
  }
  std::string with_point(field);
  with_point[comma] = '.';
  double value = 0.0;
  return parse_field(with_point, value) == Field::kNumber;
}

/// A field that may stand in a row of units: short, no number, and nothing that stands for a value that is not there.
bool may_be_unit(std::string_view field) {
  constexpr std::size_t kLongest = 16;
  constexpr std::array<std::string_view, 11> kNoUnits{"inf",  "-inf", "+inf", "infinity", "na", "n/a",
                                                      "#n/a", "null", "none", "error",    "err"};
  const bool starts_with_digit = !field.empty() && std::isdigit(static_cast<unsigned char>(field.front()));
  double value = 0.0;
  if (field.empty() || field == "1") {
    return true;
  }
  return field.size() <= kLongest && !starts_with_digit && parse_field(field, value) == Field::kNotANumber &&
         !has_decimal_comma(field) &&
         std::ranges::none_of(kNoUnits, [&](std::string_view text) { return equals_ignoring_case(field, text); });
}

bool is_units_row(const std::vector<std::string_view>& fields, std::size_t columns) {
  return fields.size() == columns && std::ranges::all_of(fields, may_be_unit) &&
         std::ranges::any_of(fields, [](std::string_view field) { return !field.empty() && field != "1"; });
}

}  // namespace

std::string_view trim_blanks(std::string_view text, std::string_view blanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

Field parse_field(std::string_view text, double& value) {
  value = kNaN;
  if (text.empty()) {
    return Field::kNumber;
  }
  const bool negative = text.front() == '-';
  const std::string_view digits = (negative || text.front() == '+') ? text.substr(1) : text;
  if (equals_ignoring_case(digits, "nan")) {
    return Field::kNumber;
  }
  // from_chars itself would take a second sign, "inf" and "nan(..)".
  if (digits.empty() || !(std::isdigit(static_cast<unsigned char>(digits.front())) || digits.front() == '.')) {
    return Field::kNotANumber;
  }
  double magnitude = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (end != digits.data() + digits.size()) {
    return Field::kNotANumber;
  }
  if (error != std::errc{} || magnitude > kLargestValue) {
    return Field::kOutOfRange;
  }
  value = negative ? -magnitude : magnitude;
  return Field::kNumber;
}

std::string Dialect::note() const {
  std::vector<std::string> parts;
  if (separator != ',') {
    parts.emplace_back(separator == ';' ? "semicolon-separated" : "tab-separated");
  }
  if (decimal_comma) {
    parts.emplace_back("decimal comma");
  }
  if (comment_lines > 0) {
    parts.push_back(fmt::format("{} comment line{}", comment_lines, comment_lines == 1 ? "" : "s"));
  }
  if (!units.empty()) {
    parts.emplace_back("units row skipped");
  }
  if (!first_stamp.empty()) {
    parts.push_back(fmt::format("time stamps as seconds from {} on", first_stamp));
  }
  return parts.empty() ? "" : fmt::format("read as {}", fmt::join(parts, ", "));
}

Dialect find_dialect(std::string_view names, std::span<const std::string> below) {
  Dialect dialect;
  dialect.separator = find_separator(names, below);
  const std::size_t columns = split(names, dialect.separator).size();
  dialect.stamps.assign(columns, false);
  std::vector<bool> seen(columns, false);  // whether the column has a value yet
  for (std::size_t k = 0; k < below.size(); ++k) {
    const std::vector<std::string_view> fields = split(below[k], dialect.separator);
    if (k == 0 && is_units_row(fields, columns)) {
      dialect.units.assign(fields.begin(), fields.end());
      continue;
    }
    for (std::size_t j = 0; j < std::min(columns, fields.size()); ++j) {
      dialect.decimal_comma = dialect.decimal_comma || (dialect.separator != ',' && has_decimal_comma(fields[j]));
      if (!seen[j] && !fields[j].empty()) {
        seen[j] = true;
        dialect.stamps[j] = parse_time_stamp(fields[j]).has_value();
      }
    }
  }
  return dialect;
}

}  // namespace gpilot::io
