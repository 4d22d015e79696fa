#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"

/// System identification from recordings: models whose states nobody declared. Linear models come first (subspace
/// identification, output-error refinement, a Kalman filter); Gaussian processes start from them and must beat them in
/// free runs over training rows that they have not seen. docs/math/recordings.md.
namespace gpilot::inference {

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
  std::function<void(const Progress&)> on_progress = {};
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true, the best candidate so far is kept

  /// Throws InputError naming the field.
  void validate() const;
};

/// Identifies a model of `spec.outputs` under `spec.inputs`; its states, emission and mean are chosen here, its kernel,
/// inducing points, ranges and nodes are the spec's. User units.
ssm::Model identify(const ssm::Dataset& data, const ssm::ModelSpec& spec, const IdentifyOptions& options);

}  // namespace gpilot::inference
