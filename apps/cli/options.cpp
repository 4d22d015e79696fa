#include "options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>
#include <vector>

#include "gpilot/error.hpp"

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

acquisition::NamedLimit parse_limit(std::string_view option, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':', equals == std::string_view::npos ? 0 : equals);
  if (equals == 0 || equals == std::string_view::npos || colon == std::string_view::npos || text.ends_with("=:")) {
    throw InputError(fmt::format("{}: expected NAME=LOW:HIGH, not '{}'", option, text));
  }
  acquisition::NamedLimit limit{.output = std::string(text.substr(0, equals))};
  if (const std::string_view low = text.substr(equals + 1, colon - equals - 1); !low.empty()) {
    limit.low = parse_number(option, low);
  }
  if (const std::string_view high = text.substr(colon + 1); !high.empty()) {
    limit.high = parse_number(option, high);
  }
  return limit;
}

std::vector<acquisition::NamedLimit> LimitArguments::parsed() const {
  std::vector<acquisition::NamedLimit> list;
  for (const std::string& text : limits) {
    list.push_back(parse_limit("--limit", text));
  }
  return list;
}

double LimitArguments::parsed_delta() const {
  if (delta.empty()) {
    return acquisition::OutputLimits{}.delta;
  }
  if (limits.empty()) {
    throw InputError("--delta: goes with --limit, and none is given");
  }
  return parse_number("--delta", delta);
}

bool looks_like_numbers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.,+-eE") == std::string_view::npos;
}

void add_format(CLI::App& command, Format& format) {
  const std::map<std::string, Format> names{{"text", Format::kText}, {"json", Format::kJson}};
  command.add_option("--format", format, "how to print the result: text or json")
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
      ->type_name("text|json");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  const auto parse = [&seed](const std::string& text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc{} || end != text.data() + text.size()) {
      throw InputError(fmt::format("--seed: expected a whole number from 0 to 2^64 - 1, not '{}'", text));
    }
  };
  // Parsed here because CLI11 takes -1 for an unsigned number.
  command.add_option_function<std::string>("--seed", parse, "seed of all randomness")
      ->type_name("S")
      ->default_str(std::to_string(seed));
}

void add_observe_states(CLI::App& command, bool& observe_states) {
  command.add_flag("--observe-states", observe_states, "measure every state: also th_dot, as y_th_dot, beside y_th");
}

acquisition::PlanningOptions PlanningArguments::parsed() const {
  acquisition::PlanningOptions options;
  const auto count = [](std::string_view option, const std::string& text, auto& value) {
    if (!text.empty()) {
      value = static_cast<std::remove_reference_t<decltype(value)>>(parse_count(option, text, 0));
    }
  };
  count("--horizon", horizon, options.horizon);
  count("--plan-hold", hold, options.hold);
  count("--commit", commit, options.commit);
  count("--plan-evaluations", evaluations, options.evaluations);
  count("--plan-draws", draws, options.draws);
  if (!milliseconds.empty()) {
    options.milliseconds = parse_number("--plan-ms", milliseconds);
    if (evaluations.empty()) {
      options.evaluations = std::numeric_limits<int>::max();  // the clock alone
    }
  }
  options.validate();
  return options;
}

void add_planning(CLI::App& command, PlanningArguments& arguments) {
  const acquisition::PlanningOptions defaults;
  const auto add = [&command](const char* name, std::string& text, const char* help, const char* type,
                              const std::string& otherwise) {
    command.add_option(name, text, help)->type_name(type)->default_str(otherwise)->group("Planning");
  };
  add("--horizon", arguments.horizon, "controls that a strategy plans ahead (default: 10 values in all)", "H", "");
  add("--plan-hold", arguments.hold, "steps for which a planned control is held", "N",
      fmt::format("{}", defaults.hold));
  add("--commit", arguments.commit, "controls of a plan that are applied before the next is made", "K",
      fmt::format("{}", defaults.commit));
  add("--plan-evaluations", arguments.evaluations, "plans tried for one decision", "N",
      fmt::format("{}", defaults.evaluations));
  add("--plan-ms", arguments.milliseconds,
      "milliseconds for one decision instead; how many plans were tried is recorded", "MS", "");
  add("--plan-draws", arguments.draws, "functions drawn from the model to plan under; 0: its mean", "N",
      fmt::format("{}", defaults.draws));
}

void add_limits(CLI::App& command, LimitArguments& arguments) {
  command
      .add_option("--limit", arguments.limits,
                  "keep an output inside, in its units: y_th=-0.8:0.8, or th=:0.8 for one end; may be repeated")
      ->type_name("NAME=LOW:HIGH")
      ->allow_extra_args(false);
  command.add_option("--delta", arguments.delta, "probability with which a plan may leave the limits, under the model")
      ->type_name("P")
      ->default_str(fmt::format("{}", acquisition::OutputLimits{}.delta));
}

}  // namespace gpilot::cli
