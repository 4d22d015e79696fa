#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/options/field.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::cli {

using options::Field;
using options::NumberRule;

/// Adds an option to a command for every field that is described to it (options/layout.hpp): name, meaning, default and
/// bounds in the help, the value read into the field and checked by the rules that files have. What is wrong is an
/// InputError "--steps: expected a whole number from 1 to 1000000, not 0". A name that is described twice is one option
/// that sets both fields.
class CliArchive {
 public:
  /// The command must outlive the archive, and the described fields the parsing.
  explicit CliArchive(CLI::App& command) : command_(command) {}

  /// Describes options to be listed under `group` ("" = with the others), those with one of the keys left out. Returns
  /// the names of the others.
  template <class Describe>
  std::vector<std::string> add(const std::string& group, std::initializer_list<std::string_view> left_out,
                               Describe describe) {
    group_ = group;
    left_out_ = left_out;
    names_.clear();
    describe(*this);
    return names_;
  }

  void word(const Field& field, std::string& value, const std::vector<std::string>& known);
  void seed(const Field& field, std::uint64_t& value);
  void number(const Field& field, double& value, NumberRule rule);
  void optional(const Field& field, double& value, NumberRule rule);
  void flag(const Field& field, bool& value);
  void region(const Field& field, std::vector<ssm::Range>& value);
  void optional_count(const Field& field, std::optional<Index>& value, std::int64_t lowest, std::int64_t highest);

  template <class Integer>
  void count(const Field& field, Integer& value, std::int64_t lowest, std::int64_t highest) {
    add_count(field, static_cast<std::int64_t>(value), lowest, highest,
              [&value](std::int64_t number) { value = static_cast<Integer>(number); });
  }

  template <class Kind, class Kinds>
  void choice(const Field& field, Kind& value, const Kinds& kinds) {
    add_choice(field, std::string(name(value)), options::names_of(kinds), [&value, kinds](const std::string& word) {
      for (const Kind kind : kinds) {
        value = word == name(kind) ? kind : value;
      }
    });
  }

 private:
  using Read = std::function<void(const std::string& text)>;

  struct Help {
    std::string type;
    std::string text;
    std::string value;  ///< the default; "" = none
  };

  void add_option(const Field& field, const Help& help, Read read);
  void add_count(const Field& field, std::int64_t value, std::int64_t lowest, std::int64_t highest,
                 const std::function<void(std::int64_t)>& set);
  void add_number(const Field& field, double& value, NumberRule rule, const std::string& otherwise);
  void add_choice(const Field& field, const std::string& value, const std::vector<std::string>& known,
                  const std::function<void(const std::string&)>& set);
  bool is_left_out(const Field& field) const;

  CLI::App& command_;
  std::string group_;
  std::vector<std::string_view> left_out_;
  std::vector<std::string> names_;
  std::map<std::string, std::shared_ptr<std::vector<Read>>> readers_;
};

/// Options that do something only beside others, or in one of a command's ways.
struct GoesWith {
  std::vector<std::string> options;
  bool holds;        ///< whether they do something here
  std::string with;  ///< what to say otherwise: "goes with --method adam, not with em"
};

/// Throws InputError for the first option that was given and would be ignored.
void refuse_ignored(const CLI::App& command, const std::vector<GoesWith>& rules);

/// Makes empty values of a command's options an error.
void refuse_empty_values(CLI::App& command);

}  // namespace gpilot::cli
