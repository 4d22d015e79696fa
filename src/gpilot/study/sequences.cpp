#include "gpilot/study/sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/suggest.hpp"

namespace gpilot::study {

namespace {

constexpr Index kEndOfFile = std::numeric_limits<Index>::max();
constexpr double kStepTolerance = 1e-6;  ///< relative to the step

/// One side of "A:B"; an empty text is `otherwise`. Returns a negative number for what is no row.
Index parse_bound(std::string_view text, Index otherwise) {
  if (text.empty()) {
    return otherwise;
  }
  Index value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

Index line_of(Index row) {
  return row + 2;
}

Vector control_column(const Table& table, const std::string& file, const std::string& name, Index first_row) {
  Vector values = table.values.col(column_of(table.columns, file, name, "input"));
  for (Index t = 0; t + 1 < values.size(); ++t) {
    if (!std::isfinite(values(t))) {
      throw InputError(missing_control(file, first_row + t, name));
    }
  }
  return values;
}

}  // namespace

Index column_of(std::span<const std::string> columns, const std::string& file, const std::string& name,
                std::string_view role) {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) {
    const std::string guess = nearest_name(name, columns);
    throw InputError(fmt::format("{}: there is no column '{}' for the {}{} (columns: {})", file, name, role,
                                 guess.empty() ? "" : fmt::format(", did you mean '{}'?", guess),
                                 fmt::join(columns, ", ")));
  }
  return found - columns.begin();
}

std::string missing_control(const std::string& file, Index row, const std::string& column) {
  return fmt::format("{}, line {}, column '{}': the input is missing (only the last row's may be)", file, line_of(row),
                     column);
}

void SpacingCheck::add(double time) {
  const Index line = line_of(row_++);
  if (!std::isfinite(time)) {
    throw InputError(
        fmt::format("{}, line {}, column 't': the time is missing (a given dt takes its place)", file_, line));
  }
  if (count_++ == 0) {
    start_ = last_ = time;
    return;
  }
  const double difference = time - std::exchange(last_, time);
  if (count_ == 2) {
    first_step_ = difference;
  }
  // Differences of large times (seconds since 1970) carry the rounding of the times themselves.
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(start_), std::abs(time));
  if (!(first_step_ > 0.0) || std::abs(difference - first_step_) > kStepTolerance * first_step_ + rounding) {
    throw InputError(fmt::format(
        "{}, line {}, column 't': {:.9g} s after the row above, expected {} (a given dt takes the column's place)",
        file_, line, difference,
        first_step_ > 0.0 ? fmt::format("{:.9g} s as before", first_step_) : "increasing times"));
  }
}

RowRange parse_row_bounds(std::string_view text) {
  const std::size_t colon = text.find(':');
  RowRange range{-1, -1};
  if (colon != std::string_view::npos) {
    range = {parse_bound(text.substr(0, colon), 0), parse_bound(text.substr(colon + 1), kEndOfFile)};
  }
  if (range.begin < 0 || range.end < 0) {
    throw InputError(fmt::format("rows: expected A:B (rows A to B - 1, counted from 0), A: or :B, not '{}'", text));
  }
  return range;
}

RowRange parse_row_range(std::string_view text, Index rows) {
  RowRange range = parse_row_bounds(text);
  range.end = std::min(range.end, rows);
  if (range.begin >= range.end) {
    throw InputError(fmt::format("rows: '{}' selects none of the {} rows", text, rows));
  }
  return range;
}

ssm::Sequence sequence_from(const Table& table, const std::string& file, std::span<const std::string> inputs,
                            std::span<const std::string> outputs, const SequenceOptions& options) {
  ssm::Sequence sequence{
      Matrix(table.rows(), static_cast<Index>(inputs.size())),
      Matrix::Constant(table.rows(), static_cast<Index>(outputs.size()), std::numeric_limits<double>::quiet_NaN())};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    sequence.controls.col(static_cast<Index>(i)) = control_column(table, file, inputs[i], options.first_row);
  }
  for (std::size_t e = 0; e < outputs.size(); ++e) {
    if (options.outputs_required || table.find(outputs[e]) >= 0) {
      sequence.outputs.col(static_cast<Index>(e)) =
          table.values.col(column_of(table.columns, file, outputs[e], "output"));
    }
  }
  return sequence;
}

double time_step(const Table& table, const std::string& file, std::optional<double> dt, Index first_row) {
  if (dt) {
    if (!(*dt > 0.0) || !std::isfinite(*dt)) {
      throw InputError(fmt::format("dt: {} is not a positive number of seconds", *dt));
    }
    return *dt;
  }
  const Index column = table.find("t");
  if (column < 0 || table.rows() < 2) {
    return 1.0;
  }
  SpacingCheck spacing(file, first_row);
  for (Index k = 0; k < table.rows(); ++k) {
    spacing.add(table.values(k, column));
  }
  return spacing.step();
}

}  // namespace gpilot::study
