#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"

/// Options described once: key, meaning, unit, default, bounds. layout.hpp describes the structs of options to an
/// archive; archives read them from a file (study/config_archives.hpp), from the command line
/// (apps/cli/cli_archive.hpp) or list them (list_archive.hpp). docs/decisions/options.md says why.
namespace gpilot::options {

/// What a number may be; all are finite and at most 1e12 in size.
enum class NumberRule { kAny, kPositive, kNotNegative, kProbability, kSeconds };

/// As Field::option: a field that the command line takes in another form, or not at all.
inline constexpr const char* kNoOption = "-";

struct Field {
  enum class Kind {
    kSetting,   ///< results depend on it
    kRequired,  ///< so, and there is no default
    kAside,     ///< results do not depend on it
  };

  const char* key;
  const char* meaning = "";  ///< one line
  const char* hint = "";     ///< a value to suggest where none is given, as TOML
  Kind kind = Kind::kSetting;
  const char* unit = "";       ///< "s", "ms"; "" = none, or the meaning says it
  const char* option = "";     ///< on the command line, without dashes; "" = the key; or kNoOption
  const char* otherwise = "";  ///< what holds where it is not given, if that is no value
  const char* more = "";       ///< what else the documentation says, as Markdown
};

inline constexpr std::int64_t kMostSteps = 1000000;
inline constexpr std::int64_t kMostThreads = 256;
inline constexpr std::int64_t kMostNodePoints = 1000;
inline constexpr std::int64_t kLargestSeed = 0x7fffffffffffffff;  ///< TOML has no larger numbers

/// "--plan-hold"; "" if the command line does not have it.
std::string option_name(const Field& field);

/// What is expected, in words: "a number between 0 and 1e12", "a whole number from 1 to 200".
std::string_view expectation(NumberRule rule);
std::string expectation(std::int64_t lowest, std::int64_t highest);
/// The same for tables and help texts: "number > 0", "1 to 200".
std::string bounds(NumberRule rule);
std::string bounds(std::int64_t lowest, std::int64_t highest);

/// What is wrong with a value, as "expected .., not ..", or "".
std::string complaint(double value, NumberRule rule);
std::string complaint(std::int64_t value, std::int64_t lowest, std::int64_t highest);
std::string complaint(std::string_view text, std::size_t longest);
std::string complaint(std::string_view kind, std::string_view word, const std::vector<std::string>& known);

/// The names of all kinds, as users write them.
template <class Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  names.reserve(kinds.size());
  for (const auto kind : kinds) {
    names.emplace_back(name(kind));
  }
  return names;
}

}  // namespace gpilot::options
