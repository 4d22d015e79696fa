#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/trial_record.hpp"

/// What paired trials say about strategies. A smaller metric is better, and one that is not finite infinitely bad.
namespace gpilot::trials {

struct ComparisonOptions;

/// The strategies that others are tested against, where they take part.
inline constexpr std::string_view kReferences[] = {"random", "randext"};

/// A strategy against a reference, trial by trial.
struct PairedTest {
  std::string reference;
  Index lower = 0;                 ///< trials in which the strategy has the smaller value
  Index higher = 0;                ///< the larger
  double median_difference = 0.0;  ///< median over trials of strategy - reference
  double median_ratio = 1.0;       ///< of the medians, strategy / reference; NaN unless both are positive
  int direction = 0;               ///< of the signed ranks: -1 smaller (better), 1 larger (worse), 0 neither
  double p = 1.0;                  ///< Wilcoxon's signed-rank test, two-sided
  double p_holm = 1.0;             ///< adjusted for all strategies tested against this reference at this point
};

/// One number per trial, over all trials.
struct TrialStatistics {
  double mean = 0.0;
  double stddev = 0.0;  ///< of the sample; NaN for one trial
  double median = 0.0;  ///< free runs have heavy tails
  std::vector<PairedTest> tests;
};

struct StepStatistics {
  Index step = 0;
  TrialStatistics value;
};

struct StrategySummary {
  std::string strategy;
  std::vector<StepStatistics> steps;
  TrialStatistics area;  ///< under the curve: trapezoids over steps 0..last
  /// Median over trials of the first step from which the metric stays, to the end, at or below the median over trials
  /// of where `random` ends: one goal for all trials and strategies, random included. last + 1 stands for never.
  /// Nothing if random does not take part.
  std::optional<double> steps_to_random;
};

struct MetricSummary {
  std::string metric;
  std::vector<StrategySummary> strategies;
};

/// What a strategy costs.
struct StrategyEffort {
  std::string strategy;
  double choose_seconds = 0.0;  ///< mean per step, step 0 and those of failed trials apart
  double train_seconds = 0.0;
  double evaluate_seconds = 0.0;
  std::map<std::string, Index> statuses;  ///< how many trainings ended with which status, "failed" among them
  std::map<std::string, Index> chosen;    ///< which candidate how many trainings took
};

/// How a strategy kept the limits of outputs. Steps of failed trials that were not reached do not count.
struct StrategyViolations {
  std::string strategy;
  Share steps;                ///< of chosen steps whose true outputs lie outside
  double initial = 0.0;       ///< the same share of the measurements before them
  double expected = 0.0;      ///< mean over chosen steps of the probability under the model; NaN if it gave none
  double no_safe_plan = 0.0;  ///< share of chosen steps for which no plan kept the limits
};

/// Whether the last models of a strategy are worth having: holding the last measured value needs none.
struct StrategyUse {
  std::string strategy;
  Index worse = 0;   ///< models with a larger error than that
  Index unsaid = 0;  ///< of these, whose status does not warn of it
};

struct SystemSummary {
  std::string system;
  std::vector<MetricSummary> metrics;  ///< those that are errors, "rmse" first; a coverage has no better direction
  std::vector<StrategyEffort> efforts;
  std::vector<StrategyViolations> violations;  ///< empty without limits
  std::optional<double> held_rmse{};           ///< the "rmse" of holding the last value; not for maps
  std::vector<StrategyUse> uses{};             ///< empty without it
};

struct ComparisonSummary {
  Index trials = 0;
  Index last_step = 0;
  std::vector<SystemSummary> systems;
};

/// 0, 5, 10, 20 and 30, as far as there are so many steps, and the last.
std::vector<Index> summary_steps(Index last_step);

/// The "rmse" of holding the last value by the tests of systems, as far as it is known.
using HeldErrors = std::map<std::string, double>;

/// `records` are those of comparison_jobs(options), in its order. Throws std::invalid_argument for another number of
/// them, and for trials of one system that differ in their metrics.
ComparisonSummary summarize(const ComparisonOptions& options, std::span<const TrialRecord> records,
                            const HeldErrors& held = {});

/// As JSON. Everything that depends on the clock stands under the last key, "seconds_per_step".
std::string format_summary(const ComparisonSummary& summary);

}  // namespace gpilot::trials
