#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/angles.hpp"
#include "gpilot/ssm/spec.hpp"

/// What a ModelSpec declares, looked up.
namespace gpilot::ssm {

/// Whether a vector of declared numbers has one at i.
inline bool given(const Vector& v, Index i) {
  return i < v.size() && !std::isnan(v(i));
}

/// The declared range of a column, or null.
inline const Range* range_of(const ModelSpec& spec, std::string_view name) {
  const auto found = std::ranges::find(spec.ranges, name, &Range::name);
  return found == spec.ranges.end() ? nullptr : &*found;
}

/// C [E x D], by default [I 0].
Matrix emission_of(const ModelSpec& spec);

/// The output that measures state i and nothing else, or -1.
Index observing_output(const Matrix& C, Index i);

/// The states declared angles, in order, with the scale of each.
kernels::Angles angles_of(const ModelSpec& spec, const Vector& state_scale);

}  // namespace gpilot::ssm
