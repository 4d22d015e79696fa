#include "comparison_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <vector>

namespace gpilot::cli {

namespace {

using trials::MetricSummary;
using trials::PairedTest;
using trials::StrategyEffort;
using trials::StrategySummary;
using trials::TrialStatistics;

constexpr int kCell = 16;
constexpr int kNarrow = 11;

/// Three significant digits, without an exponent where it can be helped.
std::string number(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "-" : fmt::format("{}", value);
  }
  if (size != 0.0 && (size < 1e-3 || size >= 1e5)) {
    return fmt::format("{:.1e}", value);
  }
  const int before_point = size < 1e-3 ? 0 : static_cast<int>(std::floor(std::log10(size)));
  return fmt::format("{:.{}f}", value, std::clamp(2 - before_point, 0, 5));
}

std::string probability(double p) {
  return p < 0.001 ? "<.001" : p >= 0.9995 ? "1" : fmt::format("{:.3f}", p).substr(1);
}

std::string mean_and_spread(const TrialStatistics& statistics) {
  return fmt::format("{} ({})", number(statistics.mean), number(statistics.stddev));
}

/// The adjusted p and what it would be evidence of; "" for the reference itself.
std::string verdict(const TrialStatistics& statistics, std::string_view reference) {
  const auto test = std::ranges::find(statistics.tests, reference, &PairedTest::reference);
  if (test == statistics.tests.end()) {
    return "";
  }
  const char* const words[] = {"better", "equal", "worse"};
  return fmt::format("{} {}", probability(test->p_holm), words[test->direction + 1]);
}

/// One block of the table: a line per strategy, a cell per step and one for the area under the curve.
class Block {
 public:
  Block(const MetricSummary& metric, int label) : metric_(metric), label_(label) {}

  void append(std::string& text, std::string_view title,
              const std::function<std::string(const TrialStatistics&)>& cell) const {
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "  {:<{}}", title, label_);
    for (const trials::StepStatistics& step : metric_.strategies.front().steps) {
      fmt::format_to(out, "{:>{}}", fmt::format("step {}", step.step), kCell);
    }
    fmt::format_to(out, "{:>{}}\n", "area", kCell);
    for (const StrategySummary& strategy : metric_.strategies) {
      append_line(text, strategy, cell);
    }
    text += '\n';
  }

 private:
  void append_line(std::string& text, const StrategySummary& strategy,
                   const std::function<std::string(const TrialStatistics&)>& cell) const {
    const std::string area = cell(strategy.area);
    if (area.empty()) {
      return;  // the reference of a block of tests
    }
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "  {:<{}}", strategy.strategy, label_);
    for (const trials::StepStatistics& step : strategy.steps) {
      fmt::format_to(out, "{:>{}}", cell(step.value), kCell);
    }
    fmt::format_to(out, "{:>{}}\n", area, kCell);
  }

  const MetricSummary& metric_;
  int label_;
};

std::string counts(const std::map<std::string, Index>& statuses) {
  std::vector<std::string> parts;
  for (const auto& [status, count] : statuses) {
    parts.push_back(fmt::format("{} {}", count, status));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void append_efforts(std::string& text, const trials::SystemSummary& system, Index last_step, int label) {
  const std::vector<StrategySummary>& strategies = system.metrics.front().strategies;
  const bool goal = strategies.front().steps_to_random.has_value();
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  {:<{}}{:>{}}{:>{}}{:>{}}{}  {}\n", "milliseconds per step", label, "choose", kNarrow, "train",
                 kNarrow, "evaluate", kNarrow, goal ? "   steps to random's end" : "", "trainings");
  for (std::size_t k = 0; k < strategies.size(); ++k) {
    const StrategyEffort& effort = system.efforts[k];
    fmt::format_to(out, "  {:<{}}{:>{}}{:>{}}{:>{}}", effort.strategy, label, number(1e3 * effort.choose_seconds),
                   kNarrow, number(1e3 * effort.train_seconds), kNarrow, number(1e3 * effort.evaluate_seconds),
                   kNarrow);
    if (goal) {
      const double steps = *strategies[k].steps_to_random;
      fmt::format_to(out, "{:>24}",
                     steps > static_cast<double>(last_step) ? fmt::format(">{}", last_step) : fmt::format("{}", steps));
    }
    fmt::format_to(out, "  {}\n", counts(effort.statuses));
  }
}

/// "holding the last value has the rmse 1.21; worse after the last step: random 3 of 50 (1 without a warning)".
std::string use_line(const trials::SystemSummary& system, Index trials) {
  std::vector<std::string> worse;
  for (const trials::StrategyUse& use : system.uses) {
    if (use.worse > 0) {
      worse.push_back(fmt::format("{} {} of {} ({} without a warning)", use.strategy, use.worse, trials, use.unsaid));
    }
  }
  return fmt::format("\n  holding the last value has the rmse {}; worse after the last step: {}\n",
                     number(*system.held_rmse), worse.empty() ? "no model" : fmt::format("{}", fmt::join(worse, ", ")));
}

std::string percent(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.1f} %", 100.0 * share);
}

void append_violations(std::string& text, const trials::SystemSummary& system, int label) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "\n  {:<{}}{:>{}}{:>{}}{:>{}}{:>{}}{:>{}}\n", "outside the limits", label, "steps", kNarrow,
                 "95 % interval", kCell + 4, "by the model", kCell, "no safe plan", kCell, "initial", kNarrow);
  for (const trials::StrategyViolations& v : system.violations) {
    fmt::format_to(out, "  {:<{}}{:>{}}{:>{}}{:>{}}{:>{}}{:>{}}\n", v.strategy, label, percent(v.steps.value), kNarrow,
                   fmt::format("{} to {}", percent(v.steps.low), percent(v.steps.high)), kCell + 4, percent(v.expected),
                   kCell, percent(v.no_safe_plan), kCell, percent(v.initial), kNarrow);
  }
}

}  // namespace

std::string format_tables(const trials::SystemSummary& system, Index trials, Index last_step) {
  const MetricSummary& rmse = system.metrics.front();
  std::size_t label = std::string_view("milliseconds per step").size();
  for (const StrategySummary& strategy : rmse.strategies) {
    label = std::max(label, strategy.strategy.size());
  }
  const Block block(rmse, static_cast<int>(label));
  std::string text = fmt::format("{}: {} over {} trials\n\n", system.system, rmse.metric, trials);
  block.append(text, "mean (sd)", mean_and_spread);
  block.append(text, "median", [](const TrialStatistics& s) { return number(s.median); });
  for (const std::string_view reference : trials::kReferences) {
    const bool tested = std::ranges::any_of(
        rmse.strategies, [&](const StrategySummary& s) { return !verdict(s.area, reference).empty(); });
    if (tested) {
      block.append(text, fmt::format("p against {}", reference),
                   [&](const TrialStatistics& s) { return verdict(s, reference); });
    }
  }
  append_efforts(text, system, last_step, static_cast<int>(label));
  if (system.held_rmse) {
    text += use_line(system, trials);
  }
  if (!system.violations.empty()) {
    append_violations(text, system, static_cast<int>(label));
  }
  return text;
}

}  // namespace gpilot::cli
