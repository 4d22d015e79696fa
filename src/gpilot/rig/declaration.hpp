#pragma once

#include <string>
#include <string_view>

#include "gpilot/rig/rig.hpp"

/// What a rig declares about itself in its answer to hello.
namespace gpilot::rig {

/// Reads the lists "inputs" and "outputs" of an answer whose form has been checked (JSON, one object, its depth, no key
/// twice). Throws RigError for what is no list of channels.
void read_channels(std::string_view line, RigTraits& traits);

/// What makes no sense in a declaration: names, ranges, dt; "" if it does.
std::string nonsense_in(const RigTraits& traits);

}  // namespace gpilot::rig
