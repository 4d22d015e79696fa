#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config_layout.hpp"
#include "toml_reader.hpp"

/// The archives of config_layout.hpp. Each knows text, word, choice, seed, count, number and flag, optional numbers,
/// which may be not given, and options: flags that are false unless given.
namespace gpilot::study {

/// Whether a number was given at all.
inline bool given(double value) {
  return std::isfinite(value);
}

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

/// Reads a section of a TOML file; keys that it does not have keep their value. Throws ConfigError.
class TomlArchive {
 public:
  /// `table` may be null (the section is not there) and must outlive the archive.
  TomlArchive(const TomlValue* table, KeyPath path) : table_(table), path_(std::move(path)) {}

  void text(const Field& field, std::string& value, std::size_t longest) const;
  void word(const Field& field, std::string& value, const std::vector<std::string>& known) const;
  void seed(const Field& field, std::uint64_t& value) const;
  void number(const Field& field, double& value, NumberRule rule) const;
  void optional(const Field& field, double& value, NumberRule rule) const { number(field, value, rule); }
  void flag(const Field& field, bool& value) const;
  void option(const Field& field, bool& value) const { flag(field, value); }

  template <class Kind, class Kinds>
  void choice(const Field& field, Kind& value, const Kinds& kinds) const {
    std::string text{name(value)};
    word(field, text, names_of(kinds));
    for (const Kind kind : kinds) {
      value = text == name(kind) ? kind : value;
    }
  }

  template <class Integer>
  void count(const Field& field, Integer& value, std::int64_t lowest, std::int64_t highest) const {
    value = static_cast<Integer>(read_count(field, static_cast<std::int64_t>(value), lowest, highest));
  }

 private:
  const TomlValue* find(const Field& field, std::string_view expected) const;
  std::int64_t read_count(const Field& field, std::int64_t value, std::int64_t lowest, std::int64_t highest) const;
  [[noreturn]] void fail(const Field& field, const std::string& reason) const;

  const TomlValue* table_;
  KeyPath path_;
};

/// Checks the values of a section. Throws ConfigError.
class CheckArchive {
 public:
  explicit CheckArchive(KeyPath path) : path_(std::move(path)) {}

  void text(const Field& field, const std::string& value, std::size_t longest) const;
  void word(const Field& field, const std::string& value, const std::vector<std::string>& known) const {
    require(field, complaint(field.key, value, known));
  }
  void seed(const Field& /*field*/, const std::uint64_t& /*value*/) const {}
  void number(const Field& field, const double& value, NumberRule rule) const {
    require(field, complaint(value, rule));
  }
  void optional(const Field& field, const double& value, NumberRule rule) const {
    require(field, given(value) ? complaint(value, rule) : "");
  }
  void flag(const Field& /*field*/, const bool& /*value*/) const {}
  void option(const Field& /*field*/, const bool& /*value*/) const {}
  template <class Kind, class Kinds>
  void choice(const Field& /*field*/, const Kind& /*value*/, const Kinds& /*kinds*/) const {}
  template <class Integer>
  void count(const Field& field, const Integer& value, std::int64_t lowest, std::int64_t highest) const {
    require(field, complaint(static_cast<std::int64_t>(value), lowest, highest));
  }

 private:
  void require(const Field& field, const std::string& complaint) const;
  KeyPath path_;
};

/// A key and its value; "" = not given.
struct ListedField {
  Field field;
  std::string value;
  bool is_text = false;

  std::string toml() const;  ///< a text in quotes
};

/// Lists the fields of a section.
class ListArchive {
 public:
  const std::vector<ListedField>& fields() const { return fields_; }
  std::vector<std::string> keys() const;

  void text(const Field& field, const std::string& value, std::size_t /*longest*/) { add(field, value, true); }
  void word(const Field& field, const std::string& value, const std::vector<std::string>& /*known*/) {
    add(field, value, true);
  }
  void seed(const Field& field, const std::uint64_t& value) { add(field, fmt::format("{}", value)); }
  void number(const Field& field, const double& value, NumberRule /*rule*/) { add(field, fmt::format("{}", value)); }
  void optional(const Field& field, const double& value, NumberRule /*rule*/) {
    add(field, given(value) ? fmt::format("{}", value) : "");
  }
  void flag(const Field& field, const bool& value) { add(field, value ? "true" : "false"); }
  void option(const Field& field, const bool& value) { add(field, value ? "true" : ""); }
  template <class Kind, class Kinds>
  void choice(const Field& field, const Kind& value, const Kinds& /*kinds*/) {
    add(field, std::string(name(value)), true);
  }
  template <class Integer>
  void count(const Field& field, const Integer& value, std::int64_t /*lowest*/, std::int64_t /*highest*/) {
    add(field, fmt::format("{}", value));
  }

 private:
  void add(const Field& field, std::string value, bool is_text = false) {
    fields_.push_back({field, std::move(value), is_text});
  }

  std::vector<ListedField> fields_;
};

}  // namespace gpilot::study
