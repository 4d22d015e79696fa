#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli_archive.hpp"
#include "gpilot/core/types.hpp"
#include "gpilot/plan/limits.hpp"
#include "gpilot/plan/planning.hpp"

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
plan::NamedLimit parse_limit(std::string_view option, std::string_view text);
/// True if the text has only characters of numbers separated by commas, so that it is meant as such.
bool looks_like_numbers(std::string_view text);

/// How a command prints its result.
enum class Format { kText, kJson };

/// Adds --format text|json.
void add_format(CLI::App& command, Format& format);
/// Adds --seed, as options::kSeed says.
void add_seed(CLI::App& command, std::uint64_t& seed);
/// Adds --observe-states, see systems::System::observe_states().
void add_observe_states(CLI::App& command, bool& observe_states);

/// Adds --limit.
void add_limits(CLI::App& command, std::vector<std::string>& limits);
std::vector<plan::NamedLimit> parse_limits(const std::vector<std::string>& texts);

/// Adds --horizon and what else there is to planning; returns their names.
std::vector<std::string> add_planning(CliArchive& cli, plan::PlanningOptions& planning);
/// After parsing: --plan-ms alone leaves the number of plans to the clock. Throws InputError for --plan-ms 0, which
/// would leave it to nothing.
void finish_planning(const CLI::App& command, plan::PlanningOptions& planning);
/// Planning options and --delta go with strategies that plan, or with limits, under which all do; a region with those
/// that look at it.
std::vector<GoesWith> exploring_rules(const std::vector<std::string>& strategies, bool limits,
                                      const std::vector<std::string>& planning);

}  // namespace gpilot::cli
