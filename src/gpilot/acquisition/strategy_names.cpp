#include "gpilot/acquisition/strategy.hpp"

// Apart from what the strategies do: whoever reads a configuration needs only their names.
namespace gpilot::acquisition {

const std::vector<StrategyInfo>& strategies() {
#define DRAW(name, function, summary) StrategyInfo{name, summary},
#define MAXIMISE(name, function, summary) StrategyInfo{name, summary},
#define PLAN(name, function, summary) StrategyInfo{name, summary},
  static const std::vector<StrategyInfo> all{
#include "strategies.def"
  };
#undef DRAW
#undef MAXIMISE
#undef PLAN
  return all;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyInfo& info : strategies()) {
    names.push_back(info.name);
  }
  return names;
}

}  // namespace gpilot::acquisition
