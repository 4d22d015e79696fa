#pragma once

#include <array>

#include "gpilot/core/types.hpp"

namespace gpilot::plan {

/// Coordinate i of point k = 0, 1, .. of the Halton sequence in (0, 1)^n: the radical inverse of k in the i-th prime.
/// Beyond a dozen coordinates they repeat with a shift of the points; a search from many starts does not mind.
inline double halton(Index k, Index i) {
  constexpr std::array<Index, 12> kPrimes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  const auto primes = static_cast<Index>(kPrimes.size());
  const Index base = kPrimes[static_cast<std::size_t>(i % primes)];
  double value = 0.0;
  double digit = 1.0 / static_cast<double>(base);
  for (Index rest = k + 1 + i / primes; rest > 0; rest /= base, digit /= static_cast<double>(base)) {
    value += digit * static_cast<double>(rest % base);
  }
  return value;
}

}  // namespace gpilot::plan
