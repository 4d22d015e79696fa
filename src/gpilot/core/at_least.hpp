#pragma once

#include <fmt/format.h>

#include "gpilot/core/error.hpp"
#include "gpilot/core/types.hpp"

namespace gpilot {

/// Throws InputError, "batch: 5 is below 10", for a count that is too small.
inline void check_at_least(const char* field, Index value, Index lowest) {
  if (value < lowest) {
    throw InputError(fmt::format("{}: {} is below {}", field, value, lowest));
  }
}

}  // namespace gpilot
