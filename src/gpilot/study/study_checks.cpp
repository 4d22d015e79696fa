#include "gpilot/study/study_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/error.hpp"

namespace gpilot::study {

void check_values(std::string_view what, VectorRef values, const std::vector<std::string>& names,
                  bool missing_allowed) {
  if (values.size() != static_cast<Index>(names.size())) {
    throw InputError(
        fmt::format("{}: {} value(s), expected {}: {}", what, values.size(), names.size(), fmt::join(names, ", ")));
  }
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isinf(values(i)) || (std::isnan(values(i)) && !missing_allowed)) {
      throw InputError(fmt::format("{}: {} of '{}' is not a number that can be {}", what, values(i),
                                   names[static_cast<std::size_t>(i)], missing_allowed ? "measured" : "applied"));
    }
  }
}

bool same(const Vector& a, const Vector& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

StepRecord& asked_step(std::vector<StepRecord>& steps, Index id, const std::string& path) {
  if (id < 1 || id > static_cast<Index>(steps.size())) {
    throw InputError(steps.empty()
                         ? fmt::format("{}: step {} was never asked: no step was", path, id)
                         : fmt::format("{}: step {} was never asked: the newest is {}", path, id, steps.back().id));
  }
  return steps[static_cast<std::size_t>(id - 1)];
}

}  // namespace gpilot::study
