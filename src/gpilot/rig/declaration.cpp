#include "gpilot/rig/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "gpilot/core/random.hpp"
#include "gpilot/rig/protocol.hpp"

namespace gpilot::rig {
namespace {

using ParsedJson = nlohmann::json;

/// Reads the members of one channel; `at` says which one it is, "inputs[0]".
class ChannelReader {
 public:
  ChannelReader(const ParsedJson& json, std::string at, std::string_view line)
      : json_(json), at_(std::move(at)), line_(line) {
    if (!json_.is_object()) {
      refuse("", "is not an object with a name");
    }
  }

  std::string text(const char* key) const {
    const ParsedJson* value = find(key);
    if (value != nullptr && !value->is_string()) {
      refuse(key, "is not a text");
    }
    return value == nullptr ? "" : value->get<std::string>();
  }

  std::optional<double> number(const char* key) const {
    const ParsedJson* value = find(key);
    if (value != nullptr && !value->is_number()) {
      refuse(key, "is not a number");
    }
    return value == nullptr ? std::nullopt : std::optional(value->get<double>());
  }

 private:
  /// Null stands for a member that is not given.
  const ParsedJson* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void refuse(const char* key, const char* what) const {
    throw RigError(RigError::Kind::kWrongShape,
                   fmt::format("\"{}{}{}\" {}: {}", at_, *key == '\0' ? "" : ".", key, what, quote_rig_line(line_)));
  }

  const ParsedJson& json_;
  std::string at_;
  std::string_view line_;
};

std::vector<DeclaredChannel> channels(const ParsedJson& answer, const char* key, std::string_view line) {
  std::vector<DeclaredChannel> list;
  const auto found = answer.find(key);
  if (found == answer.end() || found->is_null()) {
    return list;
  }
  if (!found->is_array()) {
    throw RigError(RigError::Kind::kWrongShape, fmt::format("\"{}\" is not a list: {}", key, quote_rig_line(line)));
  }
  for (const ParsedJson& entry : *found) {
    const ChannelReader reader(entry, fmt::format("{}[{}]", key, list.size()), line);
    list.push_back({.name = reader.text("name"),
                    .unit = reader.text("unit"),
                    .low = reader.number("low"),
                    .high = reader.number("high"),
                    .safe = reader.number("safe"),
                    .slew = reader.number("slew")});
  }
  return list;
}

/// What makes no sense in the channel "inputs[0]"; "" if it does.
std::string nonsense_in(const DeclaredChannel& c, const std::string& at) {
  if (c.name.empty()) {
    return fmt::format("\"{}\" has no name", at);
  }
  for (const std::string& text : {c.name, c.unit}) {
    if (std::ranges::any_of(text, [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; })) {
      return fmt::format("\"{}\" has a control character in its name or unit", at);
    }
  }
  if (c.low.has_value() != c.high.has_value()) {
    return fmt::format("\"{}\" has only one of low and high", at);
  }
  if (c.low && !(*c.low < *c.high)) {
    return fmt::format("\"{}\": low {} is not below high {}", at, *c.low, *c.high);
  }
  if (c.safe && c.low && !(*c.low <= *c.safe && *c.safe <= *c.high)) {
    return fmt::format("\"{}\": safe {} is not from low {} to high {}", at, *c.safe, *c.low, *c.high);
  }
  if (c.slew && !(*c.slew > 0.0)) {
    return fmt::format("\"{}\": slew {} is not positive", at, *c.slew);
  }
  return "";
}

std::vector<std::string> names_of(const std::vector<DeclaredChannel>& channels) {
  std::vector<std::string> names;
  for (const DeclaredChannel& channel : channels) {
    names.push_back(channel.name);
  }
  return names;
}

std::string other_names(const std::vector<DeclaredChannel>& declared, const std::vector<std::string>& wanted,
                        const char* what) {
  const std::vector<std::string> names = names_of(declared);
  return names.empty() || names == wanted ? ""
                                          : fmt::format("the rig declares the {} {}, the study has {}", what,
                                                        fmt::join(names, ", "), fmt::join(wanted, ", "));
}

}  // namespace

void read_channels(std::string_view line, RigTraits& traits) {
  const ParsedJson answer = ParsedJson::parse(line);
  traits.inputs = channels(answer, "inputs", line);
  traits.outputs = channels(answer, "outputs", line);
}

std::string nonsense_in(const RigTraits& traits) {
  if (traits.dt && !(*traits.dt > 0.0 && std::isfinite(*traits.dt))) {
    return fmt::format("\"dt\" is {}, expected a positive number of seconds", *traits.dt);
  }
  std::set<std::string> names;
  for (const auto& [list, key] : {std::pair(&traits.inputs, "inputs"), std::pair(&traits.outputs, "outputs")}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string at = fmt::format("{}[{}]", key, i);
      if (std::string wrong = nonsense_in((*list)[i], at); !wrong.empty()) {
        return wrong;
      }
      if (!names.insert((*list)[i].name).second) {
        return fmt::format("\"{}\" has a name that another has: {}", at, quote_rig_line((*list)[i].name));
      }
    }
  }
  return "";
}

std::string misfit(const RigTraits& traits, const RigHello& hello, const Box& box) {
  constexpr double kSameTime = 1e-9;  // relative: a dt that went through a text
  if (traits.dt && std::abs(*traits.dt - hello.dt) > kSameTime * hello.dt) {
    return fmt::format("the rig declares a step of {} s, the study has {} s", *traits.dt, hello.dt);
  }
  std::string wrong = other_names(traits.inputs, hello.inputs, "inputs");
  wrong = wrong.empty() ? other_names(traits.outputs, hello.outputs, "outputs") : wrong;
  for (std::size_t i = 0; wrong.empty() && i < traits.inputs.size(); ++i) {
    const DeclaredChannel& input = traits.inputs[i];
    const auto p = static_cast<Index>(i);
    if (input.low && (box.low(p) < *input.low || box.high(p) > *input.high)) {
      wrong = fmt::format("the rig accepts {} from {} to {}, the study would send {} to {}", input.name, *input.low,
                          *input.high, box.low(p), box.high(p));
    }
  }
  return wrong;
}

Index reset_seed(std::uint64_t study_seed, Index sequence) {
  // 31 bits: what a signed integer holds in every language.
  return static_cast<Index>(RandomStream(study_seed, Purpose::kRigReset, static_cast<std::uint32_t>(sequence)).bits() >>
                            1U);
}

}  // namespace gpilot::rig
