#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gpilot/core/types.hpp"

namespace gpilot::inference {

enum class Method {
  kEm,     ///< smoothing and few quasi-Newton steps, then a joint polish
  kLbfgs,  ///< joint L-BFGS alone, from the same start
  kAdam,   ///< the paper's: Adam on the sampled bound with q(u) of its own
};

/// "em", "lbfgs", "adam".
std::string_view name(Method method);
/// Throws InputError listing the valid names.
Method method_from_name(std::string_view text);

/// What is known about the process noise of learned states before any data.
enum class ProcessNoise {
  kAny,    ///< hardly anything
  kSmall,  ///< the rig is nearly deterministic: some tenths of a per cent of a state's range a step
};

/// "any", "small".
std::string_view name(ProcessNoise noise);

/// Where a long fit is: a stage in words, and how far it is.
struct Progress {
  std::string stage;
  double fraction = 0.0;  ///< 0..1 of all the work there may be; never falls, and jumps where less was needed
  double objective = 0.0;
};

/// The paper's start instead of ours: raw units, kernels at given values, q(x) at its A, b and S.
struct PaperStart {
  double variance = 1.0;
  double length_scale = 1.0;

  bool operator==(const PaperStart&) const = default;
};

struct FitOptions {
  Method method = Method::kEm;
  int rounds = 10;       ///< E and M rounds of a start
  int e_steps = 3;       ///< smoothing steps a round
  int m_iterations = 6;  ///< L-BFGS iterations a round
  int polish = 80;       ///< joint L-BFGS iterations at the end of a start
  int restarts = 1;      ///< starts from different drifts of the velocities
  int noise_path = 4;    ///< how often the process noise is cut and held (see docs/decisions)
  ProcessNoise process_noise = ProcessNoise::kAny;
  int horizon = 3;   ///< steps ahead at which candidates are compared
  int epochs = 200;  ///< Adam
  double learning_rate = 0.01;
  Index samples = 50;
  std::optional<PaperStart> paper_start;  ///< with method adam
  bool tied = false;                      ///< q(x) tied to the paper's A, b, S
  int threads = 1;
  std::uint64_t seed = 0;
  std::function<void(const Progress&)> on_progress;
  /// When it becomes true, training ends within an evaluation of the bound: the model is the best so far, its status
  /// "interrupted".
  const std::atomic<bool>* stop = nullptr;

  /// Throws InputError naming the field.
  void validate() const;
};

/// How long recordings are trained on by parts (docs/decisions/batches.md).
struct BatchOptions {
  Index rows = 2000;    ///< rows of a batch
  Index length = 200;   ///< rows of a sub-sequence
  int count = 3;        ///< batches
  int sweeps = 2;       ///< passes over all rows at the end
  Index piece = 4096;   ///< rows that a pass smooths at a time
  Index overlap = 100;  ///< rows before and after a piece that are smoothed with it and then dropped

  /// Throws InputError naming the field.
  void validate() const;
};

}  // namespace gpilot::inference
