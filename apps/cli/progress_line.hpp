#pragma once

#include <chrono>
#include <string>

namespace gpilot::cli {

/// "75 s", "12 min 5 s", "3 h 20 min".
std::string describe_seconds(double seconds);

/// Progress on standard error: one line that is rewritten on a terminal; elsewhere, if asked for, a plain line now and
/// then, otherwise nothing. The rewritten line is erased at the end, so that errors and results stand alone.
class ProgressLine {
 public:
  explicit ProgressLine(bool verbose);
  ~ProgressLine() { finish(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ProgressLine(ProgressLine&&) = delete;
  ProgressLine& operator=(ProgressLine&&) = delete;

  /// `fraction` from 0 to 1; with the time left, as far as it can be told. A plain line for every new stage and every
  /// tenth of the work if asked for, else now and then when the work takes long.
  void show(const std::string& stage, double fraction, double objective);
  /// A plain line for every tenth of the work.
  void show(double fraction, const std::string& text);
  void finish();

 private:
  using Clock = std::chrono::steady_clock;

  void draw(int percent, const std::string& text);
  std::string time_left(double fraction) const;

  bool terminal_;
  bool verbose_;
  bool drawn_ = false;
  std::string stage_;
  int tenths_ = 0;  ///< of the work, when the last plain line was written
  Clock::time_point last_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_plain_ = start_;
};

}  // namespace gpilot::cli
