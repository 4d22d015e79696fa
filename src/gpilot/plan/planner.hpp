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
/// have limits, a plan has to keep them with probability 1 - delta over the rows applied before the next decision and a
/// few more, while its mean keeps them to the end: a model of few rows is never sure of more, and measures before it
/// decides again. Where none does (Choice::safe is false), the plan with the least expected distance outside is taken:
/// it leads back.
Choice search_plan(const PlanSearch& search);

/// What plans are worth by a criterion, a column of controls each as RollOut::run() takes them [P H x N]: the mean over
/// the functions drawn; NaN for one whose path makes no sense.
Vector values_of_plans(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty,
                       PlanCriterion& criterion, MatrixRef plans);

/// How a plan may leave the limits of outputs, under the model.
struct PlanRisk {
  double all = 0.0;     ///< bound on the probability that some output does in some row: the sum over both; may exceed 1
  double next = 0.0;    ///< the same of the first rows
  double excess = 0.0;  ///< expected distance outside, scaled, summed over rows and outputs
  double mean_outside = 0.0;  ///< distance outside of the mean, the same way

  void add(double share, const PlanRisk& other);
};

PlanRisk plan_risk(const PlannedOutputs& outputs, const OutputLimits& limits, VectorRef output_variance,
                   Index next_rows);

}  // namespace gpilot::plan
