#pragma once

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/systems/system.hpp"

namespace gpilot::systems {

enum class Range { kAny, kNonNegative, kPositive };

/// Gives a member of the aggregate `Parameters` a name that users can type.
template <class Parameters>
struct Field {
  std::string_view name;
  double Parameters::*member;
  std::string_view unit;
  std::string_view meaning;
  Range range = Range::kAny;
};

template <class Parameters>
std::vector<Parameter> list_parameters(std::span<const Field<Parameters>> fields, const Parameters& values) {
  std::vector<Parameter> list;
  for (const Field<Parameters>& field : fields) {
    list.push_back({field.name, field.unit, field.meaning, values.*field.member});
  }
  return list;
}

template <class Parameters>
bool assign_field(std::span<const Field<Parameters>> fields, Parameters& values, std::string_view name, double value) {
  for (const Field<Parameters>& field : fields) {
    if (field.name != name) {
      continue;
    }
    if (field.range == Range::kPositive && !(value > 0.0)) {
      throw InputError(fmt::format("parameter '{}' ({}) must be positive, not {}", name, field.meaning, value));
    }
    if (field.range == Range::kNonNegative && !(value >= 0.0)) {
      throw InputError(fmt::format("parameter '{}' ({}) must not be negative, not {}", name, field.meaning, value));
    }
    values.*field.member = value;
    return true;
  }
  return false;
}

}  // namespace gpilot::systems
