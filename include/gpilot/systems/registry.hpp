#pragma once

#include "gpilot/systems/system.hpp"

namespace gpilot::systems {

/// The names that make_system knows: kink, pendulum, cart-pole, tras.
const std::vector<std::string>& system_names();

/// Throws InputError for an unknown name, with the nearest known one in its message.
std::unique_ptr<System> make_system(std::string_view name, Variant variant = Variant::kCorrected);

}  // namespace gpilot::systems
