#include "gpilot/inference/batches.hpp"

#include <algorithm>
#include <utility>

#include "gpilot/core/at_least.hpp"
#include "gpilot/core/random.hpp"

namespace gpilot::inference {

Index Recordings::total_rows() const {
  Index total = 0;
  for (Index k = 0; k < count(); ++k) {
    total += rows(k);
  }
  return total;
}

void RecordingsInMemory::read(std::span<const Window> windows, const Visit& visit) const {
  for (std::size_t k = 0; k < windows.size(); ++k) {
    const Window& w = windows[k];
    const ssm::Sequence& all = data_[static_cast<std::size_t>(w.recording)];
    if (!visit(k, {all.controls.middleRows(w.begin, w.rows()), all.outputs.middleRows(w.begin, w.rows())})) {
      return;
    }
  }
}

void BatchOptions::validate() const {
  check_at_least("batch", rows, 10);
  check_at_least("batch-length", length, 10);
  check_at_least("batches", count, 1);
  check_at_least("sweeps", sweeps, 1);
  check_at_least("piece", piece, 2);
  check_at_least("overlap", overlap, 1);
}

std::vector<std::vector<Window>> draw_batches(const Recordings& recordings, const BatchOptions& batches,
                                              std::uint64_t seed) {
  const Index per_batch = std::max<Index>(1, batches.rows / batches.length);
  const Index parts = per_batch * batches.count;
  const auto total = static_cast<double>(recordings.total_rows());
  RandomStream random(seed, Purpose::kBatches);
  std::vector<std::vector<Window>> drawn(static_cast<std::size_t>(batches.count));
  Index recording = 0;
  Index before = 0;  // rows of the recordings before it
  for (Index part = 0; part < parts; ++part) {
    const double share = (static_cast<double>(part) + random.uniform()) / static_cast<double>(parts);
    const auto middle = static_cast<Index>(share * total);
    while (recording + 1 < recordings.count() && middle >= before + recordings.rows(recording)) {
      before += recordings.rows(recording++);
    }
    const Index rows = recordings.rows(recording);
    const Index length = std::min(batches.length, rows);
    const Index begin = std::clamp<Index>(middle - before - length / 2, 0, rows - length);
    // Every batch looks at all parts of the recordings.
    drawn[static_cast<std::size_t>(part % batches.count)].push_back({recording, begin, begin + length});
  }
  return drawn;
}

}  // namespace gpilot::inference
