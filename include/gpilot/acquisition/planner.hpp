#pragma once

#include "gpilot/acquisition/plan_criterion.hpp"
#include "gpilot/acquisition/planning.hpp"
#include "gpilot/types.hpp"

namespace gpilot::acquisition {

/// A planned sequence of controls.
struct Plan {
  Matrix controls;      ///< [H x P]
  double value = 0.0;   ///< of its criterion
  int evaluations = 0;  ///< plans that were tried
};

/// The best sequence found by random shooting with elites (the cross-entropy method): generations of plans, each drawn
/// around the best so far. Anytime: with a larger budget the same plans are tried first, so that the value never falls.
/// Every plan keeps the box and the slew limits. NumericalError if no plan has a finite value.
Plan search_plan(const Situation& situation, const std::vector<gp::PackedPosterior>& uncertainty,
                 PlanCriterion& criterion);

}  // namespace gpilot::acquisition
