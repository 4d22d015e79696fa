#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"

namespace gpilot::test {

/// Compares a gradient with fourth-order central differences, entry by entry. The error is relative to the larger of
/// the entry and `floor` times the largest entry.
/// Returns a failure that names the worst entry.
testing::AssertionResult gradient_matches(const std::function<double(const Vector&)>& function, const Vector& at,
                                          const Vector& gradient, double tolerance = 1e-5, double step = 1e-4,
                                          double floor = 1e-3, const std::vector<std::string>& names = {});

}  // namespace gpilot::test
