#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"

namespace gpilot::plan {

/// Where outputs must stay: a plan may leave these intervals, under the model, with probability delta at most.
struct OutputLimits {
  Vector low, high;     ///< [E] scaled units in a DecisionContext, the user's elsewhere; +-infinity = no limit
  double delta = 0.05;  ///< over the next rows of a plan (docs/planning.md)

  /// Whether any output has a limit.
  bool any() const;
  /// Whether outputs [E] lie outside; a missing one (NaN) does not.
  bool violated_by(VectorRef outputs) const;
  /// Throws InputError naming the output or "delta" unless there is one interval, low < high, for each output.
  void validate(const std::vector<std::string>& outputs) const;
};

/// The limits of one output, by its name.
struct NamedLimit {
  std::string output;
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Limits for outputs of these names. "th" stands for the output "y_th", too. Throws InputError for a name that no
/// output has (with the nearest one), an output named twice, and what OutputLimits::validate() refuses.
OutputLimits make_limits(const std::vector<std::string>& outputs, std::span<const NamedLimit> limits, double delta);

/// The output that a name stands for, or -1.
Index limited_output(const std::vector<std::string>& outputs, const std::string& name);

}  // namespace gpilot::plan
