#pragma once

#include <signal.h>  // sigaction is POSIX's

#include <array>
#include <atomic>
#include <stdexcept>

namespace gpilot::cli {

/// Thrown by a command that Ctrl-C stopped, after it has kept what it had; the message says what that is. The program
/// ends with exit code 130, as the shell expects of a program that was interrupted.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// While one exists, the first SIGINT (Ctrl-C) or SIGTERM only asks for an orderly stop; the second ends the program at
/// once.
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

 private:
  std::array<struct sigaction, 2> previous_{};
};

}  // namespace gpilot::cli
