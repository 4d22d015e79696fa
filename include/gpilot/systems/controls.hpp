#pragma once

#include <cstdint>

#include "gpilot/systems/system.hpp"

namespace gpilot::systems {

/// For how many steps a random control value is held: uniform in {shortest, .., longest}.
struct Hold {
  Index shortest = 1;
  Index longest = 1;
};

// Every generator returns [steps x P]. The first rows do not depend on `steps`.

/// Values uniform in the control box.
Matrix random_controls(const System& system, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial = 0);

/// Values at random corners of the control box (bang-bang).
Matrix extreme_controls(const System& system, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial = 0);

/// The same value at every step; throws InputError if it has another size than P or lies outside the control box.
Matrix constant_controls(const System& system, Index steps, const VectorRef& value);

}  // namespace gpilot::systems
