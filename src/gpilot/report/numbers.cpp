#include "gpilot/report/numbers.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace gpilot::report {

double rounded(double value, int digits) {
  if (!std::isfinite(value) || value == 0.0) {
    return value;
  }
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, digits - 1);
  double result = value;
  std::from_chars(text.data(), end.ptr, result);
  return result;
}

Json number(double value, int digits) {
  if (!std::isfinite(value)) {
    return {};
  }
  const double short_value = rounded(value, digits);
  // Whole numbers without ".0": a third of the length of a column of counts.
  constexpr double kLargestWhole = 1e9;
  if (std::abs(short_value) < kLargestWhole && short_value == std::floor(short_value)) {
    return static_cast<std::int64_t>(short_value);
  }
  return short_value;
}

Json list(VectorRef values, int digits) {
  Json result = Json::array();
  for (const double value : values) {
    result.push_back(number(value, digits));
  }
  return result;
}

Json list(const std::vector<double>& values, int digits) {
  return list(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())), digits);
}

Json columns(MatrixRef values, int digits) {
  Json result = Json::array();
  for (Index c = 0; c < values.cols(); ++c) {
    result.push_back(list(Vector(values.col(c)), digits));
  }
  return result;
}

std::string embeddable(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = std::string_view(text).substr(i);
    if (text[i] == '<') {  // no </script>, no <!--
      result += "\\u003c";
    } else if (text[i] == '>') {
      result += "\\u003e";
    } else if (text[i] == '&') {
      result += "\\u0026";
    } else if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {  // line ends to some readers
      result += text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace gpilot::report
