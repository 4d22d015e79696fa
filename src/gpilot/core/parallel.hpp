#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <atomic>

#include "gpilot/core/types.hpp"

namespace gpilot {

/// Calls work(k, worker) for k = 0 .. count - 1 on up to `workers` threads, each k by whoever is free first; `worker`
/// tells whose scratch to use. A result has the same bits for any number of threads if no k reads what another writes
/// and sums are kept per k and added in order.
template <typename Work>
void for_each_task(Index count, Index workers, Work&& work) {
  workers = std::min(workers, count);
  if (workers <= 1) {
    for (Index k = 0; k < count; ++k) {
      work(k, Index{0});
    }
    return;
  }
  std::atomic<Index> next{0};
  oneapi::tbb::parallel_for(
      Index{0}, workers,
      [&](Index worker) {
        // Relaxed: the counter hands out numbers and nothing else, and so does not hide a race from ThreadSanitizer.
        const auto take = [&] { return next.fetch_add(1, std::memory_order_relaxed); };
        for (Index k = take(); k < count; k = take()) {
          work(k, worker);
        }
      },
      oneapi::tbb::simple_partitioner{});
}

/// Rows of a chain that are one task: long enough to be worth handing over, short enough to balance.
inline constexpr Index kChunkRows = 128;

inline Index chunk_count(Index rows) {
  return (rows + kChunkRows - 1) / kChunkRows;
}

/// Calls work(chunk, begin, end) for the chunks of `rows` rows, as above. The chunks depend on `rows` alone.
template <typename Work>
void for_each_chunk(Index rows, Index workers, Work&& work) {
  for_each_task(chunk_count(rows), workers, [&](Index chunk, Index /*worker*/) {
    work(chunk, chunk * kChunkRows, std::min(rows, (chunk + 1) * kChunkRows));
  });
}

}  // namespace gpilot
