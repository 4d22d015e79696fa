#include "gpilot/io/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpilot/core/error.hpp"

namespace gpilot::io {

namespace {

constexpr double kRateTolerance = 0.01;  ///< by which the step may change along a recording

/// Differences of large times carry the rounding of the times themselves.
double rounding(double a, double b) {
  return 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b));
}

}  // namespace

void Clock::fail(Index line, const std::string& message) const {
  throw InputError(fmt::format("{}, line {}, column '{}': {} (a given dt takes the column's place)", where_, line,
                               column_, message));
}

void Clock::start(std::span<const double> times, std::span<const Index> lines) {
  std::vector<double> steps;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (!std::isfinite(times[k])) {
      fail(lines[k], "the time is missing");
    }
    if (k > 0 && !(times[k] > times[k - 1])) {
      fail(lines[k],
           fmt::format("{:.9g} s after the row above, expected increasing times; a column 'sequence' or files "
                       "of their own keep recordings apart",
                       times[k] - times[k - 1]));
    }
    if (k > 0) {
      steps.push_back(times[k] - times[k - 1]);
    }
  }
  if (steps.empty()) {
    return;
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  step_ = *middle;
  // Times of few digits (16 or 17 ms for a sixtieth of a second) have a better mean than median.
  double ticks = 0.0;
  for (std::size_t k = 1; k < times.size(); ++k) {
    ticks += std::round((times[k] - times[k - 1]) / step_);
  }
  const double mean = (times.back() - times.front()) / ticks;
  if (std::abs(mean - step_) <= kJitterTolerance * step_) {
    step_ = mean;
  }
}

Index Clock::add(double time, Index line) {
  if (!std::isfinite(time)) {
    fail(line, "the time is missing");
  }
  if (ticks_ < 0) {
    ticks_ = 0;
    first_ = last_ = window_time_ = time;
    line_ = window_line_ = line;
    return 0;
  }
  const double difference = time - last_;
  const double ticks = std::max(1.0, std::round(difference / step_));
  const double deviation = std::max(0.0, std::abs(difference - ticks * step_) - rounding(first_, time));
  if (!(difference > 0.0)) {
    fail(line, fmt::format("{:.9g} s after the row above, expected increasing times; a column 'sequence' or files of "
                           "their own keep recordings apart",
                           difference));
  }
  if (deviation > kJitterTolerance * step_) {
    fail(line, fmt::format("{:.9g} s after the row above, expected {:.9g} s as before, give or take {:.0f} %, or a "
                           "multiple of it",
                           difference, step_, 100.0 * kJitterTolerance));
  }
  if (ticks > static_cast<double>(kLongestGap + 1)) {
    fail(line, fmt::format("{:.9g} s after the row above: {:.0f} rows are missing, and no more than {} are filled; a "
                           "column 'sequence' or files of their own keep recordings apart",
                           difference, ticks - 1.0, kLongestGap));
  }
  jitter_ = std::max(jitter_, deviation / step_);
  last_ = time;
  line_ = line;
  ticks_ += static_cast<Index>(ticks);
  if (ticks_ - window_ticks_ >= kClockRows - 1) {
    check_rate();
    window_time_ = time;
    window_ticks_ = ticks_;
    window_line_ = line;
  }
  return static_cast<Index>(ticks) - 1;
}

/// Jitter alone moves the two ends of a window by the tolerance each.
void Clock::check_rate() const {
  const auto ticks = static_cast<double>(ticks_ - window_ticks_);
  const double seconds = last_ - window_time_;
  if (ticks > 0.0 && std::abs(seconds - ticks * step_) >
                         (2.0 * kJitterTolerance + kRateTolerance * ticks) * step_ + rounding(first_, last_)) {
    fail(line_, fmt::format("the rows from line {} on are {:.9g} s apart, those before {:.9g} s; expected one step for "
                            "the whole recording",
                            window_line_, seconds / ticks, step_));
  }
}

}  // namespace gpilot::io
