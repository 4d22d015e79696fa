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

/// The same before the number of rows is known: an open end is the largest number there is, and a range without a row
/// is not an error yet.
RowRange parse_row_bounds(std::string_view text);

/// The part of a file that a sequence is made of.
struct Excerpt {
  Table table;          ///< the named columns and t, where the file has them
  Index first_row = 0;  ///< row of the file that the table's first row was
};

/// Reads the columns named and the rows of a text as above (empty: all); nothing else of the file is held, and nothing
/// after the last row asked for is read. Throws InputError for a column that is not there (an output only if
/// `outputs_required`), for rows that are not there, and as for_each_row.
Excerpt read_excerpt(const std::string& file, std::span<const std::string> inputs, std::span<const std::string> outputs,
                     std::string_view rows = {}, bool outputs_required = true);

/// Where `name` stands among the columns of a file; throws InputError if it does not. `role` is what it is for.
Index column_of(std::span<const std::string> columns, const std::string& file, const std::string& name,
                std::string_view role);

struct SequenceOptions {
  Index first_row = 0;           ///< row of the file that the table's first row was, for messages
  bool outputs_required = true;  ///< otherwise an output without a column is missing in every row
};

/// The named columns as one sequence; `file` is for messages. A control may be missing in the last row only.
/// Throws InputError that names the file, and the missing column with those that exist, or the line and column of a
/// missing control.
ssm::Sequence sequence_from(const Table& table, const std::string& file, std::span<const std::string> inputs,
                            std::span<const std::string> outputs, const SequenceOptions& options = {});

/// What to say of a control that is missing in a row of a file although it is used.
std::string missing_control(const std::string& file, Index row, const std::string& column);

/// Checks times one by one as they are read.
class SpacingCheck {
 public:
  SpacingCheck(std::string file, Index first_row) : file_(std::move(file)), row_(first_row) {}
  /// Throws InputError that names the line if the time is missing or not one step after the last.
  void add(double time);
  /// The mean step in seconds; 1 for a single row.
  double step() const { return count_ > 1 ? (last_ - start_) / static_cast<double>(count_ - 1) : 1.0; }

 private:
  std::string file_;
  Index row_;
  Index count_ = 0;
  double start_ = 0.0, last_ = 0.0, first_step_ = 0.0;
};

/// Seconds between rows: `dt` if given, else from the column t, else 1. The column t must be evenly spaced within 1e-6
/// of the step; otherwise an InputError names the line where it is not.
double time_step(const Table& table, const std::string& file, std::optional<double> dt = {}, Index first_row = 0);

}  // namespace gpilot::study
