#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/gp/packed_posterior.hpp"
#include "gpilot/plan/limits.hpp"
#include "gpilot/plan/planning.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::plan {

/// What follows from a model alone, kept from one decision to the next.
struct ModelMemo {
  std::optional<std::vector<gp::PackedPosterior>> posteriors;   ///< of its Gaussian processes
  std::optional<std::vector<gp::PackedPosterior>> uncertainty;  ///< function_uncertainty(), given the history
};

/// All that a strategy may look at when it chooses the control c_T of the newest row T. Scaled units; refers to its
/// parts without owning them.
struct DecisionContext {
  const ssm::Transition& transition;
  const gp::Nodes& nodes;
  const ssm::StateBelief& belief;          ///< q(x_T), given all outputs so far
  const Box& box;                          ///< of the controls
  const ssm::Series* history = nullptr;    ///< the rows up to T; null if unknown
  const ssm::StatePosterior* q = nullptr;  ///< q(x) of the history's rows; null if unknown
  std::uint64_t seed = 0;
  std::uint32_t trial = 0;
  std::uint32_t step = 0;
  const OutputLimits* limits = nullptr;  ///< where outputs must stay; null = anywhere
  PlanningOptions planning{};
  const Box* whole_box = nullptr;         ///< of the controls after the first, where that one is limited further
  const Vector* slew = nullptr;           ///< [P] largest change from one control to the next, or null
  const Box* region = nullptr;            ///< of (x, c) where the model will be used, or null
  const Matrix* previous_plan = nullptr;  ///< [.. x P] what is left of it, this row's control first, or null
  const Box* range = nullptr;  ///< [E + D] where outputs and states are meant to be; infinite or null: anywhere

  ModelMemo* memo = nullptr;                ///< of the model, or null
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true, the search for a plan ends with Cancelled

  /// Of the controls after the first.
  const Box& later_box() const { return whole_box != nullptr ? *whole_box : box; }
  /// How far a state [D] or its outputs lie beyond their ranges, the farthest of them; 0 within all.
  double beyond_range(VectorRef state) const;
  /// Whether any output has a limit.
  bool limited() const { return limits != nullptr && limits->any(); }
  /// [D] process variances that plans count on, less than the model's. Limits are kept with all of it.
  Vector planned_process_variance() const;
};

/// What a control would teach: the larger, the more.
class Criterion {
 public:
  virtual ~Criterion() = default;
  /// Whether value() can give a gradient.
  virtual bool has_gradient() const { return true; }
  /// The value at a control [P] and, when asked for and available, its gradient [P].
  virtual double value(VectorRef control, Vector* gradient) const = 0;
};

}  // namespace gpilot::plan
