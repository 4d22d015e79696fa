#include "gpilot/trials/comparison_summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "gpilot/core/random.hpp"
#include "gpilot/trials/comparison.hpp"
#include "gpilot/trials/statistics.hpp"
#include "support/message_of.hpp"

namespace gpilot::trials {
namespace {

using ::gpilot::test::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TrialRecord record_from(const std::vector<double>& rmse) {
  TrialRecord record{.metrics = {"rmse", "coverage90", "nlpd"}, .steps = {}};
  for (const double value : rmse) {
    RecordedStep& step = record.steps.emplace_back();
    step.values = {value, 0.9, -value};
    step.trained = true;
    step.status = value > 3.5 ? "failed" : "converged";
    step.chosen = "gp";
    step.choose_seconds = record.steps.size() == 1 ? 100.0 : 1.0;  // step 0 chooses nothing
    step.train_seconds = static_cast<double>(record.steps.size());
  }
  return record;
}

/// One system, two strategies, three trials of steps 0..2.
ComparisonOptions tiny_options() {
  return {.systems = {"kink"}, .strategies = {"totmi", "random"}, .trials = 3, .explore = {.steps = 2}, .boxes = {}};
}

std::vector<TrialRecord> tiny_records() {
  return {record_from({4, 2, 1}), record_from({4, 1, 0.5}), record_from({4, 3, 3}),
          record_from({4, 3, 2}), record_from({4, 3, 1}),   record_from({4, 3, 2})};
}

TEST(ComparisonSummaryTest, OfAHandComputedCase) {
  const ComparisonSummary summary = summarize(tiny_options(), tiny_records());
  ASSERT_EQ(summary.systems.size(), 1U);
  const SystemSummary& kink = summary.systems[0];
  ASSERT_EQ(kink.metrics.size(), 2U);  // no coverage
  EXPECT_EQ(kink.metrics[0].metric, "rmse");
  EXPECT_EQ(kink.metrics[1].metric, "nlpd");
  const StrategySummary& totmi = kink.metrics[0].strategies[0];
  ASSERT_EQ(totmi.steps.size(), 2U);
  EXPECT_EQ(totmi.steps[0].step, 0);
  EXPECT_EQ(totmi.steps[1].step, 2);
  const TrialStatistics& end = totmi.steps[1].value;
  EXPECT_DOUBLE_EQ(end.mean, 1.5);
  EXPECT_DOUBLE_EQ(end.stddev, std::sqrt((0.25 + 1.0 + 2.25) / 2.0));
  EXPECT_DOUBLE_EQ(end.median, 1.0);
  ASSERT_EQ(end.tests.size(), 1U);
  EXPECT_EQ(end.tests[0].reference, "random");
  EXPECT_EQ(end.tests[0].lower, 2);
  EXPECT_EQ(end.tests[0].higher, 1);
  EXPECT_DOUBLE_EQ(end.tests[0].median_difference, -0.5);  // -1, -0.5, 1
  EXPECT_DOUBLE_EQ(end.tests[0].median_ratio, 0.5);
  EXPECT_EQ(end.tests[0].direction, -1);  // ranks 2.5 + 1 against 2.5
  EXPECT_DOUBLE_EQ(end.tests[0].p, 1.0);  // sums <= 2.5 of {1, 2.5, 2.5}: 4 of 8
  // At step 0 nothing differs.
  EXPECT_EQ(totmi.steps[0].value.tests[0].direction, 0);
  EXPECT_EQ(totmi.steps[0].value.tests[0].p, 1.0);
  // Areas 4.5, 3.25, 6.5 against 6, 5.5, 6.
  EXPECT_DOUBLE_EQ(totmi.area.mean, (4.5 + 3.25 + 6.5) / 3.0);
  EXPECT_DOUBLE_EQ(totmi.area.median, 4.5);
  EXPECT_EQ(totmi.area.tests[0].direction, -1);
  // Random ends at 2, 1, 2, so the goal is 2: reached at steps 1, 1 and never; by random at the last.
  EXPECT_EQ(totmi.steps_to_random, 1.0);
  EXPECT_EQ(kink.metrics[0].strategies[1].steps_to_random, 2.0);
  EXPECT_TRUE(kink.metrics[0].strategies[1].area.tests.empty());
}

TEST(ComparisonSummaryTest, CountsTimeAndTrainings) {
  const StrategyEffort effort = summarize(tiny_options(), tiny_records()).systems[0].efforts[0];
  EXPECT_DOUBLE_EQ(effort.choose_seconds, 1.0);
  EXPECT_DOUBLE_EQ(effort.train_seconds, 2.5);
  EXPECT_EQ(effort.statuses, (std::map<std::string, Index>{{"converged", 6}, {"failed", 3}}));
  EXPECT_EQ(effort.chosen, (std::map<std::string, Index>{{"gp", 9}}));
}

TEST(ComparisonSummaryTest, StepsToRandomsEndAreThoseAfterWhichNoneIsAboveIt) {
  ComparisonOptions options = tiny_options();
  options.explore.steps = 4;
  // The goal is the median of 3, 1 and 2. Totmi dips below it at once, but stays from 3, 2 and 4 on. Random: from 5
  // (never), 1 and 4 on.
  const std::vector<TrialRecord> records = {record_from({4, 1, 3, 2, 1}), record_from({1, 3, 1, 2, 2}),
                                            record_from({4, 1, 1, 3, 2}), record_from({4, 1, 1, 1, 3}),
                                            record_from({4, 1, 1, 1, 1}), record_from({4, 1, 1, 3, 2})};
  const MetricSummary rmse = summarize(options, records).systems[0].metrics[0];
  EXPECT_EQ(rmse.strategies[0].steps_to_random, 3.0);
  EXPECT_EQ(rmse.strategies[1].steps_to_random, 4.0);
}

TEST(ComparisonSummaryTest, AnInfiniteGoalIsReachedByWhatIsFinite) {
  std::vector<TrialRecord> records = tiny_records();
  records[3] = records[4] = record_from({4, 3, kNaN});
  const MetricSummary rmse = summarize(tiny_options(), records).systems[0].metrics[0];
  EXPECT_EQ(rmse.strategies[0].steps_to_random, 0.0);
  EXPECT_EQ(rmse.strategies[1].steps_to_random, 3.0);
}

TEST(ComparisonSummaryTest, ARatioNeedsPositiveMedians) {
  const ComparisonSummary summary = summarize(tiny_options(), tiny_records());
  const PairedTest nlpd = summary.systems[0].metrics[1].strategies[0].steps[1].value.tests[0];  // -1 and -2
  EXPECT_TRUE(std::isnan(nlpd.median_ratio));
  EXPECT_NE(format_summary(summary).find("\"median_ratio\": null"), std::string::npos);
}

TEST(ComparisonSummaryTest, CountsFailedTrainings) {
  std::vector<TrialRecord> records = tiny_records();
  records[2].steps[1].trained = false;
  records[2].steps[1].status = "training failed: no factor";
  records[2].steps[2].trained = false;  // no training was due
  const StrategyEffort effort = summarize(tiny_options(), records).systems[0].efforts[0];
  EXPECT_EQ(effort.statuses, (std::map<std::string, Index>{{"converged", 4}, {"failed", 4}}));
}

TEST(ComparisonSummaryTest, StepsThatAFailedTrialDidNotComeToTakeNoTime) {
  std::vector<TrialRecord> records = tiny_records();
  records[0].steps.resize(2);
  record_failure(records[0], 2, "no factor");
  const StrategyEffort effort = summarize(tiny_options(), records).systems[0].efforts[0];
  EXPECT_DOUBLE_EQ(effort.choose_seconds, 1.0);
  EXPECT_DOUBLE_EQ(effort.train_seconds, (3 * 2.0 + 2 * 3.0) / 5.0);
  EXPECT_EQ(effort.statuses, (std::map<std::string, Index>{{"converged", 5}, {"failed", 3}}));
}

TEST(ComparisonSummaryTest, NeverReachedIsBeyondTheLastStep) {
  std::vector<TrialRecord> records = tiny_records();
  records[1] = record_from({4, 3, 3});
  EXPECT_EQ(summarize(tiny_options(), records).systems[0].metrics[0].strategies[0].steps_to_random, 3.0);
}

TEST(ComparisonSummaryTest, WhatIsNotFiniteIsInfinitelyBad) {
  std::vector<TrialRecord> records = tiny_records();
  records[0] = record_from({4, kNaN, kNaN});
  const StrategySummary totmi = summarize(tiny_options(), records).systems[0].metrics[0].strategies[0];
  EXPECT_TRUE(std::isinf(totmi.steps[1].value.mean));
  EXPECT_EQ(totmi.steps[1].value.median, 3.0);
  EXPECT_EQ(totmi.steps[1].value.tests[0].higher, 2);
  EXPECT_TRUE(std::isinf(totmi.area.mean));
  EXPECT_EQ(totmi.area.median, 6.5);
}

TEST(ComparisonSummaryTest, AdjustsWithinAStepAndReference) {
  ComparisonOptions options = tiny_options();
  options.strategies = {"random", "randext", "latmi", "totmi"};
  options.trials = 12;
  std::vector<TrialRecord> records;
  std::vector<std::vector<double>> last(4);
  RandomStream random(5, Purpose::kTest);
  for (std::size_t k = 0; k < 4; ++k) {
    for (int trial = 0; trial < 12; ++trial) {
      last[k].push_back(random.uniform() + 0.3 * static_cast<double>(k));
      records.push_back(record_from({2.0, random.uniform(), last[k].back()}));
    }
  }
  const MetricSummary summary = summarize(options, records).systems[0].metrics[0];
  for (std::size_t reference = 0; reference < 2; ++reference) {
    std::vector<double> p;
    std::vector<PairedTest> tests;
    for (std::size_t k = 0; k < 4; ++k) {
      if (k != reference) {
        p.push_back(signed_rank_test(last[k], last[reference]).p);
        const std::vector<PairedTest>& all = summary.strategies[k].steps[1].value.tests;
        tests.push_back(k < 2 ? all.at(0) : all.at(reference));
        EXPECT_EQ(tests.back().reference, options.strategies[reference]);
      }
    }
    const std::vector<double> adjusted = holm_adjusted(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(tests[i].p, p[i]);
      EXPECT_EQ(tests[i].p_holm, adjusted[i]);
    }
  }
}

TEST(ComparisonSummaryTest, WithoutRandomThereIsNoGoalToReach) {
  ComparisonOptions options = tiny_options();
  options.strategies = {"totmi", "latmi"};
  const ComparisonSummary summary = summarize(options, tiny_records());
  EXPECT_FALSE(summary.systems[0].metrics[0].strategies[0].steps_to_random);
  EXPECT_TRUE(summary.systems[0].metrics[0].strategies[0].area.tests.empty());
  EXPECT_EQ(format_summary(summary).find("steps_to_random"), std::string::npos);
}

TEST(ComparisonSummaryTest, StepsAreThoseOfThePaperAndTheLast) {
  EXPECT_EQ(summary_steps(30), (std::vector<Index>{0, 5, 10, 20, 30}));
  EXPECT_EQ(summary_steps(12), (std::vector<Index>{0, 5, 10, 12}));
  EXPECT_EQ(summary_steps(40), (std::vector<Index>{0, 5, 10, 20, 30, 40}));
  EXPECT_EQ(summary_steps(1), (std::vector<Index>{0, 1}));
}

TEST(ComparisonSummaryTest, AsJsonHasWhatDependsOnTheClockLast) {
  std::vector<TrialRecord> records = tiny_records();
  const std::string text = format_summary(summarize(tiny_options(), records));
  for (TrialRecord& record : records) {
    for (RecordedStep& step : record.steps) {
      step.choose_seconds *= 2.0;
    }
  }
  const std::string slower = format_summary(summarize(tiny_options(), records));
  const std::size_t seconds = text.find("\"seconds_per_step\"");
  EXPECT_EQ(text.substr(0, seconds), slower.substr(0, seconds));
  EXPECT_NE(text, slower);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["systems"][0]["metrics"][0]["strategies"][0]["steps"][1]["median"], 1.0);
  EXPECT_EQ(json["systems"][0]["metrics"][0]["strategies"][0]["steps"][1]["tests"][0]["direction"], -1);
  EXPECT_EQ(json["seconds_per_step"][0]["train"], 2.5);
}

TEST(ComparisonSummaryTest, RefusesTrialsThatDoNotFit) {
  std::vector<TrialRecord> records = tiny_records();
  records.pop_back();
  EXPECT_EQ(message_of<std::invalid_argument>([&] { summarize(tiny_options(), records); }),
            "summarize: 5 trials, expected 6");
  records.push_back(record_from({1, 2}));
  EXPECT_NE(
      message_of<std::invalid_argument>([&] { summarize(tiny_options(), records); }).find("differ in their steps"),
      std::string::npos);
}

TEST(ComparisonSummaryTest, CountsViolationsApartFromErrors) {
  const ComparisonOptions options{
      .systems = {"pendulum"}, .strategies = {"random"}, .trials = 2, .explore = {.steps = 3}, .boxes = {}};
  const auto trial = [](const std::vector<std::vector<double>>& values) {
    TrialRecord record{.metrics = {"rmse", "violation", "violation_model", "no_safe_plan"}, .steps = {}};
    for (const std::vector<double>& step : values) {
      record.steps.emplace_back().values = step;
    }
    return record;
  };
  const std::vector<TrialRecord> records{
      trial({{4, 0.4, kNaN, 0.0}, {3, 1, 0.5, 1}, {2, 0, 0.1, 0}, {1, 1, 0.3, 1}}),
      trial({{4, 0.0, kNaN, 0.0}, {3, 0, 0.1, 0}, {kNaN, kNaN, kNaN, kNaN}, {kNaN, kNaN, kNaN, kNaN}})};
  const SystemSummary system = summarize(options, records).systems[0];
  ASSERT_EQ(system.metrics.size(), 1U);
  ASSERT_EQ(system.violations.size(), 1U);
  const StrategyViolations& v = system.violations[0];
  EXPECT_EQ(v.strategy, "random");
  EXPECT_DOUBLE_EQ(v.steps.value, 2.0 / 4.0);  // of the steps that were reached
  EXPECT_LT(v.steps.low, 0.5);
  EXPECT_GT(v.steps.high, 0.5);
  EXPECT_DOUBLE_EQ(v.initial, 0.2);
  EXPECT_DOUBLE_EQ(v.expected, 0.25);
  EXPECT_DOUBLE_EQ(v.no_safe_plan, 0.5);
  const auto json = nlohmann::json::parse(format_summary(summarize(options, records)));
  EXPECT_EQ(json["systems"][0]["violations"][0]["share"], 0.5);
  EXPECT_FALSE(nlohmann::json::parse(format_summary(summarize(tiny_options(), tiny_records())))["systems"][0].contains(
      "violations"));
}

TEST(ComparisonSummaryTest, CountsModelsThatAreWorseThanHoldingTheLastValue) {
  std::vector<TrialRecord> records = tiny_records();
  records[3].steps.back().status = "not yet useful";
  const SystemSummary system = summarize(tiny_options(), records, {{"kink", 1.5}}).systems[0];
  EXPECT_EQ(system.held_rmse, 1.5);
  ASSERT_EQ(system.uses.size(), 2U);
  EXPECT_EQ(system.uses[0].strategy, "totmi");
  EXPECT_EQ(system.uses[0].worse, 1);
  EXPECT_EQ(system.uses[0].unsaid, 1);
  EXPECT_EQ(system.uses[1].worse, 2);
  EXPECT_EQ(system.uses[1].unsaid, 1);
  EXPECT_TRUE(summarize(tiny_options(), records).systems[0].uses.empty());
}

TEST(ComparisonSummaryTest, ATrialThatFailedHasNoModelToHold) {
  std::vector<TrialRecord> records = tiny_records();
  records[0].steps.resize(1);
  record_failure(records[0], 2, "no");
  EXPECT_EQ(summarize(tiny_options(), records, {{"kink", 0.1}}).systems[0].uses[0].worse, 2);
}

}  // namespace
}  // namespace gpilot::trials
