#include <cmath>
#include <memory>
#include <utility>

#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/limited_choice.hpp"
#include "gpilot/plan/local.hpp"
#include "gpilot/plan/planner.hpp"

namespace gpilot::plan {

using Posteriors = std::vector<gp::PackedPosterior>;

// Declared where they are listed: strategies.def.
PlanObjective path_information(const DecisionContext& context, const Posteriors& uncertainty);
PlanObjective path_entropy(const DecisionContext& context, const Posteriors& uncertainty);
PlanObjective reference_variance(const DecisionContext& context, const Posteriors& uncertainty);
PlanObjective recommended(const DecisionContext& context, const Posteriors& uncertainty);
PlanObjective towards_informative_point(const DecisionContext& context, const Posteriors& uncertainty);

namespace {

/// -|c_0 - target|^2: of plans that keep the limits, the one whose first control is nearest to a target.
class NearTarget : public PlanCriterion {
 public:
  explicit NearTarget(const Vector& target) : target_(target) {}
  double value(const RollOut& paths, Index n, const PlannedOutputs& /*outputs*/) override {
    return -(paths.points().row(n).tail(target_.size()).transpose() - target_).squaredNorm();
  }

 private:
  const Vector& target_;
};

/// What the first control teaches by a criterion of one control.
class FirstControl : public PlanCriterion {
 public:
  explicit FirstControl(const Criterion& criterion, Index controls) : criterion_(criterion), P_(controls) {}
  double value(const RollOut& paths, Index n, const PlannedOutputs& /*outputs*/) override {
    return criterion_.value(paths.points().row(n).tail(P_).transpose(), nullptr);
  }

 private:
  const Criterion& criterion_;
  Index P_;
};

}  // namespace

Choice safe_choice_near(const DecisionContext& context, const Vector& target) {
  const Posteriors uncertainty = function_uncertainty(context);
  NearTarget criterion(target);
  Choice choice =
      search_plan({.context = context, .uncertainty = uncertainty, .criterion = criterion, .first = &target});
  choice.criterion = kNaN;
  choice.plan.resize(0, 0);  // the next draw has nothing to do with it
  return choice;
}

Choice safe_maximum(const DecisionContext& context, const Criterion& criterion) {
  const Posteriors uncertainty = function_uncertainty(context);
  FirstControl first(criterion, context.box.low.size());
  return search_plan({.context = context, .uncertainty = uncertainty, .criterion = first});
}

Vector values_of_plans(const DecisionContext& context, const Posteriors& uncertainty, PlanCriterion& criterion,
                       MatrixRef plans) {
  RollOut paths(context, uncertainty, plans.rows() / context.box.low.size(), context.planning.draws);
  paths.run(plans);
  criterion.prepare(paths);
  const Index draws = paths.paths_of_plan();
  Vector values = Vector::Zero(plans.cols());
  for (Index k = 0; k < paths.paths(); ++k) {
    const bool sensible = paths.sensible_rows(k) == paths.horizon();
    values(k / draws) += sensible ? criterion.value(paths, k, paths.outputs(k)) / static_cast<double>(draws) : kNaN;
  }
  return values;
}

PlanObjective path_information(const DecisionContext& /*context*/, const Posteriors& /*uncertainty*/) {
  return {std::make_unique<InformationGain>()};
}

PlanObjective path_entropy(const DecisionContext& /*context*/, const Posteriors& /*uncertainty*/) {
  return {std::make_unique<PathEntropy>()};
}

PlanObjective reference_variance(const DecisionContext& context, const Posteriors& uncertainty) {
  Reference reference = make_reference(context, uncertainty);
  const double sd = std::sqrt(reference.variance);
  return {std::make_unique<ReferenceVariance>(std::move(reference)), sd};
}

PlanObjective recommended(const DecisionContext& context, const Posteriors& uncertainty) {
  if (context.region != nullptr) {
    return reference_variance(context, uncertainty);
  }
  return {std::make_unique<InformationGain>(), std::sqrt(make_reference(context, uncertainty).variance)};
}

PlanObjective towards_informative_point(const DecisionContext& context, const Posteriors& uncertainty) {
  const Reference reference = make_reference(context, uncertainty);
  return {std::make_unique<TowardsPoint>(most_informative_point(context, uncertainty, reference)),
          std::sqrt(reference.variance)};
}

}  // namespace gpilot::plan
