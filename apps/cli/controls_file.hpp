#pragma once

#include <optional>
#include <string>

#include "gpilot/core/types.hpp"
#include "gpilot/systems/system.hpp"

namespace gpilot::cli {

/// The columns of a data file that carry the names of a system's controls: its first `steps` rows, or all but a last
/// row without controls (which is how recordings end). Throws InputError that names the file, and the missing column
/// or row.
Matrix read_controls(const systems::System& system, const std::string& path, std::optional<Index> steps = {});

}  // namespace gpilot::cli
