#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace gpilot {

// Half the widths of central intervals of a standard normal.
inline constexpr double kNormal90 = 1.6448536269514722;
inline constexpr double kNormal95 = 1.959963984540054;

/// The standard deviation of the normal distribution around 0 whose central 90 % holds nine in ten errors of these
/// sizes; 1 if there are none.
inline double spread_of(std::vector<double> sizes) {
  if (sizes.empty()) {
    return 1.0;
  }
  const auto at = sizes.begin() + std::lround(0.9 * static_cast<double>(sizes.size() - 1));
  std::ranges::nth_element(sizes, at);
  return *at / kNormal90;
}

}  // namespace gpilot
