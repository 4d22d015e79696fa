#pragma once

#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::inference {

/// How well a model predicts the rows it was trained on, a few steps ahead of the filter: the mean log density per
/// output value over 1..`steps` steps, from about `starts` rows spread over the series (scaled units).
/// This, not the bound, is what starts are compared by: the bound has optima that explain motion as noise, and they can
/// be higher than the useful one.
double predictive_density(const ssm::Transition& transition, const ssm::Series& series, const gp::Nodes& nodes,
                          int steps, Index starts = 300);

}  // namespace gpilot::inference
