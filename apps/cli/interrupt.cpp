#include "interrupt.hpp"

#include <csignal>

namespace gpilot::cli {

namespace {

struct Handled {
  int signal;
  bool once;       ///< the second one is not caught: it ends the program at once
  bool respected;  ///< left alone where whoever started the program ignores it (nohup)
};

/// A terminal that closes sends SIGHUP, often twice (the kernel and the shell), and every line that is printed then may
/// raise SIGPIPE: neither may cut the orderly end short.
constexpr std::array<Handled, kHandledSignals> kSignals{
    {{SIGINT, true, false}, {SIGTERM, true, false}, {SIGHUP, false, true}, {SIGPIPE, false, true}}};

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

void request_stop(int /*signal*/) {
  stop_requested = true;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  stop_requested = false;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = request_stop;
    action.sa_flags = SA_RESTART | (kSignals[i].once ? static_cast<int>(SA_RESETHAND) : 0);
    ::sigaction(kSignals[i].signal, &action, &previous_[i]);
    if (kSignals[i].respected && previous_[i].sa_handler == SIG_IGN) {
      ::sigaction(kSignals[i].signal, &previous_[i], nullptr);
    }
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i].signal, &previous_[i], nullptr);
  }
}

const std::atomic<bool>& InterruptGuard::requested() {
  return stop_requested;
}

void InterruptGuard::request() {
  stop_requested = true;
}

}  // namespace gpilot::cli
