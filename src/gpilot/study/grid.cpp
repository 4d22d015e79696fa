#include "gpilot/study/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpilot/error.hpp"

namespace gpilot::study {

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
    Vector values = Vector::LinSpaced(count, box.low(i), box.high(i));
    values(0) = box.low(i);
    repeat /= count;
    for (Index row = 0; row < total; ++row) {
      grid(row, i) = values((row / repeat) % count);
    }
  }
  return grid;
}

}  // namespace gpilot::study
