#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/options/field.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::python {

namespace nb = nanobind;
using options::Field;
using options::NumberRule;

/// Reads options (options/layout.hpp) from a dict, by the rules that files and the command line have. What is wrong is
/// an InputError "training.polish: expected a whole number from 1 to 100000, not 0", for a wrong type a TypeError.
class DictArchive {
 public:
  /// `what` is what the user calls the dict. Keys that it does not have keep their value.
  DictArchive(nb::dict values, std::string what) : values_(std::move(values)), what_(std::move(what)) {}

  void word(const Field& field, std::string& value, const std::vector<std::string>& known);
  void seed(const Field& field, std::uint64_t& value);
  void number(const Field& field, double& value, NumberRule rule);
  void optional(const Field& field, double& value, NumberRule rule) { number(field, value, rule); }
  void flag(const Field& field, bool& value);
  void region(const Field& field, std::vector<ssm::Range>& value);
  void optional_count(const Field& field, std::optional<Index>& value, std::int64_t lowest, std::int64_t highest);

  template <class Kind, class Kinds>
  void choice(const Field& field, Kind& value, const Kinds& kinds) {
    std::string text{name(value)};
    word(field, text, options::names_of(kinds));
    for (const Kind kind : kinds) {
      value = text == name(kind) ? kind : value;
    }
  }
  template <class Integer>
  void count(const Field& field, Integer& value, std::int64_t lowest, std::int64_t highest) {
    value = static_cast<Integer>(read_count(field, static_cast<std::int64_t>(value), lowest, highest));
  }

  /// Refuses keys that nothing was described by.
  void finish() const;

 private:
  /// The value, or nothing if it was not given.
  std::optional<nb::object> find(const Field& field);
  std::int64_t read_count(const Field& field, std::int64_t value, std::int64_t lowest, std::int64_t highest);
  std::string path(std::string_view key) const;
  void require(const Field& field, const std::string& complaint) const;
  [[noreturn]] void wrong_type(const Field& field, std::string_view expected, nb::handle value) const;

  nb::dict values_;
  std::string what_;
  std::vector<std::string> known_;
};

/// Reads a dict into what `describe(archive)` describes, and refuses other keys.
template <class Describe>
void read_options(const nb::dict& values, const std::string& what, Describe describe) {
  DictArchive archive(values, what);
  describe(archive);
  archive.finish();
}

}  // namespace gpilot::python
