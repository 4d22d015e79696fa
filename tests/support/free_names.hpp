#pragma once

#include <string>
#include <vector>

#include "gpilot/ssm/structure.hpp"

namespace gpilot::test {

/// A name for each free parameter in the order of ssm::pack(), e.g. "log_length_scales[2,0]".
std::vector<std::string> free_names(const ssm::Parameters& p, const ssm::Free& free);

}  // namespace gpilot::test
