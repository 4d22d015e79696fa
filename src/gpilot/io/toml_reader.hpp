#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The only door to the TOML library.
namespace gpilot::io {

/// A value of a TOML file and where it stands.
struct TomlValue {
  enum class Type { kText, kInteger, kNumber, kFlag, kTime, kArray, kTable };

  Type type = Type::kTable;
  std::string key;       ///< of a table's member
  std::size_t line = 0;  ///< from 1; 0 = unknown
  std::string text;
  std::int64_t integer = 0;
  double number = 0.0;
  bool flag = false;
  std::vector<TomlValue> items;    ///< of an array
  std::vector<TomlValue> members;  ///< of a table, in the order of lines

  /// The member of a table, or null.
  const TomlValue* find(std::string_view name) const;
};

inline constexpr std::size_t kLargestToml = 1 << 20;  ///< bytes

/// Throws InputError "FILE:LINE:COLUMN: not valid TOML: .." for a syntax error, and for a text that is larger or nested
/// deeper than any configuration.
TomlValue parse_toml(std::string_view toml, const std::string& file);

/// What stands there, for messages: the text "abc", 3, an array. Never long, never with control characters.
std::string describe(const TomlValue& value);

}  // namespace gpilot::io
