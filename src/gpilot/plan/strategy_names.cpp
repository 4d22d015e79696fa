#include <fmt/format.h>

#include <algorithm>

#include "gpilot/plan/strategy.hpp"

// Apart from what the strategies do: whoever reads a configuration needs only their names.
namespace gpilot::plan {

const std::vector<StrategyInfo>& strategies() {
#define DRAW(name, function, summary) StrategyInfo{name, summary},
#define MAXIMISE(name, function, summary) StrategyInfo{name, summary, "nats"},
#define MAXIMISE_PAST MAXIMISE
#define PLAN(name, function, unit, summary) StrategyInfo{name, summary, unit, false, true},
#define PLAN_FOR_USE(name, function, unit, summary) StrategyInfo{name, summary, unit, true, true},
  static const std::vector<StrategyInfo> all{
#include "strategies.def"
  };
#undef DRAW
#undef MAXIMISE
#undef MAXIMISE_PAST
#undef PLAN
#undef PLAN_FOR_USE
  return all;
}

std::string no_reference_sd(std::string_view name) {
  std::vector<std::string> able;
  for (const StrategyInfo& info : strategies()) {
    if (info.reference_sd) {
      able.push_back(info.name);
    }
  }
  if (std::ranges::find(able, name) != able.end()) {
    return "";
  }
  return fmt::format(
      "the strategy '{}' does not look at how sure the model is where it will be used; expected one that does: {}",
      name, able.empty() ? "there is none in this version" : fmt::format("{}", fmt::join(able, ", ")));
}

std::string criterion_unit(std::string_view name) {
  const auto found = std::ranges::find(strategies(), name, &StrategyInfo::name);
  return found == strategies().end() ? "" : found->unit;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) {
    names.push_back(info.name);
  }
  return names;
}

}  // namespace gpilot::plan
