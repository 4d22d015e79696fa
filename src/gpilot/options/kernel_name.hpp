#pragma once

#include <string_view>

#include "gpilot/ssm/spec.hpp"

namespace gpilot::options {

/// Sets the kernel as `fit --kernel` and Python name it: "se", "matern32+linear", or "linear" for the linear part
/// alone. Throws InputError that names `field` and the known ones.
void set_kernel(ssm::ModelSpec& spec, std::string_view text, std::string_view field);

}  // namespace gpilot::options
