#pragma once

#include <signal.h>  // sigset_t is POSIX's

#include <chrono>

/// The few things of POSIX that the owner of a child process needs.
namespace gpilot::rig::posix {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return value_ >= 0; }
  int get() const { return value_; }
  void reset();

 private:
  int value_ = -1;
};

/// Both ends are closed on exec, and none is 0, 1 or 2. Throws std::system_error.
struct Pipe {
  Pipe();
  Descriptor read;
  Descriptor write;
};

/// Throws std::system_error.
void set_nonblocking(const Descriptor& descriptor);

/// A moment on the monotonic clock.
class Deadline {
 public:
  explicit Deadline(double seconds_from_now);
  bool passed() const { return Clock::now() >= moment_; }
  /// For poll(): rounded up, so that a wait does not end before the deadline; at most `longest`.
  int milliseconds_left(int longest) const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point moment_;
};

/// Blocks every signal in this thread: for a fork, between which and exec no handler of ours may run, and for the start
/// of a thread that shall receive none.
class SignalBlock {
 public:
  SignalBlock();
  ~SignalBlock();
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;
  SignalBlock(SignalBlock&&) = delete;
  SignalBlock& operator=(SignalBlock&&) = delete;

 private:
  sigset_t previous_{};
};

/// While one exists, a write of this thread to a pipe that nobody reads fails with EPIPE and sends no signal. Other
/// threads and the disposition of SIGPIPE are not touched.
class SigpipeGuard {
 public:
  SigpipeGuard();
  ~SigpipeGuard();
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  SigpipeGuard(SigpipeGuard&&) = delete;
  SigpipeGuard& operator=(SigpipeGuard&&) = delete;

 private:
  sigset_t previous_{};
  bool was_pending_ = false;
};

}  // namespace gpilot::rig::posix
