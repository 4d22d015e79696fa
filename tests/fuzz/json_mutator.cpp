/// A mutation for readers of JSON: mostly a change of one value of the tree, so that most inputs still are JSON and the
/// reader's own checks are reached; now and then libFuzzer's change of bytes.

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "fuzz.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

namespace {

using Json = nlohmann::ordered_json;
using Random = std::minstd_rand;

std::size_t below(Random& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

/// All values of the tree but its root.
void collect(Json& json, std::vector<Json*>& values) {
  for (Json& child : json) {
    values.push_back(&child);
    if (child.is_structured()) {
      collect(child, values);
    }
  }
}

Json some_value(Random& random, const std::vector<Json*>& values) {
  static const std::vector<Json> kValues{nullptr,
                                         true,
                                         false,
                                         0,
                                         1,
                                         2,
                                         -1,
                                         0.5,
                                         -0.0,
                                         1e-308,
                                         1e308,
                                         5e-324,
                                         1e300,
                                         2000,
                                         17,
                                         12,
                                         "",
                                         "se",
                                         "identity",
                                         "linear",
                                         "zero",
                                         "auto",
                                         "angle",
                                         "\x7f!",
                                         3,
                                         1e19,
                                         231.0,
                                         Json::array(),
                                         Json::object(),
                                         -9223372036854775807LL - 1,
                                         9223372036854775807LL,
                                         18446744073709551615ULL};
  return below(random, 3) == 0 && !values.empty() ? *values[below(random, values.size())]
                                                  : kValues[below(random, kValues.size())];
}

void change_array(Json& list, Random& random) {
  const std::size_t at = below(random, list.size());
  switch (below(random, 3)) {
    case 0:
      list.erase(at);
      break;
    case 1:
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), Json(list[at]));
      break;
    default:
      std::swap(list[at], list[below(random, list.size())]);
  }
}

void change(Json& value, Random& random, const std::vector<Json*>& values) {
  if (value.is_array() && !value.empty() && below(random, 2) == 0) {
    change_array(value, random);
  } else if (value.is_object() && !value.empty() && below(random, 2) == 0) {
    value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(below(random, value.size()))).key());
  } else if (value.is_number() && below(random, 2) == 0) {
    value = value.get<double>() * (below(random, 2) == 0 ? -1.0 : 1.5);
  } else {
    value = some_value(random, values);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned int seed) {
  Random random(seed);
  Json json = Json::parse(gpilot::fuzz::text_of(data, size), nullptr, false);
  if (json.is_discarded() || !json.is_structured() || json.empty() || below(random, 5) == 0) {
    return LLVMFuzzerMutate(data, size, largest);
  }
  std::vector<Json*> values;
  collect(json, values);
  change(*values[below(random, values.size())], random, values);
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > largest) {
    return LLVMFuzzerMutate(data, size, largest);
  }
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
