#include "gpilot/acquisition/function_uncertainty.hpp"
#include "gpilot/acquisition/planner.hpp"

namespace gpilot::acquisition {

// Declared where they are listed: strategies.def.
Plan plan_information(const Situation& situation);
Plan plan_entropy(const Situation& situation);
Plan plan_reference_variance(const Situation& situation);

Plan plan_information(const Situation& situation) {
  InformationGain criterion;
  return search_plan(situation, function_uncertainty(situation), criterion);
}

Plan plan_entropy(const Situation& situation) {
  PathEntropy criterion;
  return search_plan(situation, function_uncertainty(situation), criterion);
}

Plan plan_reference_variance(const Situation& situation) {
  const std::vector<gp::PackedPosterior> uncertainty = function_uncertainty(situation);
  const Reference reference = make_reference(situation, uncertainty);
  ReferenceVariance criterion(reference);
  return search_plan(situation, uncertainty, criterion);
}

}  // namespace gpilot::acquisition
