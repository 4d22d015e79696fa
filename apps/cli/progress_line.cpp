#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpilot::cli {

namespace {

constexpr std::chrono::milliseconds kRefresh{100};
constexpr std::chrono::seconds kPlainEvery{30};  ///< lines that nobody asked for
constexpr double kFirstGuess = 0.02;             ///< of the work, before which the time left is anybody's guess

int percent_of(double fraction) {
  return static_cast<int>(100.0 * std::clamp(fraction, 0.0, 1.0));
}

}  // namespace

ProgressLine::ProgressLine(bool verbose) : terminal_(::isatty(STDERR_FILENO) == 1), verbose_(verbose) {}

std::string describe_seconds(double seconds) {
  const auto whole = std::lround(seconds);
  constexpr long kMinute = 60;
  constexpr long kHour = 3600;
  if (whole < 2 * kMinute) {
    return fmt::format("{} s", whole);
  }
  return whole < kHour ? fmt::format("{} min {} s", whole / kMinute, whole % kMinute)
                       : fmt::format("{} h {} min", whole / kHour, whole % kHour / kMinute);
}

std::string ProgressLine::time_left(double fraction) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (fraction < kFirstGuess || elapsed < 1.0) {
    return "";
  }
  return fmt::format(", at most about {} left", describe_seconds(elapsed * (1.0 - fraction) / fraction));
}

void ProgressLine::show(const std::string& stage, double fraction, double objective) {
  const int percent = percent_of(fraction);
  const Clock::time_point now = Clock::now();
  const auto text = [&] {
    return fmt::format("{}{}{}", stage.substr(0, 60),
                       objective == 0.0 ? "" : fmt::format(" (objective {:.6g})", objective), time_left(fraction));
  };
  if (terminal_) {
    draw(percent, text());
  } else if (verbose_ ? stage != stage_ || percent / 10 > tenths_ : now - last_plain_ >= kPlainEvery) {
    fmt::print(stderr, "{:3d} % {}\n", percent, text());
    tenths_ = std::max(tenths_, percent / 10);
    last_plain_ = now;
  }
  stage_ = stage;
}

void ProgressLine::show(double fraction, const std::string& text) {
  const int percent = percent_of(fraction);
  if (terminal_) {
    draw(percent, text);
  } else if (verbose_ && percent / 10 > tenths_) {
    fmt::print(stderr, "{:3d} % {}\n", percent, text);
    tenths_ = percent / 10;
  }
}

void ProgressLine::draw(int percent, const std::string& text) {
  const Clock::time_point now = Clock::now();
  if (drawn_ && now - last_ < kRefresh) {
    return;
  }
  last_ = now;
  drawn_ = true;
  constexpr int kWidth = 20;
  const int filled = percent * kWidth / 100;
  fmt::print(stderr, "\r\033[K[{:#<{}}{:-<{}}] {:3d} % {}", "", filled, "", kWidth - filled, percent, text);
  std::fflush(stderr);
}

void ProgressLine::finish() {
  if (drawn_) {
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    drawn_ = false;
  }
}

}  // namespace gpilot::cli
