#include "interrupt.hpp"

namespace gpilot::cli {

namespace {

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

void request_stop(int /*signal*/) {
  stop_requested = true;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  stop_requested = false;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the second one is not caught
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &action, &previous_[i]);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], &previous_[i], nullptr);
  }
}

const std::atomic<bool>& InterruptGuard::requested() {
  return stop_requested;
}

}  // namespace gpilot::cli
