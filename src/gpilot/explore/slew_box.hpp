#pragma once

#include "gpilot/core/types.hpp"

namespace gpilot::explore {

/// The controls that may follow `previous` [P]: inside the box, and no farther from it than `slew` [P] (infinity = no
/// limit), in floating-point arithmetic, too. Where `previous` lies so far outside the box that both cannot hold, the
/// box does: the interval is its nearest end.
Box slew_box(const Box& box, const Vector& slew, const Vector& previous);

}  // namespace gpilot::explore
