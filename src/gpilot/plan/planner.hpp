#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/plan/plan_criterion.hpp"
#include "gpilot/plan/strategy.hpp"

namespace gpilot::plan {

/// What a plan is looked for by.
struct PlanSearch {
  const DecisionContext& context;
  const std::vector<gp::PackedPosterior>& uncertainty;  ///< of the transition function
  PlanCriterion& criterion;
  const Vector* first = nullptr;  ///< [P] a control that half of the plans begin with, or null
};

/// The best sequence of controls found by random shooting with elites (the cross-entropy method): generations of plans,
/// each drawn around the best so far, the first around the previous plan. Anytime: with a larger budget the same plans
/// are tried first, so that what is found never gets worse. Every plan keeps the box and the slew limits. Where outputs
/// have limits, a plan that keeps them with probability 1 - delta over all its rows is better than one that does not,
/// and among those that do not the safest is the best.
Choice search_plan(const PlanSearch& search);

/// Bound on the probability, under the model, that some output leaves its limits in some row of a plan: the sum over
/// rows and outputs. It may exceed 1; then it still tells which of two plans is worse.
double violation_bound(const PlannedOutputs& outputs, const OutputLimits& limits, VectorRef output_variance);

}  // namespace gpilot::plan
