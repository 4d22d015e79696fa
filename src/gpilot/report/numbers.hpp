#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"

/// Numbers as a report keeps them: for pictures and tables, not for further computing, so a few digits do. What is not
/// finite is null.
namespace gpilot::report {

using Json = nlohmann::ordered_json;

/// Digits of values that are drawn; a figure is a thousand points wide.
inline constexpr int kDigits = 5;

/// The nearest number with so many significant digits.
double rounded(double value, int digits = kDigits);
Json number(double value, int digits = kDigits);
Json list(VectorRef values, int digits = kDigits);
Json list(const std::vector<double>& values, int digits = kDigits);
/// A list for each column.
Json columns(MatrixRef values, int digits = kDigits);

/// Text that is valid UTF-8, whatever it was, and JSON that may stand inside a page: no character of it can end a
/// script, open a comment or break a line of one.
std::string embeddable(const Json& json);

}  // namespace gpilot::report
