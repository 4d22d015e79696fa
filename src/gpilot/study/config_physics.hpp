#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpilot/io/toml_reader.hpp"
#include "gpilot/ssm/spec.hpp"

/// The section [physics], whose keys are names of states: formulas, how they are integrated, and their parameters.
namespace gpilot::study {

inline constexpr const char* kPhysics = "physics";
inline constexpr const char* kPhysicsParameters = "parameters";

/// Reads the section, if there is one; units are left as they are. Throws ConfigError.
void read_physics(const io::TomlValue& root, ssm::Physics& physics);

/// The physics of a file that has such a section, alone or among others. Throws InputError "FILE:LINE: ..".
ssm::Physics load_physics(const std::string& path);

/// ("physics.th_dot", "..") and so on; nothing without physics.
std::vector<std::pair<std::string, std::string>> physics_settings(const ssm::Physics& physics);

/// The line of a formula, or of a parameter "parameters.NAME"; 0 if it is not there.
std::size_t physics_line(const io::TomlValue& root, const std::string& key);

}  // namespace gpilot::study
