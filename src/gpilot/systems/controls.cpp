#include <fmt/format.h>

#include <algorithm>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/systems/simulate.hpp"

namespace gpilot::systems {
namespace {

void check_arguments(Index steps, Hold hold) {
  if (steps < 1) {
    throw InputError(fmt::format("the number of steps must be at least 1, not {}", steps));
  }
  if (hold.shortest < 1 || hold.longest < hold.shortest) {
    throw InputError(
        fmt::format("a hold must be at least 1 step and its range must rise, not {}:{}", hold.shortest, hold.longest));
  }
}

/// Fills [steps x P] with blocks of equal rows; `draw(stream, low, high)` gives the value of one control.
template <class Draw>
Matrix held_controls(const Box& box, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial, Draw draw) {
  check_arguments(steps, hold);
  RandomStream values(seed, Purpose::kControls, trial);
  RandomStream lengths(seed, Purpose::kHolds, trial);
  Matrix controls(steps, box.low.size());
  for (Index t = 0; t < steps;) {
    const Index wanted = hold.shortest + lengths.index(hold.longest - hold.shortest + 1);
    const Index length = std::min(wanted, steps - t);
    for (Index i = 0; i < controls.cols(); ++i) {
      controls.col(i).segment(t, length).setConstant(draw(values, box.low(i), box.high(i)));
    }
    t += length;
  }
  return controls;
}

}  // namespace

Matrix random_controls(const Box& box, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial) {
  return held_controls(box, steps, hold, seed, trial,
                       [](RandomStream& stream, double low, double high) { return stream.uniform(low, high); });
}

Matrix random_controls(const System& system, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial) {
  return random_controls(system.spec().control_box, steps, hold, seed, trial);
}

Matrix extreme_controls(const Box& box, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial) {
  return held_controls(box, steps, hold, seed, trial,
                       [](RandomStream& stream, double low, double high) { return stream.index(2) == 0 ? low : high; });
}

Matrix extreme_controls(const System& system, Index steps, Hold hold, std::uint64_t seed, std::uint32_t trial) {
  return extreme_controls(system.spec().control_box, steps, hold, seed, trial);
}

Matrix constant_controls(const System& system, Index steps, const VectorRef& value) {
  check_arguments(steps, {});
  check_in_control_box(system, value.transpose());
  return value.transpose().replicate(steps, 1);
}

}  // namespace gpilot::systems
