#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/types.hpp"

namespace gpilot::plan {

/// How a sequence of controls is planned.
struct PlanningOptions {
  Index horizon = 0;          ///< H: controls ahead; 0: ten values in all, so ten rows of one control, five of two
  Index hold = 1;             ///< rows for which a planned control is held (move blocking)
  Index commit = 1;           ///< k: controls of a plan that are applied before the next one is made
  int evaluations = 320;      ///< plans that are tried
  double milliseconds = 0.0;  ///< instead of `evaluations`, which then bound it; 0: no clock
  Index draws = 0;            ///< functions drawn from the model, whose paths are averaged; 0: the path of the mean

  bool operator==(const PlanningOptions&) const = default;
  /// Throws InputError naming the field.
  void validate() const;
  /// The same with a horizon: ten values in all.
  PlanningOptions with_horizon(Index controls) const;
  /// Every field by its name, for records.
  std::vector<std::pair<std::string, double>> settings() const;
};

}  // namespace gpilot::plan
