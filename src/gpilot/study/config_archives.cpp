#include "gpilot/study/config_archives.hpp"

#include <fmt/format.h>

#include <limits>

#include "gpilot/io/printable.hpp"

namespace gpilot::study {

using options::expectation;

namespace {

constexpr const char* kEmptyName = "expected a name, not an empty text";
}  // namespace

void TomlArchive::fail(const Field& field, const std::string& reason) const {
  KeyPath at = path_;
  at.key = field.key;
  throw ConfigError(at, reason);
}

/// The value, or null where it may be left out.
const io::TomlValue* TomlArchive::find(const Field& field, std::string_view expected) const {
  const io::TomlValue* value = table_ == nullptr ? nullptr : table_->find(field.key);
  if (value == nullptr && field.kind == Field::Kind::kRequired) {
    fail(field, fmt::format("missing; expected {}{}{}", expected, field.meaning[0] != '\0' ? ": " : "", field.meaning));
  }
  return value;
}

void TomlArchive::text(const Field& field, std::string& value, std::size_t longest) const {
  const io::TomlValue* found = find(field, "a text in quotes");
  if (found == nullptr) {
    return;
  }
  if (found->type != io::TomlValue::Type::kText) {
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
  const io::TomlValue* found = find(field, expectation(lowest, highest));
  if (found == nullptr) {
    return value;
  }
  if (found->type != io::TomlValue::Type::kInteger) {
    fail(field, fmt::format("expected {}, not {}", expectation(lowest, highest), describe(*found)));
  }
  if (const std::string reason = complaint(found->integer, lowest, highest); !reason.empty()) {
    fail(field, reason);
  }
  return found->integer;
}

void TomlArchive::seed(const Field& field, std::uint64_t& value) const {
  const auto now = static_cast<std::int64_t>(value);
  value = static_cast<std::uint64_t>(read_count(field, now, 0, options::kLargestSeed));
}

void TomlArchive::number(const Field& field, double& value, NumberRule rule) const {
  const io::TomlValue* found = find(field, expectation(rule));
  if (found == nullptr) {
    return;
  }
  if (found->type != io::TomlValue::Type::kInteger && found->type != io::TomlValue::Type::kNumber) {
    fail(field, fmt::format("expected {}, not {}", expectation(rule), describe(*found)));
  }
  value = found->type == io::TomlValue::Type::kInteger ? static_cast<double>(found->integer) : found->number;
  if (const std::string reason = complaint(value, rule); !reason.empty()) {
    fail(field, reason);
  }
}

void TomlArchive::flag(const Field& field, bool& value) const {
  const io::TomlValue* found = find(field, "true or false");
  if (found == nullptr) {
    return;
  }
  if (found->type != io::TomlValue::Type::kFlag) {
    fail(field, fmt::format("expected true or false, not {}", describe(*found)));
  }
  value = found->flag;
}

void TomlArchive::region(const Field& field, std::vector<ssm::Range>& value) const {
  constexpr std::size_t kLongest = 1000;
  std::string written = explore::format_region(value);
  text(field, written, kLongest);
  try {
    value = explore::parse_region(written);
  } catch (const InputError& error) {
    fail(field, error.what());
  }
}

void TomlArchive::texts(const Field& field, std::vector<std::string>& values) const {
  constexpr const char* kExpected = "a list of names, such as [\"x\", \"u\"]";
  const io::TomlValue* found = find(field, kExpected);
  if (found == nullptr) {
    return;
  }
  if (found->type != io::TomlValue::Type::kArray || found->items.empty()) {
    fail(field, fmt::format("expected {}, not {}", kExpected,
                            found->type == io::TomlValue::Type::kArray ? "an empty one" : describe(*found)));
  }
  values.clear();
  for (const io::TomlValue& item : found->items) {
    if (item.type != io::TomlValue::Type::kText || item.text.empty()) {
      fail(field, fmt::format("expected {}, not {} in it", kExpected, describe(item)));
    }
    values.push_back(item.text);
  }
}

void TomlArchive::numbers(const Field& field, std::vector<std::pair<std::string, double>>& values) const {
  constexpr const char* kExpected = "numbers with names, such as { u = 0.5 }";
  const io::TomlValue* found = find(field, kExpected);
  if (found == nullptr) {
    return;
  }
  if (found->type != io::TomlValue::Type::kTable || found->members.empty()) {
    fail(field, fmt::format("expected {}, not {}", kExpected, describe(*found)));
  }
  values.clear();
  for (const io::TomlValue& member : found->members) {
    const bool whole = member.type == io::TomlValue::Type::kInteger;
    if (!whole && member.type != io::TomlValue::Type::kNumber) {
      fail(field, fmt::format("expected {}, not {} for '{}'", kExpected, describe(member), io::printable(member.key)));
    }
    values.emplace_back(member.key, whole ? static_cast<double>(member.integer) : member.number);
  }
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

}  // namespace gpilot::study
