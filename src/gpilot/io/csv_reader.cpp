#include "gpilot/io/csv_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "gpilot/core/error.hpp"
#include "gpilot/io/printable.hpp"
#include "gpilot/io/time_stamp.hpp"

namespace gpilot::io {
namespace {

constexpr std::size_t kLinesAhead = 32;        ///< that the dialect is found from
constexpr std::size_t kBytesAhead = 1U << 18;  ///< lines beyond are not looked at before they are read

/// A field's text as it may stand in a message.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  return printable(text, kLongest);
}

bool is_comment(std::string_view line) {
  return !line.empty() && line.front() == '#';
}

}  // namespace

CsvReader::CsvReader(const std::string& path) : path_(path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    throw InputError(fmt::format("{}: is a directory, expected a CSV file", path));
  }
  errno = 0;
  stream_.open(path, std::ios::binary);
  if (!stream_) {
    throw InputError(
        fmt::format("{}: cannot read the file: {}", path, errno == 0 ? "unknown reason" : std::strerror(errno)));
  }
  read_first_lines();
  read_header();
}

bool CsvReader::next() {
  while (!pending_) {
    if (!next_line()) {
      if (rows_ == 0) {
        throw InputError(fmt::format("{}: the file has column names but no rows", path_));
      }
      return false;
    }
    pending_ = !line_is_blank();
    blank_lines_ += pending_ ? 0 : 1;
  }
  ++rows_;
  row_line_ = line_number_ - blank_lines_;
  if (blank_lines_ > 0) {
    check_blank_line(row_line_);
    --blank_lines_;
    values_[0] = kNaN;
    return true;
  }
  read_row();
  pending_ = false;
  return true;
}

/// Comment lines are passed over. In a file of one column they would shift the count of blank lines above, which none
/// but a message needs.
bool CsvReader::next_line() {
  do {
    if (!ahead_.empty()) {
      line_ = std::move(ahead_.front());
      ahead_.pop_front();
    } else if (!std::getline(stream_, line_)) {
      if (stream_.bad()) {
        throw InputError(fmt::format("{}: cannot read the file after line {}", path_, line_number_));
      }
      return false;
    }
    ++line_number_;
    dialect_.comment_lines += is_comment(line_) ? 1 : 0;
  } while (is_comment(line_));
  return true;
}

/// With tabs between fields a line of tabs is a row of missing values.
bool CsvReader::line_is_blank() const {
  return trim_blanks(line_, dialect_.separator == '\t' ? " \r" : " \t\r").empty();
}

void CsvReader::fail(std::string_view message) const {
  throw InputError(fmt::format("{}:{}: {}", path_, line_number_, message));
}

void CsvReader::read_first_lines() {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::vector<std::string> lines;  // without comments
  std::size_t bytes = 0;
  std::string line;
  while (lines.size() < kLinesAhead && bytes < kBytesAhead && std::getline(stream_, line)) {
    if (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF") || line.find('\0') != std::string::npos) {
      throw InputError(
          fmt::format("{}: it looks like UTF-16 or a binary file, expected text in UTF-8; save it as such", path_));
    }
    if (ahead_.empty() && line.starts_with(kByteOrderMark)) {
      line.erase(0, kByteOrderMark.size());
    }
    bytes += line.size() + 1;
    if (!is_comment(line)) {
      lines.push_back(line);
    }
    ahead_.push_back(std::move(line));
  }
  if (stream_.bad()) {
    throw InputError(fmt::format("{}: cannot read the file after line {}", path_, ahead_.size()));
  }
  if (!lines.empty()) {
    dialect_ = find_dialect(lines.front(), std::span(lines).subspan(1));
    decimal_mark_ = dialect_.decimal_comma ? ',' : '\0';
  }
}

void CsvReader::read_header() {
  if (!next_line()) {
    throw InputError(fmt::format("{}: the file {}, expected a line of column names", path_,
                                 dialect_.comment_lines > 0 ? "has nothing but comment lines (#)" : "is empty"));
  }
  split_line();
  columns_.assign(fields_.begin(), fields_.end());
  check_header();
  values_.resize(columns_.size());
  origins_.resize(columns_.size());
  started_.resize(columns_.size());
  dialect_.stamps.resize(columns_.size());
  if (!dialect_.units.empty()) {
    next_line();
  }
}

void CsvReader::check_header() const {
  std::set<std::string_view> seen;
  bool only_numbers = true;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    if (columns_[j].empty()) {
      fail(fmt::format("column {} has no name; the first line must name every column", j + 1));
    }
    if (!seen.insert(columns_[j]).second) {
      fail(fmt::format("column '{}' appears twice", excerpt(columns_[j])));
    }
    double ignored = 0.0;
    only_numbers = only_numbers && parse_field(columns_[j], ignored) == Field::kNumber;
  }
  if (only_numbers) {
    fail(fmt::format("the first line must name the columns, but it holds numbers ('{}'){}", excerpt(line_),
                     dialect_.comment_lines > 0 ? "; if a comment line (#) has the names, remove its #" : ""));
  }
}

/// A blank line between rows is a missing value in a file of one column only.
void CsvReader::check_blank_line(Index line) const {
  if (columns_.size() > 1) {
    throw InputError(fmt::format("{}:{}: the line is blank, expected {} values", path_, line, columns_.size()));
  }
}

void CsvReader::read_row() {
  split_line();
  if (fields_.size() != columns_.size()) {
    fail(fmt::format("the line has {} values, expected {} (columns {} .. {})", fields_.size(), columns_.size(),
                     excerpt(columns_.front()), excerpt(columns_.back())));
  }
  for (std::size_t j = 0; j < fields_.size(); ++j) {
    values_[j] = dialect_.stamps[j] ? parse_stamp(fields_[j], j) : parse(fields_[j], j);
  }
}

void CsvReader::fail_field(std::string_view field, std::size_t column, Field kind) const {
  const std::string_view what = kind == Field::kOutOfRange ? "beyond 1e150" : "not a number";
  std::string_view advice;
  if (kind == Field::kNotANumber && columns_.size() == 1 && field.find_first_of(" \t") != std::string_view::npos) {
    advice = "; separate the columns by commas, semicolons or tabs";
  } else if (kind == Field::kNotANumber && dialect_.separator == ',' && field.find(',') != std::string_view::npos) {
    advice = "; a decimal comma goes with semicolons or tabs between the columns";
  } else if (kind == Field::kNotANumber && field.find(':') != std::string_view::npos) {
    advice = "; a time stamp is written 2026-01-31T12:00:00.5 in every row of its column";
  }
  fail(fmt::format("column '{}': '{}' is {}, expected a finite number, nan or nothing{}", excerpt(columns_[column]),
                   excerpt(field), what, advice));
}

double CsvReader::parse(std::string_view field, std::size_t column) {
  std::string_view text = field;
  if (dialect_.separator != ',') {
    // Whoever writes 1,5 means by 1.500 what others call 1500: one mark for the whole file.
    const std::size_t mark = field.find_first_of(".,");
    if (mark != std::string_view::npos && decimal_mark_ == '\0') {
      decimal_mark_ = field[mark];
      dialect_.decimal_comma = decimal_mark_ == ',';
    }
    if (mark != std::string_view::npos &&
        (field[mark] != decimal_mark_ || field.find_first_of(".,", mark + 1) != std::string_view::npos)) {
      fail(
          fmt::format("column '{}': '{}' does not go with the decimal {} of other numbers; write all with one mark and "
                      "no marks between thousands",
                      excerpt(columns_[column]), excerpt(field), decimal_mark_ == ',' ? "comma" : "point"));
    }
    if (mark != std::string_view::npos && decimal_mark_ == ',') {
      number_.assign(field);
      number_[mark] = '.';
      text = number_;
    }
  }
  double value = 0.0;
  const Field kind = parse_field(text, value);
  if (kind != Field::kNumber) {
    fail_field(field, column, kind);
  }
  return value;
}

double CsvReader::parse_stamp(std::string_view field, std::size_t column) {
  if (field.empty()) {
    return kNaN;
  }
  const auto stamp = parse_time_stamp(field);
  if (!stamp) {
    fail(fmt::format("column '{}': '{}' is no time stamp, expected one as 2026-01-31T12:00:00.5 as in the rows above",
                     excerpt(columns_[column]), excerpt(field)));
  }
  if (!started_[column]) {
    started_[column] = true;
    origins_[column] = *stamp;
    if (dialect_.first_stamp.empty()) {
      dialect_.first_stamp = field;
    }
  }
  return 1e-9 * static_cast<double>(*stamp - origins_[column]);
}

/// Splits line_ at the separators into fields_, each trimmed and without its quotes. The views point into line_.
void CsvReader::split_line() {
  const char separator = dialect_.separator;
  const std::string_view blanks = separator == '\t' ? " " : " \t";
  fields_.clear();
  std::size_t begin = 0;
  while (true) {
    const std::size_t first = line_.find_first_not_of(blanks, begin);
    const bool quoted = first != std::string::npos && line_[first] == '"';
    const std::size_t end = quoted ? unquote(first) : std::min(line_.find(separator, begin), line_.size());
    if (!quoted) {
      fields_.push_back(trim_blanks(std::string_view(line_).substr(begin, end - begin)));
    }
    if (end >= line_.size()) {
      return;
    }
    begin = end + 1;
  }
}

/// Pushes the quoted field that opens at `open`, its doubled quotes made single in place; returns where it ends.
std::size_t CsvReader::unquote(std::size_t open) {
  std::size_t to = open + 1;
  for (std::size_t from = open + 1; from < line_.size(); ++from) {
    if (line_[from] == '"' && (from + 1 == line_.size() || line_[from + 1] != '"')) {
      const std::size_t end = std::min(line_.find(dialect_.separator, from), line_.size());
      if (!trim_blanks(std::string_view(line_).substr(from + 1, end - from - 1)).empty()) {
        fail(fmt::format("text follows a closing quote, expected a {}", dialect_.separator == ','   ? "comma"
                                                                        : dialect_.separator == ';' ? "semicolon"
                                                                                                    : "tab"));
      }
      fields_.push_back(trim_blanks(std::string_view(line_).substr(open + 1, to - open - 1)));
      return end;
    }
    from += line_[from] == '"' ? 1 : 0;
    line_[to++] = line_[from];
  }
  fail("a quote is opened but not closed on this line");
}

}  // namespace gpilot::io
