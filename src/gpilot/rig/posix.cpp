#include "gpilot/rig/posix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

namespace gpilot::rig::posix {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// The same file under a number above 2: a program whose own stdin is closed would get 0, and the child's 0 is to be
/// another.
Descriptor above_standard(Descriptor descriptor) {
  if (descriptor.get() > STDERR_FILENO) {
    return descriptor;
  }
  const int copy = ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy < 0) {
    fail("cannot copy a descriptor");
  }
  return Descriptor(copy);
}

sigset_t only_sigpipe() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGPIPE);
  return set;
}

bool sigpipe_is_pending() {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

Descriptor::Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    value_ = std::exchange(other.value_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (value_ >= 0) {
    ::close(std::exchange(value_, -1));
  }
}

Pipe::Pipe() {
  int ends[2] = {-1, -1};
#ifdef __APPLE__
  if (::pipe(ends) != 0 || ::fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0) {
#else
  if (::pipe2(ends, O_CLOEXEC) != 0) {
#endif
    fail("cannot make a pipe");
  }
  read = Descriptor(ends[0]);
  write = Descriptor(ends[1]);
  read = above_standard(std::move(read));
  write = above_standard(std::move(write));
}

void set_nonblocking(const Descriptor& descriptor) {
  const int flags = ::fcntl(descriptor.get(), F_GETFL);
  if (flags < 0 || ::fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    fail("cannot set up a pipe");
  }
}

Deadline::Deadline(double seconds_from_now) {
  constexpr double kLongest = 1e9;  // 30 years: far from the end of the clock
  const std::chrono::duration<double> wait(std::clamp(seconds_from_now, 0.0, kLongest));
  moment_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(wait);
}

int Deadline::milliseconds_left(int longest) const {
  const double left = std::chrono::duration<double, std::milli>(moment_ - Clock::now()).count();
  return static_cast<int>(std::ceil(std::clamp(left, 0.0, static_cast<double>(longest))));
}

SignalBlock::SignalBlock() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &previous_);
}

SignalBlock::~SignalBlock() {
  ::pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

SigpipeGuard::SigpipeGuard() : was_pending_(sigpipe_is_pending()) {
  const sigset_t set = only_sigpipe();
  ::pthread_sigmask(SIG_BLOCK, &set, &previous_);
}

SigpipeGuard::~SigpipeGuard() {
  // The signal of a failed write is sent to the thread that wrote: it is taken back before it can be delivered.
  if (!was_pending_ && sigpipe_is_pending()) {
    const sigset_t set = only_sigpipe();
    int taken = 0;
    ::sigwait(&set, &taken);
  }
  ::pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

}  // namespace gpilot::rig::posix
