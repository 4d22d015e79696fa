#include "gpilot/io/numbers_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "gpilot/core/error.hpp"

namespace gpilot::io {

std::string format_numbers(VectorRef values) {
  return nlohmann::json(std::vector<double>(values.begin(), values.end())).dump();
}

Vector parse_numbers(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) {
    throw InputError(fmt::format("'{}' is no list of numbers", text.substr(0, 40)));
  }
  Vector values(static_cast<Index>(json.size()));
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!json[i].is_number() && !json[i].is_null()) {
      throw InputError(fmt::format("'{}' is no list of numbers", text.substr(0, 40)));
    }
    values(static_cast<Index>(i)) = json[i].is_null() ? kNaN : json[i].get<double>();
  }
  return values;
}

}  // namespace gpilot::io
