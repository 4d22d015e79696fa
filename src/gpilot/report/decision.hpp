#pragma once

#include <memory>
#include <vector>

#include "gpilot/explore/online_model.hpp"
#include "gpilot/report/numbers.hpp"
#include "gpilot/study/study.hpp"

/// What a model said before a step of a study: computed once more from the model that chose its control.
namespace gpilot::report {

/// What was learned from a step's outputs [E]: NaN where they were voided or are not plausible.
Vector learned_outputs(const study::StudyConfig& config, const study::StepRecord& step);

/// {"step", "training", "expected": {"mean", "sd"} of the outputs one step ahead, "landscape": {"controls", "values"},
/// "plan": {"mean", "sd"} of the outputs along the plan}. What cannot be computed is left out. `step` null: the step
/// that would be asked next.
Json decision_json(const study::Study& study, const study::TrainingRecord& training,
                   const std::shared_ptr<const ssm::Model>& model, const study::StepRecord* step);

}  // namespace gpilot::report
