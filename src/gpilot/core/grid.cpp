#include "gpilot/core/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpilot/core/error.hpp"

namespace gpilot {

namespace {

/// Weighted means of the ends, which hits round numbers (0 in the middle of [-0.5, 0.5]) where adding up steps does
/// not.
Vector spaced(double low, double high, Index count) {
  Vector values(count);
  const auto intervals = static_cast<double>(count - 1);
  for (Index k = 0; k < count; ++k) {
    const auto right = static_cast<double>(k);
    values(k) = k == 0 ? low : k == count - 1 ? high : (low * (intervals - right) + high * right) / intervals;
  }
  return values;
}

}  // namespace

Matrix regular_grid(const Box& box, std::span<const Index> points) {
  const Index dimensions = box.low.size();
  if (static_cast<Index>(points.size()) != dimensions || std::ranges::any_of(points, [](Index n) { return n < 1; })) {
    throw InputError(fmt::format("grid: points [{}], expected a number of at least 1 for each of {} dimension(s)",
                                 fmt::join(points, ", "), dimensions));
  }
  Index total = 1;
  std::vector<Index> counts(points.begin(), points.end());
  for (Index i = 0; i < dimensions; ++i) {
    Index& count = counts[static_cast<std::size_t>(i)];
    count = box.low(i) < box.high(i) ? count : 1;
    total *= count;
  }
  Matrix grid(total, dimensions);
  Index repeat = total;  // rows that share a value of this dimension and of all before it
  for (Index i = 0; i < dimensions; ++i) {
    const Index count = counts[static_cast<std::size_t>(i)];
    const Vector values = spaced(box.low(i), box.high(i), count);
    repeat /= count;
    for (Index row = 0; row < total; ++row) {
      grid(row, i) = values((row / repeat) % count);
    }
  }
  return grid;
}

}  // namespace gpilot
