#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/explore/region.hpp"
#include "gpilot/io/toml_reader.hpp"
#include "gpilot/options/list_archive.hpp"
#include "gpilot/study/config_layout.hpp"

/// The archives of config_layout.hpp, beside options::ListArchive. What a file adds to those of options/layout.hpp are
/// options: flags that are false unless given.
namespace gpilot::study {

using options::complaint;
using options::ListArchive;
using options::ListedField;

/// Whether a number was given at all.
inline bool given(double value) {
  return std::isfinite(value);
}

/// Reads a section of a TOML file; keys that it does not have keep their value. Throws ConfigError.
class TomlArchive {
 public:
  /// `table` may be null (the section is not there) and must outlive the archive.
  TomlArchive(const io::TomlValue* table, KeyPath path) : table_(table), path_(std::move(path)) {}

  void text(const Field& field, std::string& value, std::size_t longest) const;
  void word(const Field& field, std::string& value, const std::vector<std::string>& known) const;
  void seed(const Field& field, std::uint64_t& value) const;
  void number(const Field& field, double& value, NumberRule rule) const;
  void optional(const Field& field, double& value, NumberRule rule) const { number(field, value, rule); }
  void flag(const Field& field, bool& value) const;
  void option(const Field& field, bool& value) const { flag(field, value); }
  void region(const Field& field, std::vector<ssm::Range>& value) const;
  /// A list of names, none of them empty.
  void texts(const Field& field, std::vector<std::string>& values) const;
  /// A table of numbers with names.
  void numbers(const Field& field, std::vector<std::pair<std::string, double>>& values) const;

  template <class Kind, class Kinds>
  void choice(const Field& field, Kind& value, const Kinds& kinds) const {
    std::string text{name(value)};
    word(field, text, options::names_of(kinds));
    for (const Kind kind : kinds) {
      value = text == name(kind) ? kind : value;
    }
  }

  template <class Integer>
  void count(const Field& field, Integer& value, std::int64_t lowest, std::int64_t highest) const {
    value = static_cast<Integer>(read_count(field, static_cast<std::int64_t>(value), lowest, highest));
  }
  void optional_count(const Field& field, std::optional<Index>& value, std::int64_t lowest,
                      std::int64_t highest) const {
    if (table_ != nullptr && table_->find(field.key) != nullptr) {
      value = read_count(field, 0, lowest, highest);
    }
  }

 private:
  const io::TomlValue* find(const Field& field, std::string_view expected) const;
  std::int64_t read_count(const Field& field, std::int64_t value, std::int64_t lowest, std::int64_t highest) const;
  [[noreturn]] void fail(const Field& field, const std::string& reason) const;

  const io::TomlValue* table_;
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
  void region(const Field& /*field*/, const std::vector<ssm::Range>& /*value*/) const {}
  void texts(const Field& /*field*/, const std::vector<std::string>& /*values*/) const {}
  void numbers(const Field& /*field*/, const std::vector<std::pair<std::string, double>>& /*values*/) const {}
  template <class Kind, class Kinds>
  void choice(const Field& /*field*/, const Kind& /*value*/, const Kinds& /*kinds*/) const {}
  template <class Integer>
  void count(const Field& field, const Integer& value, std::int64_t lowest, std::int64_t highest) const {
    require(field, complaint(static_cast<std::int64_t>(value), lowest, highest));
  }
  void optional_count(const Field& field, const std::optional<Index>& value, std::int64_t lowest,
                      std::int64_t highest) const {
    require(field, value ? complaint(std::int64_t{*value}, lowest, highest) : "");
  }

 private:
  void require(const Field& field, const std::string& complaint) const;
  KeyPath path_;
};

}  // namespace gpilot::study
