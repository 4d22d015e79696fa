#pragma once

#include "gpilot/box.hpp"
#include "gpilot/types.hpp"

namespace gpilot::study {

/// The controls that may follow `previous` [P]: inside the box, and no farther from it than `slew` [P] (infinity = no
/// limit), in floating-point arithmetic, too. Where `previous` lies so far outside the box that both cannot hold, the
/// box does: the interval is its nearest end.
Box reachable(const Box& box, const Vector& slew, const Vector& previous);

}  // namespace gpilot::study
