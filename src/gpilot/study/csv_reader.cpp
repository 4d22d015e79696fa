#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "gpilot/error.hpp"
#include "gpilot/study/table.hpp"
#include "printable.hpp"

namespace gpilot::study {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// A field's text as it may stand in a message.
std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  return printable(text, kLongest);
}

bool equals_nan(std::string_view text) {
  return text.size() == 3 && std::ranges::equal(text, std::string_view("nan"), {}, [](unsigned char letter) {
           return static_cast<char>(std::tolower(letter));
         });
}

enum class Field { kNumber, kNotANumber, kOutOfRange };

/// Parses a trimmed field. A sign before the number or before nan is accepted, as other programs write them.
Field parse_field(std::string_view text, double& value) {
  value = kMissing;
  if (text.empty()) {
    return Field::kNumber;
  }
  const bool negative = text.front() == '-';
  const std::string_view digits = (negative || text.front() == '+') ? text.substr(1) : text;
  if (equals_nan(digits)) {
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
  if (error != std::errc{}) {
    return Field::kOutOfRange;
  }
  value = negative ? -magnitude : magnitude;
  return Field::kNumber;
}

/// Reads the lines of one file, knows where it is and says so in every error.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
      throw InputError(fmt::format("{}: is a directory, expected a CSV file", path));
    }
    errno = 0;
    stream_.open(path, std::ios::binary);
    if (!stream_) {
      throw InputError(
          fmt::format("{}: cannot read the file: {}", path, errno == 0 ? "unknown reason" : std::strerror(errno)));
    }
  }

  void read(const OnHeader& on_header, const OnRow& on_row) {
    read_header();
    on_header(columns_);
    Index rows = 0;
    Index blank_lines = 0;  // not yet known to be at the end of the file
    while (next_line()) {
      if (trim(line_).empty()) {
        ++blank_lines;
        continue;
      }
      for (; blank_lines > 0; --blank_lines, ++rows) {
        check_blank_line(blank_lines);
        if (!on_row(std::span<const double>(&kMissing, 1))) {
          return;
        }
      }
      ++rows;
      read_row();
      if (!on_row(values_)) {
        return;
      }
    }
    if (rows == 0) {
      throw InputError(fmt::format("{}: the file has column names but no rows", path_));
    }
  }

 private:
  bool next_line() {
    if (!std::getline(stream_, line_)) {
      if (stream_.bad()) {
        throw InputError(fmt::format("{}: cannot read the file after line {}", path_, line_number_));
      }
      return false;
    }
    ++line_number_;
    return true;
  }

  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("{}:{}: {}", path_, line_number_, message));
  }

  void read_header() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (!next_line()) {
      throw InputError(fmt::format("{}: the file is empty, expected a line of column names", path_));
    }
    if (line_.starts_with(kByteOrderMark)) {
      line_.erase(0, kByteOrderMark.size());
    }
    split_line();
    columns_.assign(fields_.begin(), fields_.end());
    check_header();
    values_.resize(columns_.size());
  }

  void check_header() const {
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
      fail(fmt::format("the first line must name the columns, but it holds numbers ('{}')", excerpt(line_)));
    }
  }

  /// A blank line `above` lines above the current one is a missing value in a file of one column only.
  void check_blank_line(Index above) const {
    if (columns_.size() > 1) {
      throw InputError(
          fmt::format("{}:{}: the line is blank, expected {} values", path_, line_number_ - above, columns_.size()));
    }
  }

  void read_row() {
    split_line();
    if (fields_.size() != columns_.size()) {
      fail(fmt::format("the line has {} values, expected {} (columns {} .. {})", fields_.size(), columns_.size(),
                       excerpt(columns_.front()), excerpt(columns_.back())));
    }
    for (std::size_t j = 0; j < fields_.size(); ++j) {
      const Field kind = parse_field(fields_[j], values_[j]);
      if (kind != Field::kNumber) {
        fail(fmt::format("column '{}': '{}' is {}, expected a finite number, nan or nothing", excerpt(columns_[j]),
                         excerpt(fields_[j]), kind == Field::kOutOfRange ? "out of a double's range" : "not a number"));
      }
    }
  }

  /// Splits line_ at commas into fields_, each trimmed and without its quotes. The views point into line_.
  void split_line() {
    fields_.clear();
    std::size_t begin = 0;
    while (true) {
      const std::size_t first = line_.find_first_not_of(" \t", begin);
      const bool quoted = first != std::string::npos && line_[first] == '"';
      const std::size_t end = quoted ? unquote(first) : std::min(line_.find(',', begin), line_.size());
      if (!quoted) {
        fields_.push_back(trim(std::string_view(line_).substr(begin, end - begin)));
      }
      if (end >= line_.size()) {
        return;
      }
      begin = end + 1;
    }
  }

  /// Pushes the quoted field that opens at `open`, its doubled quotes made single in place; returns where it ends.
  std::size_t unquote(std::size_t open) {
    std::size_t to = open + 1;
    for (std::size_t from = open + 1; from < line_.size(); ++from) {
      if (line_[from] == '"' && (from + 1 == line_.size() || line_[from + 1] != '"')) {
        const std::size_t end = std::min(line_.find(',', from), line_.size());
        if (!trim(std::string_view(line_).substr(from + 1, end - from - 1)).empty()) {
          fail("text follows a closing quote, expected a comma");
        }
        fields_.push_back(trim(std::string_view(line_).substr(open + 1, to - open - 1)));
        return end;
      }
      from += line_[from] == '"' ? 1 : 0;
      line_[to++] = line_[from];
    }
    fail("a quote is opened but not closed on this line");
  }

  std::string path_;
  std::ifstream stream_;
  std::string line_;
  Index line_number_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::string_view> fields_;
  std::vector<double> values_;
};

}  // namespace

void for_each_row(const std::string& path, const OnHeader& on_header, const OnRow& on_row) {
  Reader(path).read(on_header, on_row);
}

}  // namespace gpilot::study
