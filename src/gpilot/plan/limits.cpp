#include "gpilot/plan/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"

namespace gpilot::plan {

bool OutputLimits::any() const {
  return low.array().isFinite().any() || high.array().isFinite().any();
}

bool OutputLimits::violated_by(VectorRef outputs) const {
  return (outputs.array() < low.array()).any() || (outputs.array() > high.array()).any();
}

void OutputLimits::validate(const std::vector<std::string>& outputs) const {
  const auto E = static_cast<Index>(outputs.size());
  if (low.size() != E || high.size() != E) {
    throw InputError(
        fmt::format("limits: {} lower and {} upper ones, expected {}, one an output", low.size(), high.size(), E));
  }
  for (Index e = 0; e < E; ++e) {
    if (!(low(e) < high(e))) {  // NaN, too
      throw InputError(fmt::format("limits of '{}': [{}, {}] is no interval, expected low < high",
                                   outputs[static_cast<std::size_t>(e)], low(e), high(e)));
    }
  }
  if (!(delta > 0.0 && delta < 1.0)) {
    throw InputError(fmt::format("delta: {}, expected a probability between 0 and 1", delta));
  }
}

Index limited_output(const std::vector<std::string>& outputs, const std::string& name) {
  for (const std::string& meant : {name, "y_" + name}) {
    if (const auto found = std::ranges::find(outputs, meant); found != outputs.end()) {
      return found - outputs.begin();
    }
  }
  return -1;
}

OutputLimits make_limits(const std::vector<std::string>& outputs, std::span<const NamedLimit> limits, double delta) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto E = static_cast<Index>(outputs.size());
  OutputLimits result{.low = Vector::Constant(E, -kNone), .high = Vector::Constant(E, kNone), .delta = delta};
  std::vector<bool> seen(outputs.size(), false);
  for (const NamedLimit& limit : limits) {
    const Index e = limited_output(outputs, limit.output);
    if (e < 0) {
      throw InputError("limit: " + unknown_name_message("output", limit.output, outputs));
    }
    if (seen[static_cast<std::size_t>(e)]) {
      throw InputError(fmt::format("limit: '{}' has two", outputs[static_cast<std::size_t>(e)]));
    }
    seen[static_cast<std::size_t>(e)] = true;
    result.low(e) = limit.low;
    result.high(e) = limit.high;
  }
  result.validate(outputs);
  return result;
}

}  // namespace gpilot::plan
