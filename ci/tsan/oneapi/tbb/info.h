#pragma once

// See parallel_for.h.

#include <thread>

namespace oneapi::tbb::info {

inline int default_concurrency() {
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace oneapi::tbb::info
