#pragma once

#include <nlohmann/json.hpp>

#include "gpilot/ssm/model.hpp"

namespace gpilot::cli {

/// What a report says about a model: model_json() with the words that 'gpilot show' has for its status.
nlohmann::ordered_json describe_for_report(const ssm::Model& model);

}  // namespace gpilot::cli
