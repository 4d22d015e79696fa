#pragma once

#include <utility>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/plan/plan_criterion.hpp"
#include "gpilot/plan/reference.hpp"

/// Localised active learning (Capone et al. 2020, "locAL"): the most informative point of a region, and model
/// predictive control towards it. Meant for observed states; with latent ones the estimates take their place.
namespace gpilot::plan {

/// The point (x, c) [I] of the reference's bounding box at which a measurement has the largest mutual information with
/// f at the points of the reference, sum_d 1/2 log (v_d + q_d) / (v_d given the reference + q_d).
Vector most_informative_point(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty,
                              const Reference& reference);

/// Minus the mean squared distance of the points of a path from one point [I], scaled units.
class TowardsPoint : public PlanCriterion {
 public:
  explicit TowardsPoint(Vector point) : point_(std::move(point)) {}
  double value(const RollOut& paths, Index n, const PlannedOutputs& outputs) override;

 private:
  Vector point_;
};

}  // namespace gpilot::plan
