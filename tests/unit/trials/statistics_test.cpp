#include "gpilot/trials/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "gpilot/core/random.hpp"
#include "support/message_of.hpp"

namespace gpilot::trials {
namespace {

using ::gpilot::test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

SignedRankTest against_zero(const std::vector<double>& differences) {
  return signed_rank_test(differences, std::vector<double>(differences.size(), 0.0));
}

/// Distinct values of distinct size: no ties.
std::vector<double> without_ties(int n) {
  std::vector<double> values;
  for (int i = 1; i <= n; ++i) {
    values.push_back((37 * i) % 101 - 45.75);
  }
  return values;
}

/// The mean rank of |values[i]| among the values that are not zero, by counting.
double counted_rank(const std::vector<double>& values, std::size_t i) {
  double smaller = 0.0;
  double equal = 0.0;
  for (const double other : values) {
    smaller += other != 0.0 && std::abs(other) < std::abs(values[i]) ? 1.0 : 0.0;
    equal += std::abs(other) == std::abs(values[i]) ? 1.0 : 0.0;
  }
  return smaller + 0.5 * (equal + 1.0);
}

/// The two-sided p by trying all signs.
double enumerated_p(const std::vector<double>& values) {
  std::vector<double> rank;
  double below = 0.0;
  double above = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0.0) {
      rank.push_back(counted_rank(values, i));
      (values[i] < 0.0 ? below : above) += rank.back();
    }
  }
  const double observed = std::min(below, above);
  const unsigned all = 1U << rank.size();
  double extreme = 0.0;
  for (unsigned signs = 0; signs < all; ++signs) {
    double sum = 0.0;
    for (std::size_t i = 0; i < rank.size(); ++i) {
      sum += (signs >> i & 1U) != 0 ? rank[i] : 0.0;
    }
    extreme += sum <= observed ? 1.0 : 0.0;
  }
  return std::min(1.0, 2.0 * extreme / all);
}

TEST(Statistics, MeanSpreadAndMedian) {
  const std::vector<double> values{4.0, 1.0, 7.0, 2.0};
  EXPECT_DOUBLE_EQ(mean(values), 3.5);
  EXPECT_DOUBLE_EQ(sample_stddev(values), std::sqrt(21.0 / 3.0));
  EXPECT_DOUBLE_EQ(median(values), 3.0);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{5.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::vector<double>{kInfinity, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::vector<double>{kInfinity, 1.0}), kInfinity);
}

TEST(Statistics, OfTooFewValuesIsNaN) {
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(sample_stddev(std::vector<double>{1.0})));
}

TEST(SignedRank, AllDifferencesOfOneSign) {
  const SignedRankTest test = against_zero({-1.0, -2.0, -3.0, -4.0, -5.0});
  EXPECT_EQ(test.differences, 5);
  EXPECT_EQ(test.rank_sum_below, 15.0);
  EXPECT_EQ(test.rank_sum_above, 0.0);
  EXPECT_EQ(test.p, 2.0 / 32.0);
}

TEST(SignedRank, EqualsTheEnumerationOfAllSigns) {
  RandomStream random(1, Purpose::kTest);
  for (int problem = 0; problem < 60; ++problem) {
    std::vector<double> values;
    const Index n = 1 + random.index(10);
    const bool ties = problem % 2 == 0;  // few whole numbers: ties and zeros
    for (Index i = 0; i < n; ++i) {
      values.push_back(ties ? static_cast<double>(random.index(7)) - 3.0 : random.normal() + 0.5);
    }
    EXPECT_DOUBLE_EQ(against_zero(values).p, enumerated_p(values)) << "problem " << problem;
  }
}

TEST(SignedRank, EqualsReferences) {
  // scipy 1.17: wilcoxon(a, b, method='exact'); Hollander and Wolfe's data.
  const std::vector<double> a{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const std::vector<double> b{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  EXPECT_EQ(signed_rank_test(a, b).rank_sum_below, 5.0);
  EXPECT_DOUBLE_EQ(signed_rank_test(a, b).p, 0.0390625);
  // scipy 1.17: wilcoxon(without_ties(n), method='exact').
  EXPECT_NEAR(against_zero(without_ties(25)).p, 0.6720751523971558, 1e-15);
  EXPECT_NEAR(against_zero(without_ties(50)).p, 0.24122024636948858, 1e-15);
  EXPECT_NEAR(against_zero(without_ties(60)).p, 0.16413632030167502, 1e-15);
  // scipy 1.17: wilcoxon(without_ties(n), method='approx', correction=True).
  EXPECT_NEAR(against_zero(without_ties(61)).p, 0.18155049099224485, 1e-15);
  EXPECT_NEAR(against_zero(without_ties(100)).p, 0.11811878777286862, 1e-15);
  // scipy 1.17: wilcoxon(differences, method=PermutationMethod(n_resamples=inf)): ties, the zero dropped before.
  EXPECT_DOUBLE_EQ(against_zero({15, -7, 5, 20, 0, -9, 17, -12, 5, -10}).p, 0.6328125);
}

TEST(SignedRank, CorrectsTheApproximationForTies) {
  std::vector<double> values;
  for (int i = 1; i <= 120; ++i) {
    values.push_back((37 * i) % 23 - 8);
  }
  const SignedRankTest test = against_zero(values);
  EXPECT_EQ(test.differences, 115);
  EXPECT_EQ(test.rank_sum_below, 1796.0);
  // scipy 1.17: wilcoxon(values, method='approx', correction=True, zero_method='wilcox').
  EXPECT_NEAR(test.p, 1.7306148416207594e-05, 1e-18);
}

TEST(SignedRank, NoDifferenceIsNoEvidence) {
  EXPECT_EQ(signed_rank_test({}, {}).p, 1.0);
  const SignedRankTest test =
      signed_rank_test(std::vector<double>{1.0, kInfinity}, std::vector<double>{1.0, kInfinity});
  EXPECT_EQ(test.differences, 0);
  EXPECT_EQ(test.p, 1.0);
}

TEST(SignedRank, AnInfiniteValueIsTheLargest) {
  const std::vector<double> a{kInfinity, 1.0, 2.0, 3.0};
  const std::vector<double> b{1e300, 0.5, 1.0, 4.5};
  EXPECT_EQ(signed_rank_test(a, b).rank_sum_above, 4.0 + 1.0 + 2.0);
  EXPECT_EQ(signed_rank_test(b, a).rank_sum_below, 4.0 + 1.0 + 2.0);
}

TEST(SignedRank, RefusesWhatAreNoPairs) {
  const std::vector<double> two{1.0, 2.0};
  EXPECT_NE(message_of<std::invalid_argument>([&] {
              signed_rank_test(two, std::vector<double>{1.0});
            }).find("2 and 1 values"),
            std::string::npos);
  EXPECT_NE(message_of<std::invalid_argument>([&] {
              signed_rank_test(two, std::vector<double>{1.0, kNaN});
            }).find("pair 1"),
            std::string::npos);
}

TEST(Holm, StepsDown) {
  // 4 * .005, 3 * .01, 2 * .03, then .04 lifted to the one before it.
  const std::vector<double> adjusted = holm_adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005});
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_DOUBLE_EQ(adjusted[i], expected[i]) << i;
  }
}

TEST(Holm, IsAtMostOneAndNotBelowP) {
  EXPECT_EQ(holm_adjusted(std::vector<double>{0.9, 0.6, 1.0}), (std::vector<double>{1.0, 1.0, 1.0}));
  EXPECT_EQ(holm_adjusted(std::vector<double>{0.2}), std::vector<double>{0.2});
  EXPECT_TRUE(holm_adjusted({}).empty());
}

// Groups of one attempt are independent attempts: Wilson's interval, values of Newcombe (1998), table I.
TEST(ShareOf, IndependentAttemptsHaveWilsonsInterval) {
  std::vector<GroupCount> groups(263, {0, 1});
  for (std::size_t k = 0; k < 81; ++k) {
    groups[k].successes = 1;
  }
  const Share share = share_of(groups);
  EXPECT_NEAR(share.value, 81.0 / 263.0, 1e-12);
  EXPECT_NEAR(share.low, 0.2553, 2e-3);
  EXPECT_NEAR(share.high, 0.3662, 2e-3);
  const Share none = share_of(std::vector<GroupCount>{{0, 15}, {0, 15}});
  EXPECT_EQ(none.value, 0.0);
  EXPECT_EQ(none.low, 0.0);
  EXPECT_NEAR(none.high, 0.1135, 5e-5);  // 0 of 30
  const Share all = share_of(std::vector<GroupCount>{{30, 30}});
  EXPECT_EQ(all.high, 1.0);
  EXPECT_NEAR(all.low, 1.0 - 0.1135, 5e-5);
}

// Where all steps of a trial agree, there is no more information than trials.
TEST(ShareOf, AttemptsOfAGroupThatAgreeCountOnce) {
  std::vector<GroupCount> trials;
  std::vector<GroupCount> steps;
  for (Index k = 0; k < 40; ++k) {
    trials.push_back({k < 10 ? 30 : 0, 30});
    steps.push_back({k < 10 ? 1 : 0, 1});
  }
  const Share grouped = share_of(trials);
  const Share single = share_of(steps);
  EXPECT_NEAR(grouped.value, 0.25, 1e-12);
  EXPECT_NEAR(grouped.low, single.low, 1e-9);
  EXPECT_NEAR(grouped.high, single.high, 1e-9);
  // Spread evenly over the trials, they are worth all their steps.
  std::vector<GroupCount> even(40, {6, 24});
  EXPECT_LT(share_of(even).high - share_of(even).low, 0.4 * (grouped.high - grouped.low));
}

TEST(ShareOf, NothingIsNotANumber) {
  EXPECT_TRUE(std::isnan(share_of({}).value));
  EXPECT_TRUE(std::isnan(share_of(std::vector<GroupCount>{{0, 0}}).value));
}

}  // namespace
}  // namespace gpilot::trials
