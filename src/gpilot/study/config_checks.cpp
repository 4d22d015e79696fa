#include "gpilot/study/config_checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "gpilot/core/suggest.hpp"
#include "gpilot/ssm/observed_states.hpp"

namespace gpilot::study {

namespace {

template <class Entry>
void check_range(const char* section, const std::vector<Entry>& entries, const Entry& e) {
  if (given(e.low) != given(e.high)) {
    const bool low = given(e.low);
    throw ConfigError(at(section, entries, e, low ? "low" : "high"),
                      fmt::format("given without '{}'; expected both or none", low ? "high" : "low"));
  }
  // A narrower range is lost in rounding.
  const double width = 1e-9 * std::max(std::abs(e.low), std::abs(e.high));
  if (given(e.low) && !(e.high - e.low > width)) {
    throw ConfigError(at(section, entries, e, "high"),
                      fmt::format("expected more than 'low', which is {}, not {}", e.low, e.high));
  }
}

template <class Entry>
void check_names(const char* section, const std::vector<Entry>& entries, std::size_t most) {
  std::set<std::string> seen;
  for (const Entry& e : entries) {
    const KeyPath path = at(section, entries, e, "name");
    if (path.entry >= static_cast<Index>(most)) {
      throw ConfigError(path, fmt::format("expected at most {} sections [[{}]]", most, section));
    }
    if (e.name.front() == ' ' || e.name.back() == ' ') {
      throw ConfigError(path, fmt::format("expected a name without spaces around it, not '{}'", e.name));
    }
    if (!seen.insert(e.name).second) {
      throw ConfigError(path, fmt::format("'{}' is named twice; expected another name", e.name));
    }
  }
}

/// Inputs and outputs are columns of one file, beside the time t; the range of an input is found by its name.
void check_columns(const ConfigEntries& e) {
  const Names inputs = names(e.inputs);
  const auto check = [&](const char* section, const auto& entries, bool column) {
    for (const auto& entry : entries) {
      if (column && entry.name == "t") {
        throw ConfigError(at(section, entries, entry, "name"), "'t' is the column of time; expected another name");
      }
      if (section != std::string_view("input") && std::ranges::find(inputs, entry.name) != inputs.end()) {
        throw ConfigError(at(section, entries, entry, "name"),
                          fmt::format("'{}' is an input already; expected another name", entry.name));
      }
    }
  };
  check("input", e.inputs, true);
  check("output", e.outputs, true);
  check("state", e.states, false);
}

void check_inputs(const std::vector<InputEntry>& inputs) {
  if (inputs.empty()) {
    throw ConfigError({"input", -1, "", ""},
                      "missing; expected a section [[input]] with name, low and high for each "
                      "control that gpilot may choose");
  }
  for (const InputEntry& e : inputs) {
    check_range("input", inputs, e);
    if (!given(e.safe) && (e.low > 0.0 || e.high < 0.0)) {
      throw ConfigError(at("input", inputs, e, "safe"),
                        fmt::format("missing; expected a value from {} to {}, since 0 is outside", e.low, e.high));
    }
    if (given(e.safe) && (e.safe < e.low || e.safe > e.high)) {
      throw ConfigError(at("input", inputs, e, "safe"),
                        fmt::format("expected a value from {} to {}, not {}", e.low, e.high, e.safe));
    }
  }
}

/// Values that are expected must be plausible.
void check_plausible(const std::vector<OutputEntry>& outputs, const OutputEntry& e) {
  if (e.plausible_low >= e.plausible_high) {
    throw ConfigError(
        at("output", outputs, e, "plausible_high"),
        fmt::format("expected more than 'plausible_low', which is {}, not {}", e.plausible_low, e.plausible_high));
  }
  if (e.plausible_low > e.low) {
    throw ConfigError(at("output", outputs, e, "plausible_low"),
                      fmt::format("expected at most 'low', which is {}, not {}", e.low, e.plausible_low));
  }
  if (e.plausible_high < e.high) {
    throw ConfigError(at("output", outputs, e, "plausible_high"),
                      fmt::format("expected at least 'high', which is {}, not {}", e.high, e.plausible_high));
  }
}

void check_outputs(const ConfigEntries& e) {
  if (e.outputs.empty()) {
    throw ConfigError({"output", -1, "", ""},
                      "missing; expected a section [[output]] with a name for each value that "
                      "is measured");
  }
  const Names states = names(e.states);
  for (const OutputEntry& output : e.outputs) {
    check_range("output", e.outputs, output);
    if (!(output.limit_low < output.limit_high)) {
      throw ConfigError(
          at("output", e.outputs, output, "limit_high"),
          fmt::format("expected more than 'limit_low', which is {}, not {}", output.limit_low, output.limit_high));
    }
    check_plausible(e.outputs, output);
    if (output.state.empty()) {
      continue;
    }
    const KeyPath path = at("output", e.outputs, output, "state");
    if (e.states.empty() && output.state != output.name) {
      throw ConfigError(path, fmt::format("there is no state '{}': expected a section [[state]] for it", output.state));
    }
    if (!e.states.empty() && std::ranges::find(states, output.state) == states.end()) {
      throw ConfigError(path, unknown_name_message("state", output.state, states));
    }
    if (output.state != output.name && std::ranges::find(states, output.name) != states.end()) {
      throw ConfigError(path, fmt::format("'{}', but there is a state '{}', too; expected that, or another name for "
                                          "the output",
                                          output.state, output.name));
    }
  }
}

/// A state may be given one derivative, and no state is its own, not even in a circle.
void check_derivatives(const std::vector<StateEntry>& states) {
  const Names known = names(states);
  std::vector<Index> position_of(states.size(), -1);
  for (const StateEntry& e : states) {
    if (e.derivative_of.empty()) {
      continue;
    }
    const KeyPath path = at("state", states, e, "derivative_of");
    const Index target = position(known, e.derivative_of);
    if (target == static_cast<Index>(states.size())) {
      throw ConfigError(path, unknown_name_message("state", e.derivative_of, known) +
                                  "; every state needs a section [[state]] where there is one");
    }
    if (std::ranges::find(position_of, target) != position_of.end()) {
      throw ConfigError(path, fmt::format("'{}' is given two derivatives; expected one", e.derivative_of));
    }
    position_of[static_cast<std::size_t>(path.entry)] = target;
    for (Index state = target; state >= 0; state = position_of[static_cast<std::size_t>(state)]) {
      if (state == path.entry) {
        throw ConfigError(path, fmt::format("'{}' would be a derivative of itself", e.name));
      }
    }
  }
}

void check_angles(const std::vector<StateEntry>& states) {
  for (const StateEntry& e : states) {
    if (e.angle && !e.derivative_of.empty()) {
      throw ConfigError(at("state", states, e, "angle"),
                        fmt::format("'{}' is the derivative of '{}', which has no turns; expected one of the two",
                                    e.name, e.derivative_of));
    }
  }
}

/// The state that an output without `state` measures, or D where its name says nothing.
Index by_name(const OutputEntry& output, const Names& states) {
  for (const std::string& state : states) {
    if (output.name == state || output.name == "y_" + state) {
      return position(states, state);
    }
  }
  return static_cast<Index>(states.size());
}

}  // namespace

std::vector<Index> measured_states(const ConfigEntries& e, const ssm::ModelSpec& spec) {
  if (std::ranges::all_of(e.outputs, [](const OutputEntry& o) { return o.state.empty(); })) {
    try {
      return ssm::observed_states(spec);
    } catch (const InputError&) {
      throw ConfigError(
          at("output", e.outputs, e.outputs.back(), "state"),
          fmt::format("missing; expected the state that it measures, one of: {}", fmt::join(spec.states, ", ")));
    }
  }
  std::vector<Index> measured;
  for (const OutputEntry& output : e.outputs) {
    measured.push_back(output.state.empty() ? by_name(output, spec.states) : position(spec.states, output.state));
    if (measured.back() == static_cast<Index>(spec.states.size())) {
      throw ConfigError(
          at("output", e.outputs, output, "state"),
          fmt::format("missing; expected the state that it measures, one of: {}", fmt::join(spec.states, ", ")));
    }
  }
  return measured;
}

void check_state_ranges(const ConfigEntries& e, const std::vector<Index>& measured) {
  for (const StateEntry& state : e.states) {
    check_range("state", e.states, state);
    if (!given(state.low)) {
      continue;
    }
    const KeyPath path = at("state", e.states, state, "low");
    if (const auto found = std::ranges::find(measured, path.entry); found != measured.end()) {
      const std::string& output = e.outputs[static_cast<std::size_t>(found - measured.begin())].name;
      throw ConfigError(path, fmt::format("the output '{}' measures this state; expected its range there", output));
    }
  }
}

void check_entries(const ConfigEntries& e) {
  check_names("input", e.inputs, kMostChannels);
  check_names("output", e.outputs, kMostChannels);
  check_names("state", e.states, ssm::kMaxStates);
  check_columns(e);
  check_inputs(e.inputs);
  check_outputs(e);
  check_derivatives(e.states);
  check_angles(e.states);
}

}  // namespace gpilot::study
