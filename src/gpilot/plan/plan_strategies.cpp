#include <fmt/format.h>

#include "gpilot/core/error.hpp"
#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/limited_choice.hpp"
#include "gpilot/plan/local.hpp"
#include "gpilot/plan/planner.hpp"

namespace gpilot::plan {

// Declared where they are listed: strategies.def.
Choice plan_information(const DecisionContext& context);
Choice plan_entropy(const DecisionContext& context);
Choice plan_reference_variance(const DecisionContext& context);
Choice plan_recommended(const DecisionContext& context);
Choice plan_local(const DecisionContext& context);

namespace {

using Posteriors = std::vector<gp::PackedPosterior>;

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

/// The mean over the functions drawn of what each plan is worth.
Vector values_of(const DecisionContext& context, const Posteriors& uncertainty, PlanCriterion& criterion,
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
  choice.criterion = std::numeric_limits<double>::quiet_NaN();
  choice.plan.resize(0, 0);  // the next draw has nothing to do with it
  return choice;
}

Choice safe_maximum(const DecisionContext& context, const Criterion& criterion) {
  const Posteriors uncertainty = function_uncertainty(context);
  FirstControl first(criterion, context.box.low.size());
  return search_plan({.context = context, .uncertainty = uncertainty, .criterion = first});
}

Choice plan_information(const DecisionContext& context) {
  const Posteriors uncertainty = function_uncertainty(context);
  InformationGain criterion;
  return search_plan({.context = context, .uncertainty = uncertainty, .criterion = criterion});
}

Choice plan_entropy(const DecisionContext& context) {
  const Posteriors uncertainty = function_uncertainty(context);
  PathEntropy criterion;
  return search_plan({.context = context, .uncertainty = uncertainty, .criterion = criterion});
}

Choice plan_reference_variance(const DecisionContext& context) {
  const Posteriors uncertainty = function_uncertainty(context);
  const Reference reference = make_reference(context, uncertainty);
  ReferenceVariance criterion(reference);
  Choice choice = search_plan({.context = context, .uncertainty = uncertainty, .criterion = criterion});
  choice.reference_sd = std::sqrt(reference.variance);
  return choice;
}

Choice plan_recommended(const DecisionContext& context) {
  if (context.region != nullptr) {
    return plan_reference_variance(context);
  }
  const Posteriors uncertainty = function_uncertainty(context);
  InformationGain criterion;
  Choice choice = search_plan({.context = context, .uncertainty = uncertainty, .criterion = criterion});
  choice.reference_sd = std::sqrt(make_reference(context, uncertainty).variance);
  return choice;
}

Choice plan_local(const DecisionContext& context) {
  const Posteriors uncertainty = function_uncertainty(context);
  const Reference reference = make_reference(context, uncertainty);
  const Vector target = most_informative_point(context, uncertainty, reference);
  TowardsPoint criterion(target);
  Choice choice = search_plan({.context = context, .uncertainty = uncertainty, .criterion = criterion});
  choice.reference_sd = std::sqrt(reference.variance);
  return choice;
}

Vector plan_values(std::string_view strategy, const DecisionContext& context, MatrixRef plans) {
  const Posteriors uncertainty = function_uncertainty(context);
  const bool is_auto = strategy == "auto";
  if (strategy == "infogain" || (is_auto && context.region == nullptr)) {
    InformationGain criterion;
    return values_of(context, uncertainty, criterion, plans);
  }
  if (strategy == "entropy-plan") {
    PathEntropy criterion;
    return values_of(context, uncertainty, criterion, plans);
  }
  if (strategy == "imse" || is_auto) {
    const Reference reference = make_reference(context, uncertainty);
    ReferenceVariance criterion(reference);
    return values_of(context, uncertainty, criterion, plans);
  }
  if (strategy == "local") {
    const Reference reference = make_reference(context, uncertainty);
    const Vector target = most_informative_point(context, uncertainty, reference);
    TowardsPoint criterion(target);
    return values_of(context, uncertainty, criterion, plans);
  }
  throw InputError(fmt::format("plan_values: the strategy '{}' does not plan", strategy));
}

}  // namespace gpilot::plan
