#pragma once

#include <memory>

#include "gpilot/core/types.hpp"
#include "gpilot/plan/reference.hpp"
#include "gpilot/plan/roll_out.hpp"

namespace gpilot::plan {

/// What a sequence of controls would teach: the larger, the more.
class PlanCriterion {
 public:
  virtual ~PlanCriterion() = default;
  /// Called once for all plans of a run, before their values.
  virtual void prepare(const RollOut& /*paths*/) {}
  /// The value of path n of the run; `outputs` are those of this path.
  virtual double value(const RollOut& paths, Index n, const PlannedOutputs& outputs) = 0;
};

/// I(y_{1..H}; f) = 1/2 log det(noise + signal) / det(noise): joint information of the planned outputs about the
/// transition function. The covariance among the points of the path counts what they tell twice once only; the noise is
/// that of the outputs, so that an unobserved state teaches as much as reaches them. Points of the path beyond the
/// ranges of outputs and states earn the less the farther they are: f counts as known there (RollOut::worth).
class InformationGain : public PlanCriterion {
 public:
  double value(const RollOut& paths, Index n, const PlannedOutputs& outputs) override;

 private:
  Matrix sum_, chol_, response_, scratch_;
};

/// Entropy of the function along the path (Buisson-Fenet et al. 2020, with a horizon): sum_d 1/2 log det(I + V_d /
/// q_d), as if every state were measured.
class PathEntropy : public PlanCriterion {
 public:
  double value(const RollOut& paths, Index n, const PlannedOutputs& outputs) override;

 private:
  Matrix scaled_, chol_;
};

/// Reduction of the variance v_j of f at the points of a reference by the planned outputs, which depends on where they
/// are measured but not on their values: sum_j v_j (v_j - v_j after) / sum_j v_j^2. It is a share of what there is now,
/// and a point counts the more the less is known there. Points of the path beyond the ranges of outputs and states earn
/// the less the farther they are.
class ReferenceVariance : public PlanCriterion {
 public:
  explicit ReferenceVariance(Reference reference);
  void prepare(const RollOut& paths) override;
  double value(const RollOut& paths, Index n, const PlannedOutputs& outputs) override;

 private:
  Reference reference_;
  std::vector<Matrix> cross_;  ///< [G] of [H N x R]
  double now_ = 0.0;           ///< sum_j v_j^2
  Matrix sum_, chol_, own_, answer_;
};

/// What a strategy looks for a plan by, made for one decision.
struct PlanObjective {
  std::unique_ptr<PlanCriterion> criterion;
  double reference_sd = kNaN;  ///< of f where the model will be used, if the strategy looks at it
};

}  // namespace gpilot::plan
