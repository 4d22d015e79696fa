#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gpilot/ssm/data.hpp"
#include "gpilot/study/table.hpp"

/// From named columns of a data file to what a model learns from. Rows are counted from 0, lines of the file from 1:
/// row r of a file stands on line r + 2, below the column names.
namespace gpilot::study {

/// Rows begin <= r < end, as Python counts.
struct RowRange {
  Index begin = 0;
  Index end = 0;

  bool operator==(const RowRange&) const = default;
};

/// Reads "A:B", "A:", ":B" or ":" for a table of `rows` rows; an end beyond the last row is that row, as in Python.
/// Throws InputError for any other text and for a range without a row.
RowRange parse_row_range(std::string_view text, Index rows);

/// The rows A <= r < B of a table, from a text as above.
Table select_rows(const Table& table, std::string_view text);
Table select_rows(const Table& table, RowRange range);

struct SequenceOptions {
  Index first_row = 0;           ///< row of the file that the table's first row was, for messages
  bool outputs_required = true;  ///< otherwise an output without a column is missing in every row
};

/// The named columns as one sequence; `file` is for messages. A control may be missing in the last row only.
/// Throws InputError that names the file, and the missing column with those that exist, or the line and column of a
/// missing control.
ssm::Sequence sequence_from(const Table& table, const std::string& file, std::span<const std::string> inputs,
                            std::span<const std::string> outputs, const SequenceOptions& options = {});

/// Seconds between rows: `dt` if given, else from the column t, else 1. The column t must be evenly spaced within 1e-6
/// of the step; otherwise an InputError names the line where it is not.
double time_step(const Table& table, const std::string& file, std::optional<double> dt = {}, Index first_row = 0);

}  // namespace gpilot::study
