#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/inference/options.hpp"
#include "gpilot/plan/limits.hpp"
#include "gpilot/plan/planning.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::explore {

/// How a system is explored: one description for simulations, rigs and programs of one's own. User units.
struct ExploreOptions {
  std::string strategy = "auto";
  Index initial = 5;        ///< measurements under random controls before the first choice
  Index steps = 30;         ///< controls to choose after them; for whoever runs the loop
  Index retrain_every = 1;  ///< measurements between two trainings; in between the filter carries the state on
  inference::FitOptions fit{};
  plan::PlanningOptions planning{};  ///< of strategies that plan
  std::vector<ssm::Range> region{};  ///< where the model will be used; empty: where its runs lead
  plan::OutputLimits limits{};       ///< [E] where outputs must stay; empty or +-infinity: anywhere
  Box plausible{};                   ///< [E] outputs outside are not learned from; empty or +-infinity: all are
  Vector slew{};                     ///< [P] largest change from one control to the next; empty or infinity: any
  Vector safe{};                     ///< [P] the control before a sequence's first step; empty: 0
  /// Nothing more needs to be measured once Choice::reference_sd falls below this, scaled units; NaN = never.
  double until_sd = kNaN;
  bool landscape = false;   ///< keep the criterion's values over the box (one control only)
  std::uint64_t seed = 0;   ///< of all randomness, that of the training included
  std::uint32_t trial = 0;  ///< a stream of random numbers of its own

  /// Measurements before the first training: the initial ones, or with limits as soon as there can be a model.
  Index first_training() const;
  /// Outputs [E] as they are learned from: one that is not plausible, or beyond 1e150 (whose square has no number),
  /// counts as missing (NaN).
  Vector learnable(VectorRef outputs) const;
  /// Throws InputError naming the field.
  void validate(const ssm::ModelSpec& spec, const Box& box) const;
};

/// Throws InputError if the exploration is to end when its model is sure enough, and its strategy never says how sure
/// that is. `name` is what the user calls until_sd.
void check_until_sd(const ExploreOptions& options, std::string_view name = "until-sd");

/// "the model's standard deviation on the reference is 0.047, below 0.05: stopped after 22 steps".
std::string sure_enough_words(double reference_sd, double until_sd, Index steps);

}  // namespace gpilot::explore
