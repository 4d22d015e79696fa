#pragma once

#include "gpilot/inference/options.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::inference {

/// Trains a model. Data in user units. `previous`, when given, is a model of the same columns to start from: beside the
/// fresh start (warm start) or, with method adam, instead of it.
ssm::Model fit(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
               const ssm::Model* previous = nullptr);

}  // namespace gpilot::inference
