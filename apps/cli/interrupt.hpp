#pragma once

#include <signal.h>  // sigaction is POSIX's

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>

namespace gpilot::cli {

/// Thrown by a command that Ctrl-C stopped, after it has kept what it had; the message says what that is. The program
/// ends with exit code 130, as the shell expects of a program that was interrupted.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::size_t kHandledSignals = 4;

/// While one exists, SIGINT (Ctrl-C), SIGTERM, SIGHUP (the terminal was closed) and SIGPIPE (nobody reads what is
/// printed) only ask for an orderly stop. A second Ctrl-C or SIGTERM ends the program at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  InterruptGuard(InterruptGuard&&) = delete;
  InterruptGuard& operator=(InterruptGuard&&) = delete;

  /// Becomes true when a stop is asked for.
  static const std::atomic<bool>& requested();
  /// Asks for a stop, as a signal would.
  static void request();

 private:
  std::array<struct sigaction, kHandledSignals> previous_{};
};

}  // namespace gpilot::cli
