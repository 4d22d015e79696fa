#include <nlohmann/json.hpp>

#include "gpilot/trials/comparison_summary.hpp"

namespace gpilot::trials {

namespace {

using Json = nlohmann::ordered_json;  // a number that is not finite becomes null

Json to_json(const PairedTest& test) {
  return {{"reference", test.reference},
          {"lower", test.lower},
          {"higher", test.higher},
          {"median_difference", test.median_difference},
          {"median_ratio", test.median_ratio},
          {"direction", test.direction},
          {"p", test.p},
          {"p_holm", test.p_holm}};
}

Json to_json(const TrialStatistics& statistics) {
  Json tests = Json::array();
  for (const PairedTest& test : statistics.tests) {
    tests.push_back(to_json(test));
  }
  return {{"mean", statistics.mean}, {"sd", statistics.stddev}, {"median", statistics.median}, {"tests", tests}};
}

Json to_json(const StrategySummary& summary) {
  Json steps = Json::array();
  for (const StepStatistics& step : summary.steps) {
    Json entry = {{"step", step.step}};
    entry.update(to_json(step.value));
    steps.push_back(std::move(entry));
  }
  Json json = {{"strategy", summary.strategy}, {"steps", steps}, {"area", to_json(summary.area)}};
  if (summary.steps_to_random) {
    json["steps_to_random"] = *summary.steps_to_random;
  }
  return json;
}

Json to_json(const SystemSummary& system) {
  Json metrics = Json::array();
  for (const MetricSummary& metric : system.metrics) {
    Json strategies = Json::array();
    for (const StrategySummary& strategy : metric.strategies) {
      strategies.push_back(to_json(strategy));
    }
    metrics.push_back({{"metric", metric.metric}, {"strategies", strategies}});
  }
  Json trainings = Json::array();
  for (const StrategyEffort& effort : system.efforts) {
    trainings.push_back({{"strategy", effort.strategy}, {"statuses", effort.statuses}, {"chosen", effort.chosen}});
  }
  Json json = {{"system", system.system}, {"metrics", metrics}, {"trainings", trainings}};
  for (const StrategyViolations& v : system.violations) {
    json["violations"].push_back({{"strategy", v.strategy},
                                  {"share", v.steps.value},
                                  {"low", v.steps.low},
                                  {"high", v.steps.high},
                                  {"initial", v.initial},
                                  {"expected", v.expected},
                                  {"no_safe_plan", v.no_safe_plan}});
  }
  if (system.held_rmse) {
    Json strategies = Json::array();
    for (const StrategyUse& use : system.uses) {
      strategies.push_back({{"strategy", use.strategy}, {"worse", use.worse}, {"unsaid", use.unsaid}});
    }
    json["holding"] = {{"rmse", *system.held_rmse}, {"strategies", strategies}};
  }
  return json;
}

}  // namespace

std::string format_summary(const ComparisonSummary& summary) {
  Json systems = Json::array();
  Json seconds = Json::array();
  for (const SystemSummary& system : summary.systems) {
    systems.push_back(to_json(system));
    for (const StrategyEffort& effort : system.efforts) {
      seconds.push_back({{"system", system.system},
                         {"strategy", effort.strategy},
                         {"choose", effort.choose_seconds},
                         {"train", effort.train_seconds},
                         {"evaluate", effort.evaluate_seconds}});
    }
  }
  const Json json = {{"format", "gpilot-comparison-summary"}, {"version", 1},       {"trials", summary.trials},
                     {"last_step", summary.last_step},        {"systems", systems}, {"seconds_per_step", seconds}};
  return json.dump(2) + '\n';
}

}  // namespace gpilot::trials
