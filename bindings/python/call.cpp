#include "call.hpp"

#include <nanobind/stl/string.h>

#include <chrono>
#include <string>
#include <thread>

#include "gpilot/core/error.hpp"

namespace gpilot::python {

namespace {

constexpr std::chrono::milliseconds kPatience{20};  ///< between two looks for signals

/// Signals are handled by the main thread alone.
bool is_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("main_thread")().is(threading.attr("current_thread")());
}

}  // namespace

std::function<void(const inference::Progress&)> Call::listener() {
  const bool heard = !on_progress_.is_none();
  return [this, heard](const inference::Progress& progress) {
    if (stop_) {
      throw Cancelled("stopped");
    }
    if (!heard) {
      return;
    }
    const std::scoped_lock lock(mutex_);
    progress_ = progress;
    news_.notify_one();
  };
}

void Call::deliver() {
  std::optional<inference::Progress> progress;
  {
    const std::scoped_lock lock(mutex_);
    progress.swap(progress_);
  }
  if (progress && !raised_) {
    on_progress_(progress->stage, progress->fraction, progress->objective);
  }
}

void Call::run_to_end(const std::function<void()>& work) {
  if (on_progress_.is_none() && !is_main_thread()) {
    const nb::gil_scoped_release release;
    work();
    return;
  }
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    done_ = true;
    news_.notify_one();
  });
  for (bool done = false; !done;) {
    {
      const nb::gil_scoped_release release;
      std::unique_lock lock(mutex_);
      news_.wait_for(lock, kPatience, [&] { return done_ || progress_.has_value(); });
      done = done_;
    }
    try {
      deliver();
      if (!raised_ && PyErr_CheckSignals() != 0) {
        throw nb::python_error();
      }
    } catch (...) {
      raised_ = std::current_exception();
      stop_ = true;
    }
  }
  {
    const nb::gil_scoped_release release;  // the thread may still wait for the GIL, to let go of an object
    worker.join();
  }
  if (raised_ || failure_) {
    std::rethrow_exception(raised_ ? raised_ : failure_);
  }
}

}  // namespace gpilot::python
