#pragma once

#include <string>
#include <string_view>

#include "gpilot/core/types.hpp"

namespace gpilot::plan {

/// Who decided about a control.
enum class Phase {
  kRandom,    ///< chance: before there is a model, or since none could be used
  kChosen,    ///< the strategy
  kSafe,      ///< the safe control, since no decision was ready in time
  kImported,  ///< somebody else: measured before
};

/// "random", "chosen", "safe", "imported".
std::string_view name(Phase phase);
/// Throws InputError for any other name.
Phase phase_from_name(std::string_view text);

/// A control that was decided on, and what was known about it then. Scaled units as a strategy gives it, the user's
/// everywhere else.
struct Choice {
  Vector control = {};  ///< [P]
  Phase phase = Phase::kRandom;
  Index step = 0;           ///< its number, which names its random streams
  double criterion = kNaN;  ///< at the control; NaN if there is none
  int evaluations = 0;      ///< of the criterion; 0 for a step of an earlier plan
  Matrix plan = {};         ///< [H x P] this control and those after it, or empty
  Matrix landscape = {};    ///< [points x P + 1] control, value: the grid of one control
  /// Probability, under the model, that the outputs leave their limits; NaN if there are none.
  double violation = kNaN;
  bool safe = true;  ///< false if no control was found that keeps the limits: this one is the safest
  /// Root of the mean variance of the model where it will be used; NaN if the strategy looks at no such place.
  double reference_sd = kNaN;
  std::string note = {};  ///< what else is to be known, e.g. why a control was drawn; usually ""
  bool fallback = false;  ///< drawn, since training or choosing failed; the note says why
};

}  // namespace gpilot::plan
