#pragma once

#include <span>

#include "gpilot/core/types.hpp"

namespace gpilot {

/// The points of a regular grid over a box, its corners included: [product of points x dimensions], the last dimension
/// changes fastest. An interval of no width, or with one point, gives its lower end once. Throws InputError unless
/// `points` has a number of at least 1 for every dimension.
Matrix regular_grid(const Box& box, std::span<const Index> points);

}  // namespace gpilot
