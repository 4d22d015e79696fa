#include "gpilot/options/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/suggest.hpp"
#include "gpilot/io/printable.hpp"

namespace gpilot::options {

namespace {

constexpr double kLargest = 1e12;
constexpr double kSmallest = 1e-12;  ///< of what must be positive
constexpr double kLongestWait = 86400.0;

bool allowed(double value, NumberRule rule) {
  switch (rule) {
    case NumberRule::kAny:
      return std::abs(value) <= kLargest;
    case NumberRule::kPositive:
      return value >= kSmallest && value <= kLargest;
    case NumberRule::kNotNegative:
      return value >= 0.0 && value <= kLargest;
    case NumberRule::kProbability:
      return value >= kSmallest && value < 1.0;
    case NumberRule::kSeconds:
      return value > 0.0 && value <= kLongestWait;
  }
  return false;
}

}  // namespace

std::string option_name(const Field& field) {
  std::string name = field.option[0] != '\0' ? field.option : field.key;
  if (name == kNoOption) {
    return "";
  }
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

std::string_view expectation(NumberRule rule) {
  switch (rule) {
    case NumberRule::kAny:
      return "a number between -1e12 and 1e12";
    case NumberRule::kPositive:
      return "a number between 1e-12 and 1e12";
    case NumberRule::kNotNegative:
      return "a number between 0 and 1e12";
    case NumberRule::kProbability:
      return "a probability between 0 and 1, neither of the two";
    case NumberRule::kSeconds:
      return "a number of seconds, above 0 and at most 86400";
  }
  return "";
}

std::string expectation(std::int64_t lowest, std::int64_t highest) {
  return fmt::format("a whole number from {} to {}", lowest, highest);
}

std::string bounds(NumberRule rule) {
  switch (rule) {
    case NumberRule::kAny:
      return "number";
    case NumberRule::kPositive:
    case NumberRule::kSeconds:
      return "number > 0";
    case NumberRule::kNotNegative:
      return "number >= 0";
    case NumberRule::kProbability:
      return "0 < number < 1";
  }
  return "";
}

std::string bounds(std::int64_t lowest, std::int64_t highest) {
  return highest == kLargestSeed ? fmt::format("{} to 2^63 - 1", lowest) : fmt::format("{} to {}", lowest, highest);
}

std::string complaint(double value, NumberRule rule) {
  return allowed(value, rule) ? "" : fmt::format("expected {}, not {}", expectation(rule), value);
}

std::string complaint(std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  const bool fine = value >= lowest && value <= highest;
  return fine ? "" : fmt::format("expected {}, not {}", expectation(lowest, highest), value);
}

std::string complaint(std::string_view text, std::size_t longest) {
  if (text.size() > longest) {
    return fmt::format("{} bytes, expected at most {}", text.size(), longest);
  }
  const bool fine = std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return fine ? ""
              : fmt::format("expected a text of one line without control characters, not \"{}\"", io::printable(text));
}

std::string complaint(std::string_view kind, std::string_view word, const std::vector<std::string>& known) {
  const bool fine = std::ranges::find(known, word) != known.end();
  return fine ? "" : unknown_name_message(kind, io::printable(word), known);
}

}  // namespace gpilot::options
