#pragma once

#include <optional>

#include "gpilot/ssm/model.hpp"

namespace gpilot::inference {

/// The rows in which a deviation of the states doubles, where the model is linear and unstable, so that the same holds
/// everywhere. Not given for other models: a slope at one point says little about a nonlinear one.
std::optional<double> doubling_rows(const ssm::Dynamics& dynamics);

}  // namespace gpilot::inference
