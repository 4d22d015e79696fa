#pragma once

// See parallel_for.h: as many threads as are asked for.

#include <cstddef>

namespace oneapi::tbb {

class global_control {
 public:
  enum parameter { max_allowed_parallelism };

  global_control(parameter /*what*/, std::size_t /*value*/) {}
};

}  // namespace oneapi::tbb
