#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "gpilot/core/types.hpp"
#include "gpilot/inference/options.hpp"

namespace gpilot::identify {

/// What the states are made of.
enum class StateKind {
  kAuto,      ///< whatever validates best
  kLinear,    ///< a linear model alone
  kDelay,     ///< the outputs and their past: deterministic shift rows; past inputs beside them
  kSubspace,  ///< the linear model's states, a Gaussian process on the first of them
};

/// "auto", "linear", "delay", "subspace".
std::string_view name(StateKind kind);
/// Throws InputError listing the valid names.
StateKind state_kind_from_name(std::string_view text);

struct IdentifyOptions {
  StateKind structure = StateKind::kAuto;
  Index states = 4;                       ///< at most; with lags, past outputs and past inputs together
  std::optional<Index> order = {};        ///< of linear models and subspace states; not given: chosen
  std::optional<Index> dead_time = {};    ///< rows by which inputs act later; not given: chosen
  std::optional<Index> output_lags = {};  ///< rows of outputs in a delay state, the present one included
  std::optional<Index> input_lags = {};   ///< rows of past inputs beside it
  bool offset_per_sequence = false;
  int iterations = 100;  ///< of the joint L-BFGS; more of them overfit
  int threads = 1;
  std::uint64_t seed = 0;
  std::function<void(const inference::Progress&)> on_progress = {};
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true, the best candidate so far is kept

  /// Throws InputError naming the field.
  void validate() const;
};

}  // namespace gpilot::identify
