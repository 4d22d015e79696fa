#pragma once

#include "gpilot/plan/strategy.hpp"

namespace gpilot::plan {

/// The control nearest to `target` [P] from which a plan keeps the limits of the outputs; the safest if none does.
Choice safe_choice_near(const DecisionContext& context, const Vector& target);

/// The control with the largest value of a criterion of one control from which a plan keeps the limits of the outputs.
Choice safe_maximum(const DecisionContext& context, const Criterion& criterion);

}  // namespace gpilot::plan
