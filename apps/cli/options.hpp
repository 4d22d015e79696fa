#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/acquisition/limits.hpp"
#include "gpilot/acquisition/planning.hpp"
#include "gpilot/box.hpp"
#include "gpilot/types.hpp"

/// Texts that users type after options. Every parser throws InputError that names the option and the text.
namespace gpilot::cli {

/// A finite number.
double parse_number(std::string_view option, std::string_view text);
/// Numbers separated by commas, at least one: "0.1,-2".
Vector parse_numbers(std::string_view option, std::string_view text);
/// A whole number that is at least `lowest`.
Index parse_count(std::string_view option, std::string_view text, Index lowest);
/// "NAME=VALUE".
std::pair<std::string, double> parse_assignment(std::string_view option, std::string_view text);
/// An interval for each control: "LOW:HIGH,LOW:HIGH".
Box parse_box(std::string_view option, std::string_view text);
/// "NAME=LOW:HIGH"; one of the two numbers may be left out.
acquisition::NamedLimit parse_limit(std::string_view option, std::string_view text);
/// True if the text has only characters of numbers separated by commas, so that it is meant as such.
bool looks_like_numbers(std::string_view text);

/// How a command prints its result.
enum class Format { kText, kJson };

/// Adds --format text|json.
void add_format(CLI::App& command, Format& format);
/// Adds --seed S, a whole number from 0 to 2^64 - 1.
void add_seed(CLI::App& command, std::uint64_t& seed);
/// Adds --observe-states, see systems::System::observe_states().
void add_observe_states(CLI::App& command, bool& observe_states);

/// What the user typed; an empty text was not given.
struct LimitArguments {
  std::vector<std::string> limits;
  std::string delta;

  std::vector<acquisition::NamedLimit> parsed() const;
  /// Throws InputError if it is given without any limit.
  double parsed_delta() const;
};
/// Adds --horizon and what else there is to planning.
struct PlanningArguments {
  std::string horizon, hold, commit, evaluations, milliseconds, draws;

  /// Throws InputError naming the option.
  acquisition::PlanningOptions parsed() const;
};
void add_planning(CLI::App& command, PlanningArguments& arguments);
/// Adds --limit and --delta.
void add_limits(CLI::App& command, LimitArguments& arguments);

}  // namespace gpilot::cli
