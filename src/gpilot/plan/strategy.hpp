#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/plan/choice.hpp"
#include "gpilot/plan/criterion.hpp"

namespace gpilot::plan {

/// A way to choose the next control.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Depends on the context alone; the control lies in its box.
  virtual Choice choose(const DecisionContext& context) const = 0;
  /// What choose() maximises, or null for a strategy that draws its control.
  virtual std::unique_ptr<Criterion> criterion(const DecisionContext& context) const = 0;
  /// What plans are worth to a strategy that plans, a column of controls each as RollOut::run() takes them [P H x N];
  /// NaN for one whose path makes no sense. Nothing for a strategy that does not plan.
  virtual Vector plan_values(const DecisionContext& /*context*/, MatrixRef /*plans*/) const { return {}; }
  /// Whether it looks at the rows of the current sequence, and so has nothing to say about the first of them.
  virtual bool needs_history() const { return false; }
};

struct StrategyInfo {
  std::string name;
  std::string summary;        ///< one line
  std::string unit{};         ///< of its criterion; "" if it has none
  bool reference_sd = false;  ///< its choices have one
  bool plans = false;         ///< a sequence of controls, also without limits
};

/// All strategies, in the order of tables and help texts.
const std::vector<StrategyInfo>& strategies();
/// Their names, in the same order.
std::vector<std::string> strategy_names();
/// What the criterion of a strategy is measured in; "" if it has none.
std::string criterion_unit(std::string_view name);
/// What to say to somebody who waits for a reference_sd of this strategy; "" if its choices have one.
std::string no_reference_sd(std::string_view name);
/// Throws InputError for an unknown name, with the nearest known one in its message.
std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace gpilot::plan
