#pragma once

#include "gpilot/acquisition/strategy.hpp"

namespace gpilot::acquisition {

/// The control nearest to `target` [P] from which a plan keeps the limits of the outputs; the safest if none does.
Choice safe_choice_near(const Situation& situation, const Vector& target);

/// The control with the largest value of a criterion of one control from which a plan keeps the limits of the outputs.
Choice safe_maximum(const Situation& situation, const Criterion& criterion);

}  // namespace gpilot::acquisition
