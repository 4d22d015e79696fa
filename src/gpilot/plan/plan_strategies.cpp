#include "gpilot/acquisition/function_uncertainty.hpp"
#include "gpilot/acquisition/local.hpp"
#include "gpilot/acquisition/planner.hpp"
#include "limited_choice.hpp"

namespace gpilot::acquisition {

// Declared where they are listed: strategies.def.
Choice plan_information(const Situation& situation);
Choice plan_entropy(const Situation& situation);
Choice plan_reference_variance(const Situation& situation);
Choice plan_local(const Situation& situation);

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

Choice safe_choice_near(const Situation& situation, const Vector& target) {
  const Posteriors uncertainty = function_uncertainty(situation);
  NearTarget criterion(target);
  Choice choice =
      search_plan({.situation = situation, .uncertainty = uncertainty, .criterion = criterion, .first = &target});
  choice.value = std::numeric_limits<double>::quiet_NaN();
  choice.plan.resize(0, 0);  // the next draw has nothing to do with it
  return choice;
}

Choice safe_maximum(const Situation& situation, const Criterion& criterion) {
  const Posteriors uncertainty = function_uncertainty(situation);
  FirstControl first(criterion, situation.box.low.size());
  return search_plan({.situation = situation, .uncertainty = uncertainty, .criterion = first});
}

Choice plan_information(const Situation& situation) {
  const Posteriors uncertainty = function_uncertainty(situation);
  InformationGain criterion;
  return search_plan({.situation = situation, .uncertainty = uncertainty, .criterion = criterion});
}

Choice plan_entropy(const Situation& situation) {
  const Posteriors uncertainty = function_uncertainty(situation);
  PathEntropy criterion;
  return search_plan({.situation = situation, .uncertainty = uncertainty, .criterion = criterion});
}

Choice plan_reference_variance(const Situation& situation) {
  const Posteriors uncertainty = function_uncertainty(situation);
  const Reference reference = make_reference(situation, uncertainty);
  ReferenceVariance criterion(reference);
  Choice choice = search_plan({.situation = situation, .uncertainty = uncertainty, .criterion = criterion});
  choice.reference_sd = std::sqrt(reference.variance);
  return choice;
}

Choice plan_local(const Situation& situation) {
  const Posteriors uncertainty = function_uncertainty(situation);
  const Reference reference = make_reference(situation, uncertainty);
  const Vector target = most_informative_point(situation, uncertainty, reference);
  TowardsPoint criterion(target);
  Choice choice = search_plan({.situation = situation, .uncertainty = uncertainty, .criterion = criterion});
  choice.reference_sd = std::sqrt(reference.variance);
  return choice;
}

}  // namespace gpilot::acquisition
