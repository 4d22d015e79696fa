#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/options/layout.hpp"
#include "gpilot/plan/strategy.hpp"

namespace gpilot::cli {

double parse_number(std::string_view option, std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
  }
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value)) {
    throw InputError(fmt::format("{}: expected a finite number, not '{}'", option, text));
  }
  return value;
}

Vector parse_numbers(std::string_view option, std::string_view text) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse_number(option, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

Index parse_count(std::string_view option, std::string_view text, Index lowest) {
  Index value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < lowest) {
    throw InputError(fmt::format("{}: expected a whole number of at least {}, not '{}'", option, lowest, text));
  }
  return value;
}

std::pair<std::string, double> parse_assignment(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    throw InputError(fmt::format("{}: expected NAME=VALUE, not '{}'", option, text));
  }
  return {std::string(text.substr(0, equals)), parse_number(option, text.substr(equals + 1))};
}

Box parse_box(std::string_view option, std::string_view text) {
  std::vector<double> low;
  std::vector<double> high;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view interval = text.substr(begin, end - begin);
    const std::size_t colon = interval.find(':');
    if (colon == std::string::npos) {
      throw InputError(fmt::format("{}: expected LOW:HIGH for each control, not '{}'", option, interval));
    }
    low.push_back(parse_number(option, interval.substr(0, colon)));
    high.push_back(parse_number(option, interval.substr(colon + 1)));
    begin = end + 1;
  }
  const auto size = static_cast<Index>(low.size());
  return {Eigen::Map<const Vector>(low.data(), size), Eigen::Map<const Vector>(high.data(), size)};
}

plan::NamedLimit parse_limit(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':', equals == std::string_view::npos ? 0 : equals);
  if (equals == 0 || equals == std::string_view::npos || colon == std::string_view::npos || text.ends_with("=:")) {
    throw InputError(fmt::format("{}: expected NAME=LOW:HIGH, not '{}'", option, text));
  }
  plan::NamedLimit limit{.output = std::string(text.substr(0, equals))};
  if (const std::string_view low = text.substr(equals + 1, colon - equals - 1); !low.empty()) {
    limit.low = parse_number(option, low);
  }
  if (const std::string_view high = text.substr(colon + 1); !high.empty()) {
    limit.high = parse_number(option, high);
  }
  return limit;
}

std::vector<plan::NamedLimit> parse_limits(const std::vector<std::string>& texts) {
  std::vector<plan::NamedLimit> list;
  for (const std::string& text : texts) {
    list.push_back(parse_limit("--limit", text));
  }
  return list;
}

bool looks_like_numbers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos;
}

void add_format(CLI::App& command, Format& format) {
  command
      .add_option_function<std::string>(
          "--format",
          [&format](const std::string& text) {
            if (text != "text" && text != "json") {
              throw InputError(fmt::format("--format: '{}', expected text or json", text));
            }
            format = text == "json" ? Format::kJson : Format::kText;
          },
          "how to print the result: text or json")
      ->type_name("text|json");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  CliArchive(command).seed(options::kSeed, seed);
}

void add_observe_states(CLI::App& command, bool& observe_states) {
  command.add_flag("--observe-states", observe_states, "measure every state: also th_dot, as y_th_dot, beside y_th");
}

std::vector<std::string> add_planning(CliArchive& cli, plan::PlanningOptions& planning) {
  return cli.add("Planning", {}, [&](auto& a) { options::describe_planning(a, planning); });
}

void finish_planning(const CLI::App& command, plan::PlanningOptions& planning) {
  if (command.count("--plan-ms") == 0) {
    return;
  }
  const std::string complaint = options::complaint(planning.milliseconds, NumberRule::kPositive);
  if (!complaint.empty()) {
    throw InputError(fmt::format("--plan-ms: {}", complaint));
  }
  if (command.count("--plan-evaluations") == 0) {
    planning.evaluations = std::numeric_limits<int>::max();
  }
}

std::vector<GoesWith> exploring_rules(const std::vector<std::string>& strategies, bool limits,
                                      const std::vector<std::string>& planning) {
  std::vector<std::string> planners;
  std::vector<std::string> users;
  const auto named = [&strategies](const plan::StrategyInfo& info) {
    return std::ranges::find(strategies, info.name) != strategies.end();
  };
  // A name that does not exist is for others to complain about.
  const std::vector<std::string> known = plan::strategy_names();
  const bool all_known = std::ranges::all_of(
      strategies, [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); });
  bool plans = limits || !all_known;
  bool uses = !all_known;
  for (const plan::StrategyInfo& info : plan::strategies()) {
    if (info.plans) {
      planners.push_back(info.name);
      plans = plans || named(info);
    }
    if (info.reference_sd) {
      users.push_back(info.name);
      uses = uses || named(info);
    }
  }
  const std::string not_with = fmt::format("not with {}", fmt::join(strategies, ", "));
  return {{planning, plans,
           fmt::format("goes with --limit or a strategy that plans ({}), {}", fmt::join(planners, ", "), not_with)},
          {{"--region"}, uses, fmt::format("goes with the strategies {}, {}", fmt::join(users, ", "), not_with)},
          {{"--delta"}, limits, "goes with --limit, and none is given"}};
}

void add_limits(CLI::App& command, std::vector<std::string>& limits) {
  command
      .add_option("--limit", limits,
                  "keep an output inside, in its units: y_th=-0.8:0.8, or th=:0.8 for one end; may be repeated")
      ->type_name("NAME=LOW:HIGH")
      ->allow_extra_args(false);
}

}  // namespace gpilot::cli
