#include "gpilot/plan/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/error.hpp"

namespace gpilot::plan {

namespace {

constexpr Index kLongestHorizon = 200;  ///< what is accepted, of drawn functions as well: a decision must end some time
/// Values of a plan by default, so fewer rows with more controls. By trial on the home systems: 4 and 6 were worse on
/// pendulum and cart-pole, 20 worse on TRAS (docs/decisions/planning.md).
constexpr Index kPlannedValues = 10;
constexpr Index kShortestHorizon = 3;  ///< with many controls; by feel, not measured

}  // namespace

void PlanningOptions::validate() const {
  if (horizon < 0 || horizon > kLongestHorizon) {
    throw InputError(
        fmt::format("horizon: {} steps, expected 1 to {}, or 0 for the default", horizon, kLongestHorizon));
  }
  const Index longest = horizon > 0 ? horizon : kLongestHorizon;
  if (hold < 1 || hold > longest) {
    throw InputError(fmt::format("plan-hold: {} steps, expected 1 to the horizon", hold));
  }
  if (commit < 1 || commit > longest) {
    throw InputError(fmt::format("commit: {} steps, expected 1 to the horizon", commit));
  }
  if (evaluations < 1) {
    throw InputError(fmt::format("plan-evaluations: {}, expected at least 1", evaluations));
  }
  if (!(milliseconds >= 0.0) || !std::isfinite(milliseconds)) {
    throw InputError(
        fmt::format("plan-ms: {}, expected a positive number of milliseconds, or 0 for none", milliseconds));
  }
  if (draws < 0 || draws > kLongestHorizon) {
    throw InputError(fmt::format("plan-draws: {} functions, expected 0 to {}", draws, kLongestHorizon));
  }
}

std::vector<std::pair<std::string, double>> PlanningOptions::settings() const {
  return {{"horizon", static_cast<double>(horizon)},
          {"hold", static_cast<double>(hold)},
          {"commit", static_cast<double>(commit)},
          {"evaluations", static_cast<double>(evaluations)},
          {"milliseconds", milliseconds},
          {"draws", static_cast<double>(draws)}};
}

PlanningOptions PlanningOptions::with_horizon(Index controls) const {
  PlanningOptions result = *this;
  if (horizon == 0) {
    result.horizon = std::max(kShortestHorizon, kPlannedValues / std::max<Index>(controls, 1));
  }
  return result;
}

}  // namespace gpilot::plan
