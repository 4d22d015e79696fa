#pragma once

#include <chrono>
#include <string>

namespace gpilot::cli {

/// Progress on standard error: one line that is rewritten on a terminal, a plain line for every new stage elsewhere if
/// asked for, otherwise nothing. The rewritten line is erased at the end, so that errors and results stand alone.
class ProgressLine {
 public:
  explicit ProgressLine(bool verbose);
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;

  /// `fraction` from 0 to 1.
  void show(const std::string& stage, double fraction, double objective);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool verbose_;
  bool drawn_ = false;
  std::string stage_;
  Clock::time_point last_;
};

}  // namespace gpilot::cli
