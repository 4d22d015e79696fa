#pragma once

// Stands in for oneTBB in the build with ThreadSanitizer (CMakeLists.txt puts it before the system's headers). Debian's
// TBB is compiled without the sanitizer, which then takes every hand-over between its threads for a race; suppressing
// what has TBB in its stack would hide the real ones, which all have. This is the part of TBB that gpilot uses, on
// std::thread, which the sanitizer understands. Results have the same bits for any number of threads, so they do here.

#include <cstddef>
#include <exception>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace oneapi::tbb {

struct simple_partitioner {};

/// body(k) for k = first .. last - 1, each on a thread of its own; throws the first exception of them. None begins
/// before all are there: else the first could be done before the second begins, and a race would not show.
template <typename Index, typename Body>
void parallel_for(Index first, Index last, const Body& body, simple_partitioner /*partitioner*/ = {}) {
  std::exception_ptr failure;
  std::mutex guard;
  std::latch all_there(static_cast<std::ptrdiff_t>(last - first));
  std::vector<std::thread> threads;
  for (Index k = first; k < last; ++k) {
    threads.emplace_back([&, k] {
      all_there.arrive_and_wait();
      try {
        body(k);
      } catch (...) {
        const std::lock_guard lock(guard);
        failure = failure ? failure : std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace oneapi::tbb
