#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/acquisition/criterion.hpp"
#include "gpilot/types.hpp"

namespace gpilot::acquisition {

/// What a strategy decided. Scaled units.
struct Choice {
  Vector control;                                           ///< [P]
  double value = std::numeric_limits<double>::quiet_NaN();  ///< of its criterion; NaN if it has none
  int evaluations = 0;                                      ///< of the criterion
  Matrix plan;       ///< [H x P] this control and those planned after it, or empty
  Matrix landscape;  ///< [points x P + 1] control, value: the grid of one control
};

/// A way to choose the next control.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Depends on the situation alone; the control lies in its box.
  virtual Choice choose(const Situation& situation) const = 0;
  /// What choose() maximises, or null for a strategy that draws its control.
  virtual std::unique_ptr<Criterion> criterion(const Situation& situation) const = 0;
};

struct StrategyInfo {
  std::string name;
  std::string summary;  ///< one line
};

/// All strategies, in the order of tables and help texts.
const std::vector<StrategyInfo>& strategies();
/// Their names, in the same order.
std::vector<std::string> strategy_names();
/// Throws InputError for an unknown name, with the nearest known one in its message.
std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace gpilot::acquisition
