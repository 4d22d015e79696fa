#pragma once

#include <span>
#include <vector>

#include "gpilot/core/types.hpp"

/// What paired trials say: location, spread and tests that assume no distribution. An infinite value is a number like
/// any other, larger than the rest; NaN is the caller's error.
namespace gpilot::trials {

/// NaN for no values.
double mean(std::span<const double> values);
/// With n - 1 in its denominator; NaN for fewer than two values, or an infinite one.
double sample_stddev(std::span<const double> values);
/// The middle value, or the mean of the two in the middle; NaN for no values.
double median(std::span<const double> values);

/// Up to this many differences the distribution of the signed-rank sum is counted exactly.
inline constexpr Index kMostExactDifferences = 60;

/// Wilcoxon's signed-rank test of paired samples. Wilcoxon (1945).
struct SignedRankTest {
  Index differences = 0;        ///< pairs that differ; the others are dropped
  double rank_sum_below = 0.0;  ///< of |difference| over the pairs with a < b
  double rank_sum_above = 0.0;  ///< over those with a > b
  double p = 1.0;               ///< two-sided
};

/// Equal |differences| share the mean of their ranks. Exact up to kMostExactDifferences, ties included; beyond them the
/// normal approximation with corrections for ties and continuity. Throws std::invalid_argument for samples of different
/// sizes and for NaN.
SignedRankTest signed_rank_test(std::span<const double> a, std::span<const double> b);

/// Holm's step-down adjustment of a family's p values, in their order: reject those below alpha and the chance of any
/// false rejection is at most alpha. Holm (1979).
std::vector<double> holm_adjusted(std::span<const double> p);

/// Successes among attempts that come in groups, e.g. steps of a trial.
struct GroupCount {
  Index successes = 0;
  Index attempts = 0;
};

/// A share with its 95 % interval; all NaN for no attempts.
struct Share {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Attempts of one group resemble each other, so Wilson's interval is taken for as many independent attempts as would
/// spread as much as the groups do, at most those there are: Korn and Graubard (1998). Without any success, or any
/// failure, there is no spread to see, and all attempts count as independent.
Share share_of(std::span<const GroupCount> groups);

}  // namespace gpilot::trials
