#include "gpilot/trials/comparison_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "gpilot/ssm/report.hpp"
#include "gpilot/trials/comparison.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/trial.hpp"

namespace gpilot::trials {

namespace {

/// A metric along the steps of a trial.
using Curve = std::vector<double>;
using TrialValues = std::vector<double>;  ///< [trials]

/// The trials of one system.
class SystemTrials {
 public:
  SystemTrials(const ComparisonOptions& options, std::span<const TrialRecord> records)
      : options_(options), records_(records) {
    for (const TrialRecord& record : records) {
      if (record.metrics != metrics() || static_cast<Index>(record.steps.size()) != options.explore.steps + 1) {
        throw std::invalid_argument(fmt::format("summarize: trials of one system differ in their steps or metrics: {}",
                                                fmt::join(record.metrics, ", ")));
      }
    }
  }

  const std::vector<std::string>& metrics() const { return records_.front().metrics; }

  std::span<const TrialRecord> of_strategy(std::size_t strategy) const {
    const auto trials = static_cast<std::size_t>(options_.trials);
    return records_.subspan(strategy * trials, trials);
  }

  /// [trials]
  std::vector<Curve> curves(std::size_t strategy, std::size_t metric) const {
    std::vector<Curve> curves;
    for (const TrialRecord& record : of_strategy(strategy)) {
      Curve& curve = curves.emplace_back();
      for (const RecordedStep& step : record.steps) {
        const double value = step.values[metric];
        curve.push_back(std::isnan(value) ? std::numeric_limits<double>::infinity() : value);
      }
    }
    return curves;
  }

 private:
  const ComparisonOptions& options_;
  std::span<const TrialRecord> records_;
};

TrialValues at_step(const std::vector<Curve>& curves, Index step) {
  TrialValues values;
  for (const Curve& curve : curves) {
    values.push_back(curve[static_cast<std::size_t>(step)]);
  }
  return values;
}

TrialValues areas(const std::vector<Curve>& curves) {
  TrialValues values;
  for (const Curve& curve : curves) {
    double area = 0.0;
    for (std::size_t k = 1; k < curve.size(); ++k) {
      area += 0.5 * (curve[k - 1] + curve[k]);
    }
    values.push_back(area);
  }
  return values;
}

TrialStatistics statistics_of(const TrialValues& values) {
  return {.mean = mean(values), .stddev = sample_stddev(values), .median = median(values), .tests = {}};
}

PairedTest paired_test(const std::string& reference, const TrialValues& values, const TrialValues& reference_values) {
  const SignedRankTest test = signed_rank_test(values, reference_values);
  PairedTest result{.reference = reference, .p = test.p};
  TrialValues differences;
  for (std::size_t i = 0; i < values.size(); ++i) {
    result.lower += values[i] < reference_values[i] ? 1 : 0;
    result.higher += values[i] > reference_values[i] ? 1 : 0;
    differences.push_back(values[i] == reference_values[i] ? 0.0 : values[i] - reference_values[i]);
  }
  result.median_difference = median(differences);
  const double middle = median(values);
  const double reference_middle = median(reference_values);
  result.median_ratio = middle > 0.0 && reference_middle > 0.0 ? middle / reference_middle : kNaN;
  result.direction =
      (test.rank_sum_above > test.rank_sum_below ? 1 : 0) - (test.rank_sum_above < test.rank_sum_below ? 1 : 0);
  return result;
}

/// Tests every strategy but the reference against it: one family. Each of `statistics` [strategies] gains a test.
void add_tests(const std::vector<std::string>& strategies, std::string_view reference,
               const std::vector<TrialValues>& values, std::vector<TrialStatistics>& statistics) {
  const auto found = std::ranges::find(strategies, reference);
  if (found == strategies.end()) {
    return;
  }
  const auto reference_index = static_cast<std::size_t>(found - strategies.begin());
  std::vector<PairedTest*> family;
  for (std::size_t k = 0; k < strategies.size(); ++k) {
    if (k != reference_index) {
      statistics[k].tests.push_back(paired_test(*found, values[k], values[reference_index]));
      family.push_back(&statistics[k].tests.back());
    }
  }
  TrialValues p;
  for (const PairedTest* test : family) {
    p.push_back(test->p);
  }
  const std::vector<double> adjusted = holm_adjusted(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    family[i]->p_holm = adjusted[i];
  }
}

/// The statistics of every strategy's values [strategies][trials], tests included.
std::vector<TrialStatistics> compared(const std::vector<std::string>& strategies,
                                      const std::vector<TrialValues>& values) {
  std::vector<TrialStatistics> result;
  result.reserve(values.size());
  for (const TrialValues& of_strategy : values) {
    result.push_back(statistics_of(of_strategy));
  }
  for (const std::string_view reference : kReferences) {
    add_tests(strategies, reference, values, result);
  }
  return result;
}

/// Median over trials of the first step from which a curve stays at or below the goal. A first crossing would depend on
/// how noisy the curve is. What is not finite reaches no goal.
double steps_to_stay_at(double goal, const std::vector<Curve>& curves) {
  TrialValues steps;
  for (const Curve& curve : curves) {
    std::size_t first = curve.size();
    while (first > 0 && std::isfinite(curve[first - 1]) && curve[first - 1] <= goal) {
      --first;
    }
    steps.push_back(static_cast<double>(first));
  }
  return median(steps);
}

MetricSummary summarize_metric(const ComparisonOptions& options, const SystemTrials& trials, std::size_t metric) {
  const std::vector<std::string>& strategies = options.strategies;
  MetricSummary summary{.metric = trials.metrics()[metric], .strategies = {}};
  std::vector<std::vector<Curve>> curves;
  for (std::size_t k = 0; k < strategies.size(); ++k) {
    curves.push_back(trials.curves(k, metric));
    summary.strategies.push_back({.strategy = strategies[k], .steps = {}, .area = {}, .steps_to_random = {}});
  }
  const auto over_strategies = [&](const auto& value_of) {
    std::vector<TrialValues> values;
    values.reserve(curves.size());
    for (const std::vector<Curve>& of_strategy : curves) {
      values.push_back(value_of(of_strategy));
    }
    return compared(strategies, values);
  };
  for (const Index step : summary_steps(options.explore.steps)) {
    const auto statistics = over_strategies([&](const std::vector<Curve>& c) { return at_step(c, step); });
    for (std::size_t k = 0; k < strategies.size(); ++k) {
      summary.strategies[k].steps.push_back({.step = step, .value = statistics[k]});
    }
  }
  const auto area = over_strategies(areas);
  for (std::size_t k = 0; k < strategies.size(); ++k) {
    summary.strategies[k].area = area[k];
  }
  if (const auto random = std::ranges::find(strategies, kReferences[0]); random != strategies.end()) {
    const auto index = static_cast<std::size_t>(random - strategies.begin());
    const double goal = median(at_step(curves[index], options.explore.steps));
    for (std::size_t k = 0; k < strategies.size(); ++k) {
      summary.strategies[k].steps_to_random = steps_to_stay_at(goal, curves[k]);
    }
  }
  return summary;
}

StrategyEffort effort_of(const std::string& strategy, std::span<const TrialRecord> records) {
  StrategyEffort effort{.strategy = strategy, .statuses = {}, .chosen = {}};
  double steps = 0.0;
  for (const TrialRecord& record : records) {
    for (std::size_t k = 0; k < record.steps.size(); ++k) {
      const RecordedStep& step = record.steps[k];
      if (step.trained) {
        ++effort.statuses[step.status];
        ++effort.chosen[step.chosen];
      } else if (step.status.starts_with("training failed")) {
        ++effort.statuses["failed"];
      }
      if (k > 0 && !is_failed(step)) {
        steps += 1.0;
        effort.choose_seconds += step.choose_seconds;
        effort.train_seconds += step.train_seconds;
        effort.evaluate_seconds += step.evaluate_seconds;
      }
    }
  }
  effort.choose_seconds /= steps;
  effort.train_seconds /= steps;
  effort.evaluate_seconds /= steps;
  return effort;
}

/// `metric` is the index of the first of kLimitMetrics.
StrategyViolations violations_of(const std::string& strategy, std::span<const TrialRecord> records,
                                 std::size_t metric) {
  StrategyViolations result{.strategy = strategy, .steps = {}};
  std::vector<GroupCount> trials;
  std::vector<double> initial;
  std::vector<double> expected;
  std::vector<double> no_safe_plan;
  const auto keep = [](std::vector<double>& values, double value) {
    if (std::isfinite(value)) {
      values.push_back(value);
    }
  };
  for (const TrialRecord& record : records) {
    GroupCount& trial = trials.emplace_back();
    for (std::size_t k = 0; k < record.steps.size(); ++k) {
      const std::vector<double>& values = record.steps[k].values;
      if (k == 0) {
        keep(initial, values[metric]);
      } else if (std::isfinite(values[metric])) {
        ++trial.attempts;
        trial.successes += values[metric] > 0.0 ? 1 : 0;
        keep(expected, values[metric + 1]);
        keep(no_safe_plan, values[metric + 2]);
      }
    }
  }
  result.steps = share_of(trials);
  result.initial = mean(initial);
  result.expected = mean(expected);
  result.no_safe_plan = mean(no_safe_plan);
  return result;
}

/// A status that tells people not to trust the model.
bool warns(std::string_view status) {
  return status == name(ssm::FitStatus::kNotUseful) || status == name(ssm::FitStatus::kMotionAsNoise);
}

/// A trial that failed has no last model.
StrategyUse use_of(const std::string& strategy, std::span<const TrialRecord> records, double held_rmse) {
  StrategyUse use{.strategy = strategy};
  for (const TrialRecord& record : records) {
    const RecordedStep& last = record.steps.back();
    if (!is_failed(last) && last.values.front() > held_rmse) {
      ++use.worse;
      use.unsaid += warns(last.status) ? 0 : 1;
    }
  }
  return use;
}

/// Whether a smaller value is better, so that strategies are tested by it.
bool is_error(const std::string& metric) {
  return !metric.starts_with("coverage") && std::ranges::find(kLimitMetrics, metric) == std::end(kLimitMetrics);
}

}  // namespace

std::vector<Index> summary_steps(Index last_step) {
  std::vector<Index> steps;
  for (const Index step : {0, 5, 10, 20, 30}) {
    if (step < last_step) {
      steps.push_back(step);
    }
  }
  steps.push_back(last_step);
  return steps;
}

ComparisonSummary summarize(const ComparisonOptions& options, std::span<const TrialRecord> records,
                            const HeldErrors& held) {
  const std::size_t per_system = options.strategies.size() * static_cast<std::size_t>(options.trials);
  if (records.empty() || records.size() != options.systems.size() * per_system) {
    throw std::invalid_argument(
        fmt::format("summarize: {} trials, expected {}", records.size(), options.systems.size() * per_system));
  }
  ComparisonSummary summary{.trials = options.trials, .last_step = options.explore.steps, .systems = {}};
  for (std::size_t s = 0; s < options.systems.size(); ++s) {
    const SystemTrials trials(options, records.subspan(s * per_system, per_system));
    SystemSummary& system = summary.systems.emplace_back();
    system.system = options.systems[s];
    for (std::size_t metric = 0; metric < trials.metrics().size(); ++metric) {
      if (is_error(trials.metrics()[metric])) {
        system.metrics.push_back(summarize_metric(options, trials, metric));
      }
    }
    for (std::size_t k = 0; k < options.strategies.size(); ++k) {
      system.efforts.push_back(effort_of(options.strategies[k], trials.of_strategy(k)));
    }
    if (const auto found = held.find(system.system); found != held.end() && std::isfinite(found->second)) {
      system.held_rmse = found->second;
      for (std::size_t k = 0; k < options.strategies.size(); ++k) {
        system.uses.push_back(use_of(options.strategies[k], trials.of_strategy(k), found->second));
      }
    }
    const auto violation = std::ranges::find(trials.metrics(), kLimitMetrics[0]);
    for (std::size_t k = 0; violation != trials.metrics().end() && k < options.strategies.size(); ++k) {
      system.violations.push_back(violations_of(options.strategies[k], trials.of_strategy(k),
                                                static_cast<std::size_t>(violation - trials.metrics().begin())));
    }
  }
  return summary;
}

}  // namespace gpilot::trials
