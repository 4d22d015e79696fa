#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/explore/region.hpp"
#include "gpilot/options/field.hpp"

namespace gpilot::options {

/// A field, its value ("" = not given), and what it may be.
struct ListedField {
  Field field;
  std::string value;
  bool is_text = false;
  std::string type = {};                ///< "text", "1 to 200"
  std::vector<std::string> known = {};  ///< the words that it may be; empty = any text

  std::string toml() const;  ///< a text in quotes
  /// The meaning, and what holds where it is not given.
  std::string comment() const;
};

/// Lists the fields of a struct of options.
class ListArchive {
 public:
  const std::vector<ListedField>& fields() const { return fields_; }
  std::vector<std::string> keys() const;

  void text(const Field& field, const std::string& value, std::size_t /*longest*/) {
    fields_.push_back({field, value, true, "text"});
  }
  void word(const Field& field, const std::string& value, const std::vector<std::string>& known) {
    fields_.push_back({field, value, true, "text", known});
  }
  void seed(const Field& field, const std::uint64_t& value) {
    fields_.push_back({field, fmt::format("{}", value), false, bounds(0, kLargestSeed)});
  }
  void number(const Field& field, const double& value, NumberRule rule) {
    fields_.push_back({field, std::isfinite(value) ? fmt::format("{}", value) : "", false, bounds(rule)});
  }
  void optional(const Field& field, const double& value, NumberRule rule) { number(field, value, rule); }
  void flag(const Field& field, const bool& value) {
    fields_.push_back({field, value ? "true" : "false", false, "flag"});
  }
  /// A flag that is false unless given.
  void option(const Field& field, const bool& value) { fields_.push_back({field, value ? "true" : "", false, "flag"}); }
  void texts(const Field& field, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", ListedField{field, value, true}.toml());
    }
    fields_.push_back({field, list.empty() ? "" : fmt::format("[{}]", list), false, "texts"});
  }
  void numbers(const Field& field, const std::vector<std::pair<std::string, double>>& values) {
    std::string list;
    for (const auto& [name, value] : values) {
      list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", ListedField{field, name, true}.toml(), value);
    }
    fields_.push_back({field, list.empty() ? "" : fmt::format("{{ {} }}", list), false, "numbers"});
  }
  void region(const Field& field, const std::vector<ssm::Range>& value) {
    fields_.push_back({field, explore::format_region(value), true, "text"});
  }
  template <class Kind, class Kinds>
  void choice(const Field& field, const Kind& value, const Kinds& kinds) {
    fields_.push_back({field, std::string(name(value)), true, "text", names_of(kinds)});
  }
  template <class Integer>
  void count(const Field& field, const Integer& value, std::int64_t lowest, std::int64_t highest) {
    fields_.push_back({field, fmt::format("{}", value), false, bounds(lowest, highest)});
  }
  void optional_count(const Field& field, const std::optional<Index>& value, std::int64_t lowest,
                      std::int64_t highest) {
    fields_.push_back({field, value ? fmt::format("{}", *value) : "", false, bounds(lowest, highest)});
  }

 private:
  std::vector<ListedField> fields_;
};

}  // namespace gpilot::options
