#pragma once

#include <cstdint>

#include "gpilot/core/types.hpp"

namespace gpilot {

/// What a random stream is used for. A stream is keyed by (seed, trial, step, purpose), so that the numbers do not
/// depend on the number of threads, on the order of work, or on what else was drawn. Append only: the values are part
/// of every seeded result.
enum class Purpose : std::uint32_t {
  kInitialState = 1,
  kProcessNoise = 2,
  kOutputNoise = 3,
  kControls = 4,
  kHolds = 5,
  kRestart = 6,
  kInducing = 7,
  kNodes = 8,
  kFunctionDraw = 9,
  kStateDraw = 10,
  kTest = 11,
  kStrategy = 12,
  kTestControls = 13,
  kBatches = 14,
  kReference = 15,
  kPlanner = 16,
  kSignal = 17,
  kRigReset = 18,
  kPhysicsStart = 19,
};

/// A counter-based random stream (Philox 4x32-10 of Random123).
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t trial = 0, std::uint32_t step = 0);

  std::uint32_t bits();
  /// Uniform in the open interval (0, 1).
  double uniform();
  double uniform(double low, double high);
  /// Standard normal.
  double normal();
  /// Uniform in {0, .., count - 1}; count >= 1.
  Index index(Index count);

  Vector normal_vector(Index size);
  Matrix normal_matrix(Index rows, Index cols);

 private:
  std::uint32_t key_[2];
  std::uint32_t counter_[4];
  std::uint32_t buffer_[4];
  int used_ = 4;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace gpilot
