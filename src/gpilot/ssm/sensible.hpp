#pragma once

#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"

/// When a state has left the model: one place for every such threshold. All in scaled units, in which data and declared
/// ranges lie within a few units, so they differ in what is done about it, not in what is measured.
namespace gpilot::ssm {

/// Nothing can be based on a state beyond this: a filter that follows a rig reports an error, a simulation within a fit
/// counts as diverged. Anything from 1e3 to 1e9 would do: it must not cut off what may come back, and its square must
/// still be exact to many digits.
inline constexpr double kFarthestState = 1e6;

/// A prediction beyond this has diverged. It is held at this limit, where it still counts in the quantiles: so the
/// limit is smaller, far beyond any data but not so far that nothing else shows. By feel, not measured; the published
/// share of diverged runs (docs/results/protocol.md) is defined by it.
inline constexpr double kFarthestPrediction = 1e3;

/// A planned path beyond this has left the region that the model was trained for: the rows behind it are not counted
/// on, and the path is held. Smaller than for predictions, since a linearisation out there would count as information.
/// By feel, not measured.
inline constexpr double kFarthestPath = 30.0;

/// Points at which the model will be used lie within this. A declared range is [-1.7, 1.7], so this is somewhat more
/// than the range. Not a sign of divergence: it keeps the reference where the user works. By trial:
/// 5 was worse on the home systems but the pendulum (docs/decisions/planning.md).
inline constexpr double kFarthestReference = 3.0;

/// kFarthestPrediction for each state; an angle may turn for ever.
Vector prediction_limits(const Structure& structure);

/// Whether the mean lies within the limits [D], and each standard deviation as well. False for NaN.
template <class Mean, class Covariance, class Limits>
bool is_within(const Mean& mean, const Covariance& covariance, const Limits& limits) {
  return mean.allFinite() && covariance.allFinite() && (mean.array().abs() < limits.array()).all() &&
         (covariance.diagonal().array() < limits.array().square()).all();
}

/// Whether a filter can go on from this belief.
inline bool is_sensible(const StateBelief& belief) {
  return belief.covariance.allFinite() && belief.mean.cwiseAbs().maxCoeff() < kFarthestState;  // not for NaN, either
}

}  // namespace gpilot::ssm
