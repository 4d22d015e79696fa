#include "gpilot/trials/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "gpilot/core/central_interval.hpp"
#include "gpilot/core/distributions.hpp"

namespace gpilot::trials {

namespace {

/// a - b of every pair that differs.
std::vector<double> differences(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) {
    throw std::invalid_argument(
        fmt::format("signed_rank_test: the samples have {} and {} values, expected pairs", a.size(), b.size()));
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) {
      throw std::invalid_argument(fmt::format("signed_rank_test: pair {} is ({}, {})", i, a[i], b[i]));
    }
    if (a[i] != b[i]) {  // so that two infinities are a pair without a difference
      result.push_back(a[i] - b[i]);
    }
  }
  return result;
}

/// Ranks of |difference|, twice each so that the mean rank of ties is whole, and sum(t^3 - t) over ties of t.
struct DoubledRanks {
  std::vector<Index> rank;
  double tie_term = 0.0;
};

DoubledRanks doubled_ranks(std::vector<double>& differences) {
  std::ranges::sort(differences, {}, [](double d) { return std::abs(d); });
  DoubledRanks ranks;
  for (std::size_t begin = 0; begin < differences.size();) {
    std::size_t end = begin + 1;
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[begin])) {
      ++end;
    }
    // Ranks begin + 1 .. end have the mean (begin + 1 + end) / 2.
    ranks.rank.insert(ranks.rank.end(), end - begin, static_cast<Index>(begin + 1 + end));
    const auto t = static_cast<double>(end - begin);
    ranks.tie_term += t * t * t - t;
    begin = end;
  }
  return ranks;
}

/// P(sum of the ranks with a positive sign <= sum) when all 2^n signs are equally likely.
double exact_tail(const std::vector<Index>& rank, Index sum) {
  // ways[s]: subsets of the ranks so far whose sum is s. At most 2^60 in all, so whole numbers hold them exactly.
  std::vector<std::uint64_t> ways(static_cast<std::size_t>(sum) + 1, 0);
  ways[0] = 1;
  for (const Index r : rank) {
    for (Index s = sum; s >= r; --s) {
      ways[static_cast<std::size_t>(s)] += ways[static_cast<std::size_t>(s - r)];
    }
  }
  const std::uint64_t below = std::accumulate(ways.begin(), ways.end(), std::uint64_t{0});
  return std::ldexp(static_cast<double>(below), -static_cast<int>(rank.size()));
}

double normal_tail(double smaller_sum, double n, double tie_term) {
  const double expected = n * (n + 1.0) / 4.0;
  const double variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - tie_term / 48.0;
  constexpr double kContinuity = 0.5;
  const double z = std::max(0.0, expected - smaller_sum - kContinuity) / std::sqrt(variance);
  return normal_cdf(-z);
}

}  // namespace

double mean(std::span<const double> values) {
  return values.empty() ? kNaN
                        : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_stddev(std::span<const double> values) {
  if (values.size() < 2) {
    return kNaN;
  }
  const double center = mean(values);
  double sum = 0.0;
  for (const double value : values) {
    sum += (value - center) * (value - center);
  }
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double median(std::span<const double> values) {
  if (values.empty()) {
    return kNaN;
  }
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * sorted[middle - 1] + 0.5 * sorted[middle];
}

SignedRankTest signed_rank_test(std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference = differences(a, b);
  SignedRankTest test{.differences = static_cast<Index>(difference.size())};
  if (difference.empty()) {
    return test;
  }
  const DoubledRanks ranks = doubled_ranks(difference);
  Index below = 0;
  Index above = 0;
  for (std::size_t i = 0; i < difference.size(); ++i) {
    (difference[i] < 0.0 ? below : above) += ranks.rank[i];
  }
  test.rank_sum_below = 0.5 * static_cast<double>(below);
  test.rank_sum_above = 0.5 * static_cast<double>(above);
  const double tail = test.differences <= kMostExactDifferences
                          ? exact_tail(ranks.rank, std::min(below, above))
                          : normal_tail(0.5 * static_cast<double>(std::min(below, above)),
                                        static_cast<double>(test.differences), ranks.tie_term);
  test.p = std::min(1.0, 2.0 * tail);
  return test;
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double largest = 0.0;  // a larger p never gets a smaller adjusted one
  for (std::size_t k = 0; k < order.size(); ++k) {
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - k) * p[order[k]]));
    adjusted[order[k]] = largest;
  }
  return adjusted;
}

Share share_of(std::span<const GroupCount> groups) {
  double successes = 0.0;
  double attempts = 0.0;
  for (const GroupCount& group : groups) {
    successes += static_cast<double>(group.successes);
    attempts += static_cast<double>(group.attempts);
  }
  const double p = successes / attempts;  // NaN for no attempts, and then all that follows
  double squares = 0.0;
  for (const GroupCount& group : groups) {
    const double excess = static_cast<double>(group.successes) - p * static_cast<double>(group.attempts);
    squares += excess * excess;
  }
  const auto G = static_cast<double>(groups.size());
  const double between = G > 1.0 ? G / (G - 1.0) * squares / (attempts * attempts) : 0.0;  // variance of p
  const double n = between > 0.0 ? std::min(attempts, p * (1.0 - p) / between) : attempts;
  constexpr double z = kNormal95;  // Wilson (1927)
  const double centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
  const double half = z / (1.0 + z * z / n) * std::sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));
  // At 0 and 1 rounding must not leave the share outside its interval.
  return {
      .value = p, .low = std::min(p, std::max(0.0, centre - half)), .high = std::max(p, std::min(1.0, centre + half))};
}

}  // namespace gpilot::trials
