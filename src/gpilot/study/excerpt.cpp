#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/study/sequences.hpp"

namespace gpilot::study {

namespace {

/// Columns that grow row by row, in blocks, so that growing copies nothing and never holds anything twice.
class GrowingColumns {
 public:
  explicit GrowingColumns(std::size_t columns) : blocks_(columns) {}

  void append(std::span<const double> row, const std::vector<std::size_t>& positions) {
    if (rows_ % kBlockRows == 0) {
      for (auto& blocks : blocks_) {
        blocks.emplace_back().reserve(kBlockRows);
      }
    }
    for (std::size_t j = 0; j < blocks_.size(); ++j) {
      blocks_[j].back().push_back(row[positions[j]]);
    }
    ++rows_;
  }

  Index rows() const { return static_cast<Index>(rows_); }

  /// Hands the values over; blocks are freed as they are copied.
  Matrix take() {
    Matrix values(rows(), static_cast<Index>(blocks_.size()));
    for (std::size_t j = 0; j < blocks_.size(); ++j) {
      double* next = values.col(static_cast<Index>(j)).data();
      for (std::vector<double>& block : blocks_[j]) {
        next = std::ranges::copy(block, next).out;
        block = {};
      }
    }
    return values;
  }

 private:
  static constexpr std::size_t kBlockRows = 65536;

  std::vector<std::vector<std::vector<double>>> blocks_;
  std::size_t rows_ = 0;
};

}  // namespace

Excerpt read_excerpt(const std::string& file, std::span<const std::string> inputs, std::span<const std::string> outputs,
                     std::string_view rows, bool outputs_required) {
  const RowRange range = parse_row_bounds(rows.empty() ? ":" : rows);
  Excerpt excerpt;
  excerpt.first_row = range.begin;
  std::vector<std::size_t> positions;
  GrowingColumns kept(0);
  const auto keep_named = [&](std::span<const std::string> columns) {
    for (const std::string& name : inputs) {
      column_of(columns, file, name, "input");
    }
    for (const std::string& name : outputs) {
      if (outputs_required) {
        column_of(columns, file, name, "output");
      }
    }
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (columns[j] == "t" || std::ranges::find(inputs, columns[j]) != inputs.end() ||
          std::ranges::find(outputs, columns[j]) != outputs.end()) {
        positions.push_back(j);
        excerpt.table.columns.push_back(columns[j]);
      }
    }
    kept = GrowingColumns(positions.size());
  };
  Index row = 0;
  for_each_row(file, keep_named, [&](std::span<const double> values) {
    if (row >= range.begin && row < range.end) {
      kept.append(values, positions);
    }
    ++row;
    return row < range.end || range.begin >= range.end;  // a range without a row is told with the number of rows
  });
  if (kept.rows() == 0) {
    parse_row_range(rows, row);  // throws
  }
  excerpt.table.values = kept.take();
  return excerpt;
}

}  // namespace gpilot::study
