#include "gpilot/study/sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "gpilot/error.hpp"
#include "gpilot/suggest.hpp"

namespace gpilot::study {

namespace {

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

Index line_of(Index row, Index first_row) {
  return first_row + row + 2;
}

/// Throws for a column that is not there.
Index required_column(const Table& table, const std::string& file, const std::string& name, std::string_view role) {
  const Index column = table.find(name);
  if (column < 0) {
    const std::string guess = nearest_name(name, table.columns);
    throw InputError(fmt::format("{}: there is no column '{}' for the {}{} (columns: {})", file, name, role,
                                 guess.empty() ? "" : fmt::format(", did you mean '{}'?", guess),
                                 fmt::join(table.columns, ", ")));
  }
  return column;
}

Vector control_column(const Table& table, const std::string& file, const std::string& name, Index first_row) {
  Vector values = table.values.col(required_column(table, file, name, "input"));
  for (Index t = 0; t + 1 < values.size(); ++t) {
    if (!std::isfinite(values(t))) {
      throw InputError(fmt::format("{}, line {}, column '{}': the input is missing (only the last row's may be)", file,
                                   line_of(t, first_row), name));
    }
  }
  return values;
}

void check_even_spacing(const Vector& t, const std::string& file, Index first_row) {
  for (Index k = 0; k < t.size(); ++k) {
    if (!std::isfinite(t(k))) {
      throw InputError(fmt::format("{}, line {}, column 't': the time is missing (a given dt takes its place)", file,
                                   line_of(k, first_row)));
    }
  }
  // Differences of large times (seconds since 1970) carry the rounding of the times themselves.
  const double rounding = 4.0 * std::numeric_limits<double>::epsilon() * t.cwiseAbs().maxCoeff();
  const double step = t(1) - t(0);
  for (Index k = 1; k < t.size(); ++k) {
    const double difference = t(k) - t(k - 1);
    if (!(step > 0.0) || std::abs(difference - step) > kStepTolerance * step + rounding) {
      throw InputError(fmt::format(
          "{}, line {}, column 't': {:.9g} s after the row above, expected {} (a given dt takes the column's place)",
          file, line_of(k, first_row), difference,
          step > 0.0 ? fmt::format("{:.9g} s as before", step) : "increasing times"));
    }
  }
}

}  // namespace

RowRange parse_row_range(std::string_view text, Index rows) {
  const std::size_t colon = text.find(':');
  RowRange range{-1, -1};
  if (colon != std::string_view::npos) {
    range = {parse_bound(text.substr(0, colon), 0), parse_bound(text.substr(colon + 1), rows)};
  }
  if (range.begin < 0 || range.end < 0) {
    throw InputError(fmt::format("rows: expected A:B (rows A to B - 1, counted from 0), A: or :B, not '{}'", text));
  }
  range.end = std::min(range.end, rows);
  if (range.begin >= range.end) {
    throw InputError(fmt::format("rows: '{}' selects none of the {} rows", text, rows));
  }
  return range;
}

Table select_rows(const Table& table, RowRange range) {
  return {table.columns, table.values.middleRows(range.begin, range.end - range.begin)};
}

Table select_rows(const Table& table, std::string_view text) {
  return select_rows(table, parse_row_range(text, table.rows()));
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
          table.values.col(required_column(table, file, outputs[e], "output"));
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
  const Vector t = table.values.col(column);
  check_even_spacing(t, file, first_row);
  return (t(t.size() - 1) - t(0)) / static_cast<double>(t.size() - 1);
}

}  // namespace gpilot::study
