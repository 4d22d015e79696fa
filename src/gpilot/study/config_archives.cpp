#include "config_archives.hpp"

#include <algorithm>
#include <limits>

#include "gpilot/suggest.hpp"
#include "printable.hpp"

namespace gpilot::study {

namespace {

constexpr const char* kEmptyName = "expected a name, not an empty text";
constexpr double kLargest = 1e12;
constexpr double kSmallest = 1e-12;  ///< of what must be positive
constexpr double kLongestWait = 86400.0;

std::string_view expectation(NumberRule rule) {
  switch (rule) {
    case NumberRule::kAny:
      return "a number between -1e12 and 1e12";
    case NumberRule::kPositive:
      return "a number between 1e-12 and 1e12";
    case NumberRule::kNotNegative:
      return "a number between 0 and 1e12";
    case NumberRule::kSeconds:
      return "a number of seconds, above 0 and at most 86400";
  }
  return "";
}

bool allowed(double value, NumberRule rule) {
  switch (rule) {
    case NumberRule::kAny:
      return std::abs(value) <= kLargest;
    case NumberRule::kPositive:
      return value >= kSmallest && value <= kLargest;
    case NumberRule::kNotNegative:
      return value >= 0.0 && value <= kLargest;
    case NumberRule::kSeconds:
      return value > 0.0 && value <= kLongestWait;
  }
  return false;
}

std::string count_expectation(std::int64_t lowest, std::int64_t highest) {
  return fmt::format("a whole number from {} to {}", lowest, highest);
}

}  // namespace

std::string complaint(double value, NumberRule rule) {
  return allowed(value, rule) ? "" : fmt::format("expected {}, not {}", expectation(rule), value);
}

std::string complaint(std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  const bool fine = value >= lowest && value <= highest;
  return fine ? "" : fmt::format("expected {}, not {}", count_expectation(lowest, highest), value);
}

std::string complaint(std::string_view text, std::size_t longest) {
  if (text.size() > longest) {
    return fmt::format("{} bytes, expected at most {}", text.size(), longest);
  }
  const bool fine = std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return fine ? "" : fmt::format("expected a text of one line without control characters, not \"{}\"", printable(text));
}

std::string complaint(std::string_view kind, std::string_view word, const std::vector<std::string>& known) {
  const bool fine = std::ranges::find(known, word) != known.end();
  return fine ? "" : unknown_name_message(kind, printable(word), known);
}

void TomlArchive::fail(const Field& field, const std::string& reason) const {
  KeyPath at = path_;
  at.key = field.key;
  throw ConfigError(at, reason);
}

/// The value, or null where it may be left out.
const TomlValue* TomlArchive::find(const Field& field, std::string_view expected) const {
  const TomlValue* value = table_ == nullptr ? nullptr : table_->find(field.key);
  if (value == nullptr && field.kind == Field::Kind::kRequired) {
    fail(field, fmt::format("missing; expected {}{}{}", expected, field.meaning[0] != '\0' ? ": " : "", field.meaning));
  }
  return value;
}

void TomlArchive::text(const Field& field, std::string& value, std::size_t longest) const {
  const TomlValue* found = find(field, "a text in quotes");
  if (found == nullptr) {
    return;
  }
  if (found->type != TomlValue::Type::kText) {
    fail(field, fmt::format("expected a text in quotes, not {}", describe(*found)));
  }
  value = found->text;
  if (value.empty() && field.kind == Field::Kind::kRequired) {
    fail(field, kEmptyName);
  }
  if (const std::string reason = complaint(value, longest); !reason.empty()) {
    fail(field, reason);
  }
}

void TomlArchive::word(const Field& field, std::string& value, const std::vector<std::string>& known) const {
  text(field, value, std::numeric_limits<std::size_t>::max());
  if (const std::string reason = complaint(field.key, value, known); !reason.empty()) {
    fail(field, reason);
  }
}

std::int64_t TomlArchive::read_count(const Field& field, std::int64_t value, std::int64_t lowest,
                                     std::int64_t highest) const {
  const TomlValue* found = find(field, count_expectation(lowest, highest));
  if (found == nullptr) {
    return value;
  }
  if (found->type != TomlValue::Type::kInteger) {
    fail(field, fmt::format("expected {}, not {}", count_expectation(lowest, highest), describe(*found)));
  }
  if (const std::string reason = complaint(found->integer, lowest, highest); !reason.empty()) {
    fail(field, reason);
  }
  return found->integer;
}

void TomlArchive::seed(const Field& field, std::uint64_t& value) const {
  // TOML has no larger numbers.
  constexpr std::int64_t kLargestSeed = std::numeric_limits<std::int64_t>::max();
  value = static_cast<std::uint64_t>(read_count(field, static_cast<std::int64_t>(value), 0, kLargestSeed));
}

void TomlArchive::number(const Field& field, double& value, NumberRule rule) const {
  const TomlValue* found = find(field, expectation(rule));
  if (found == nullptr) {
    return;
  }
  if (found->type != TomlValue::Type::kInteger && found->type != TomlValue::Type::kNumber) {
    fail(field, fmt::format("expected {}, not {}", expectation(rule), describe(*found)));
  }
  value = found->type == TomlValue::Type::kInteger ? static_cast<double>(found->integer) : found->number;
  if (const std::string reason = complaint(value, rule); !reason.empty()) {
    fail(field, reason);
  }
}

void TomlArchive::flag(const Field& field, bool& value) const {
  const TomlValue* found = find(field, "true or false");
  if (found == nullptr) {
    return;
  }
  if (found->type != TomlValue::Type::kFlag) {
    fail(field, fmt::format("expected true or false, not {}", describe(*found)));
  }
  value = found->flag;
}

void CheckArchive::require(const Field& field, const std::string& complaint) const {
  if (!complaint.empty()) {
    KeyPath at = path_;
    at.key = field.key;
    throw ConfigError(at, complaint);
  }
}

void CheckArchive::text(const Field& field, const std::string& value, std::size_t longest) const {
  if (value.empty() && field.kind == Field::Kind::kRequired) {
    require(field, kEmptyName);
  }
  require(field, complaint(value, longest));
}

std::vector<std::string> ListArchive::keys() const {
  std::vector<std::string> names;
  for (const ListedField& listed : fields_) {
    names.emplace_back(listed.field.key);
  }
  return names;
}

std::string ListedField::toml() const {
  if (!is_text) {
    return value;
  }
  std::string result;
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') {
      result += '\\';
    }
    result += letter;
  }
  return fmt::format("\"{}\"", result);
}

}  // namespace gpilot::study
