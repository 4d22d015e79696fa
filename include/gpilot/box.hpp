#pragma once

#include "gpilot/types.hpp"

namespace gpilot {

/// An axis-parallel box, one interval per dimension.
struct Box {
  Vector low;
  Vector high;
};

}  // namespace gpilot
