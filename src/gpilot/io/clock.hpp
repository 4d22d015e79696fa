#pragma once

#include <span>
#include <string>
#include <utility>

#include "gpilot/core/types.hpp"

namespace gpilot::io {

inline constexpr double kJitterTolerance = 0.1;  ///< of the step: how far a row may be from where the clock has it
inline constexpr Index kLongestGap = 100;        ///< rows in a row that may be missing
inline constexpr Index kClockRows = 65;          ///< the step is found from so many rows

/// Follows the times of a recording row by row: a regular clock of which rows may be missing.
class Clock {
 public:
  /// `where` is the file, `column` the column's name: for messages.
  Clock(std::string where, std::string column) : where_(std::move(where)), column_(std::move(column)) {}

  /// Finds the step from the first times (the lower median of their differences, so that gaps do not count). Throws
  /// InputError for times that are missing or do not increase; lines[k] is the line of times[k].
  void start(std::span<const double> times, std::span<const Index> lines);

  /// How many rows are missing before this one. Throws InputError for a time that no such clock shows.
  Index add(double time, Index line);

  /// Throws InputError if the last rows were further apart than the first. To be called after the last row.
  void finish() const { check_rate(); }

  /// The mean step in seconds; NaN before there are two rows.
  double step() const { return ticks_ > 0 ? (last_ - first_) / static_cast<double>(ticks_) : kNaN; }
  /// The largest deviation from the step, relative to it.
  double jitter() const { return jitter_; }

 private:
  void check_rate() const;
  [[noreturn]] void fail(Index line, const std::string& message) const;

  std::string where_, column_;
  double step_ = 0.0;  ///< of the first rows
  double first_ = 0.0, last_ = 0.0;
  Index line_ = 0;
  Index ticks_ = -1;  ///< steps of the clock since the first row; -1: there was none
  double window_time_ = 0.0;
  Index window_ticks_ = 0;
  Index window_line_ = 0;
  double jitter_ = 0.0;
};

}  // namespace gpilot::io
