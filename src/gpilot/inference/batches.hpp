#pragma once

#include <functional>
#include <span>
#include <vector>

#include "gpilot/inference/options.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"

/// Training on long recordings (docs/decisions/batches.md): parameters from batches of sub-sequences, then q(v) from
/// all rows. Memory is that of a batch.
namespace gpilot::inference {

/// Rows begin <= r < end of a recording.
struct Window {
  Index recording = 0;
  Index begin = 0;
  Index end = 0;

  Index rows() const { return end - begin; }
  bool operator==(const Window&) const = default;
};

/// Recordings that need not be in memory: they are read from front to back, as often as needed.
class Recordings {
 public:
  virtual ~Recordings() = default;
  virtual Index count() const = 0;
  virtual Index rows(Index recording) const = 0;

  /// Called with a window's number and its rows, in user units; returns whether to go on.
  using Visit = std::function<bool(std::size_t window, ssm::Sequence rows)>;
  /// Visits windows in the order given: by recording, and within one with begins and ends that do not fall.
  virtual void read(std::span<const Window> windows, const Visit& visit) const = 0;

  Index total_rows() const;
};

/// Recordings that are in memory; keeps a reference.
class RecordingsInMemory final : public Recordings {
 public:
  explicit RecordingsInMemory(const ssm::Dataset& data) : data_(data) {}
  Index count() const override { return static_cast<Index>(data_.size()); }
  Index rows(Index recording) const override { return data_[static_cast<std::size_t>(recording)].rows(); }
  void read(std::span<const Window> windows, const Visit& visit) const override;

 private:
  const ssm::Dataset& data_;
};

/// The sub-sequences of every batch, spread evenly over all rows with a random start in each part.
std::vector<std::vector<Window>> draw_batches(const Recordings& recordings, const BatchOptions& batches,
                                              std::uint64_t seed);

/// Trains a model by batches. Recordings of no more rows than a batch has are trained on as a whole. The model keeps
/// q(x) of its last piece of rows alone. Depends on the seed, not on the number of threads.
ssm::Model fit_batches(const Recordings& recordings, const ssm::ModelSpec& spec, const FitOptions& options,
                       const BatchOptions& batches);

}  // namespace gpilot::inference
