#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace gpilot::cli {

namespace {

constexpr std::chrono::milliseconds kRefresh{100};

int percent_of(double fraction) {
  return static_cast<int>(100.0 * std::clamp(fraction, 0.0, 1.0));
}

}  // namespace

ProgressLine::ProgressLine(bool verbose) : terminal_(::isatty(STDERR_FILENO) == 1), verbose_(verbose) {}

void ProgressLine::show(const std::string& stage, double fraction, double objective) {
  const int percent = percent_of(fraction);
  if (terminal_) {
    draw(percent, fmt::format("{} (objective {:.6g})", stage.substr(0, 60), objective));
  } else if (verbose_ && stage != stage_) {
    fmt::print(stderr, "{:3d} % {} (objective {:.6g})\n", percent, stage, objective);
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
