#include "cli_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/explore/region.hpp"

namespace gpilot::cli {

namespace {

template <class Number>
std::optional<Number> read_number(std::string_view text) {
  if (text.size() > 1 && text.starts_with('+') && text[1] != '-') {
    text.remove_prefix(1);
  }
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

void require(const std::string& option, const std::string& complaint) {
  if (!complaint.empty()) {
    throw InputError(fmt::format("{}: {}", option, complaint));
  }
}

/// The unit as the name of a value: "MS".
std::string type_name(const Field& field, std::string_view otherwise) {
  std::string name = field.unit[0] != '\0' ? field.unit : std::string(otherwise);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::string with_default(std::string text, std::string_view otherwise) {
  return otherwise.empty() ? text : fmt::format("{} (default: {})", text, otherwise);
}

}  // namespace

bool CliArchive::is_left_out(const Field& field) const {
  return std::ranges::find(left_out_, field.key) != left_out_.end() || options::option_name(field).empty();
}

void CliArchive::add_option(const Field& field, const Help& help, Read read) {
  if (is_left_out(field)) {
    return;
  }
  const std::string name = options::option_name(field);
  names_.push_back(name);
  auto& readers = readers_[name];
  if (readers) {
    readers->push_back(std::move(read));
    CLI::Option* option = command_.get_option(name);
    if (option->get_default_str() != help.value) {
      option->default_str(fmt::format("{}|{}", option->get_default_str(), help.value));
    }
    return;
  }
  readers = std::make_shared<std::vector<Read>>(1, std::move(read));
  const auto read_all = [readers](const std::string& text) {
    for (const Read& one : *readers) {
      one(text);
    }
  };
  CLI::Option* option = command_.add_option_function<std::string>(name, read_all, help.text);
  option->type_name(help.type)->default_str(help.value);
  if (!group_.empty()) {
    option->group(group_);
  }
}

void CliArchive::add_count(const Field& field, std::int64_t value, std::int64_t lowest, std::int64_t highest,
                           const std::function<void(std::int64_t)>& set) {
  const auto read = [option = options::option_name(field), lowest, highest, set](const std::string& text) {
    const std::optional<std::int64_t> number = read_number<std::int64_t>(text);
    require(option, number ? options::complaint(*number, lowest, highest)
                           : fmt::format("expected {}, not '{}'", options::expectation(lowest, highest), text));
    set(*number);
  };
  const std::string otherwise = field.otherwise;
  add_option(field,
             {type_name(field, "N"),
              with_default(fmt::format("{}; {}", field.meaning, options::bounds(lowest, highest)), otherwise),
              otherwise.empty() ? fmt::format("{}", value) : ""},
             read);
}

void CliArchive::optional_count(const Field& field, std::optional<Index>& value, std::int64_t lowest,
                                std::int64_t highest) {
  add_count(field, 0, lowest, highest, [&value](std::int64_t number) { value = number; });
}

void CliArchive::seed(const Field& field, std::uint64_t& value) {
  count(field, value, 0, options::kLargestSeed);
}

void CliArchive::add_number(const Field& field, double& value, NumberRule rule, const std::string& otherwise) {
  const auto read = [option = options::option_name(field), &value, rule](const std::string& text) {
    const std::optional<double> number = read_number<double>(text);
    require(option, number ? options::complaint(*number, rule)
                           : fmt::format("expected {}, not '{}'", options::expectation(rule), text));
    value = *number;
  };
  add_option(
      field,
      {type_name(field, "X"), with_default(fmt::format("{}; {}", field.meaning, options::bounds(rule)), otherwise),
       otherwise.empty() ? fmt::format("{}", value) : ""},
      read);
}

void CliArchive::number(const Field& field, double& value, NumberRule rule) {
  add_number(field, value, rule, field.otherwise);
}

void CliArchive::optional(const Field& field, double& value, NumberRule rule) {
  add_number(field, value, rule, field.otherwise[0] != '\0' ? field.otherwise : "none");
}

void CliArchive::add_choice(const Field& field, const std::string& value, const std::vector<std::string>& known,
                            const std::function<void(const std::string&)>& set) {
  const auto read = [option = options::option_name(field), key = std::string(field.key), known,
                     set](const std::string& text) {
    require(option, options::complaint(key, text, known));
    set(text);
  };
  add_option(field, {fmt::format("{}", fmt::join(known, "|")), field.meaning, value}, read);
}

void CliArchive::word(const Field& field, std::string& value, const std::vector<std::string>& known) {
  const auto read = [option = options::option_name(field), key = std::string(field.key), known,
                     &value](const std::string& text) {
    require(option, options::complaint(key, text, known));
    value = text;
  };
  add_option(field, {"NAME", fmt::format("{}; one of {}", field.meaning, fmt::join(known, ", ")), value}, read);
}

void CliArchive::flag(const Field& field, bool& value) {
  if (is_left_out(field)) {
    return;
  }
  names_.push_back(options::option_name(field));
  CLI::Option* option = command_.add_flag(names_.back(), value, field.meaning);
  if (!group_.empty()) {
    option->group(group_);
  }
}

void CliArchive::region(const Field& field, std::vector<ssm::Range>& value) {
  const auto read = [option = options::option_name(field), &value](const std::string& text) {
    try {
      value = explore::parse_region(text);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", option, error.what()));
    }
  };
  add_option(field, {"NAME=LOW:HIGH,..", with_default(field.meaning, field.otherwise), ""}, read);
}

void refuse_ignored(const CLI::App& command, const std::vector<GoesWith>& rules) {
  for (const GoesWith& rule : rules) {
    for (const std::string& option : rule.options) {
      const CLI::Option* known = command.get_option_no_throw(option);  // rules are shared by commands
      if (!rule.holds && known != nullptr && known->count() > 0) {
        throw InputError(fmt::format("{}: {}", option, rule.with));
      }
    }
  }
}

void refuse_empty_values(CLI::App& command) {
  const auto complain = [](std::string& text) {
    return text.empty() ? std::string("expected a value, not an empty text") : std::string();
  };
  for (CLI::Option* option : command.get_options()) {
    if (option->get_expected_min() > 0) {
      option->check(CLI::Validator(complain, ""));
    }
  }
}

}  // namespace gpilot::cli
