#include "gpilot/io/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "gpilot/io/csv_reader.hpp"
#include "gpilot/io/writable.hpp"

namespace gpilot::io {

Index Table::find(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  return found == columns.end() ? Index{-1} : static_cast<Index>(found - columns.begin());
}

void Table::append(std::span<const std::string> names, const MatrixRef& block) {
  if (static_cast<Index>(names.size()) != block.cols() || (!columns.empty() && block.rows() != rows())) {
    throw std::invalid_argument(fmt::format("Table::append: {} names and {} x {} values do not fit {} rows",
                                            names.size(), block.rows(), block.cols(), rows()));
  }
  values.conservativeResize(block.rows(), values.cols() + block.cols());
  values.rightCols(block.cols()) = block;
  columns.insert(columns.end(), names.begin(), names.end());
}

Table read_csv(const std::string& path) {
  Table table;
  std::vector<double> row_major;  // rows arrive one by one; their number is known only at the end
  CsvReader reader(path);
  while (reader.next()) {
    row_major.insert(row_major.end(), reader.values().begin(), reader.values().end());
  }
  table.columns = reader.columns();
  table.note = reader.dialect().note();
  const auto cols = static_cast<Index>(table.columns.size());
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  table.values = Eigen::Map<const RowMajor>(row_major.data(), static_cast<Index>(row_major.size()) / cols, cols);
  return table;
}

namespace {

void append_name(std::string& text, std::string_view name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // at the start of the file it would be taken for one
  const bool plain = name.find_first_of(",;\"\t ") == std::string_view::npos && !name.starts_with('#');
  if (plain && !name.starts_with(kByteOrderMark)) {
    text += name;
    return;
  }
  text += '"';
  for (const char letter : name) {
    text.append(letter == '"' ? 2 : 1, letter);
  }
  text += '"';
}

}  // namespace

std::string format_csv(const Table& table) {
  std::string text;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    text += j == 0 ? "" : ",";
    append_name(text, table.columns[j]);
  }
  text += '\n';
  const std::string_view missing = table.columns.size() == 1 ? "nan" : "";
  for (Index i = 0; i < table.rows(); ++i) {
    for (Index j = 0; j < table.values.cols(); ++j) {
      text += j == 0 ? "" : ",";
      if (std::isnan(table.values(i, j))) {
        text += missing;
      } else {
        fmt::format_to(std::back_inserter(text), "{}", table.values(i, j));
      }
    }
    text += '\n';
  }
  return text;
}

void write_csv(const std::string& path, const Table& table) {
  check_replaceable(path, FileKind::kTable);
  write_file_atomically(path, format_csv(table));
}

}  // namespace gpilot::io
