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
  /// Probability, under the model, that the outputs leave their limits; NaN if there are none.
  double violation = std::numeric_limits<double>::quiet_NaN();
  bool safe = true;  ///< false if no control was found that keeps the limits: this one is the safest
  /// Root of the mean variance of the model where it will be used; NaN if the strategy looks at no such place.
  double reference_sd = std::numeric_limits<double>::quiet_NaN();
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
  std::string summary;        ///< one line
  bool reference_sd = false;  ///< its choices have one
};

/// All strategies, in the order of tables and help texts.
const std::vector<StrategyInfo>& strategies();
/// Their names, in the same order.
std::vector<std::string> strategy_names();
/// What to say to somebody who waits for a reference_sd of this strategy; "" if its choices have one.
std::string no_reference_sd(std::string_view name);
/// Throws InputError for an unknown name, with the nearest known one in its message.
std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace gpilot::acquisition
