#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "gpilot/inference/options.hpp"

namespace gpilot::python {

namespace nb = nanobind;

/// One call into the library. The work is done by a thread of its own, without the GIL, while the calling thread waits:
/// it hears Ctrl-C within 20 ms, passes on progress to a callback, and sets the stop flag when either of them raises.
/// A thread that Python never interrupts, and that has no callback, does the work itself.
class Call {
 public:
  /// `on_progress` is None or takes (stage, fraction, objective).
  explicit Call(nb::object on_progress = nb::none()) : on_progress_(std::move(on_progress)) {}

  /// The library ends its work when this becomes true.
  const std::atomic<bool>* stop() const { return &stop_; }
  bool is_heard() const { return !on_progress_.is_none(); }
  void cancel() { stop_ = true; }
  /// For FitOptions::on_progress: leaves word, and throws Cancelled where the work should end. The best model so far,
  /// for which FitOptions::stop takes its time, is not wanted here.
  std::function<void(const inference::Progress&)> listener();

  /// Returns what the work returns, or throws what it throws; what Ctrl-C or the callback raised comes first.
  template <class Work>
  auto run(Work&& work) {
    using Result = decltype(work());
    std::optional<Result> result;
    run_to_end([&] { result.emplace(work()); });
    return std::move(*result);
  }

 private:
  void run_to_end(const std::function<void()>& work);
  void deliver();

  nb::object on_progress_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable news_;
  std::optional<inference::Progress> progress_;
  bool done_ = false;
  std::exception_ptr failure_;  ///< of the work
  std::exception_ptr raised_;   ///< by Ctrl-C or by the callback
};

}  // namespace gpilot::python
