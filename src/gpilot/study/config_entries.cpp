#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gpilot/core/suggest.hpp"
#include "gpilot/ssm/observed_states.hpp"
#include "gpilot/study/config_archives.hpp"
#include "gpilot/study/config_layout.hpp"

namespace gpilot::study {

namespace {

using Names = std::vector<std::string>;

template <class Entries>
Names names(const Entries& entries) {
  Names result;
  for (const auto& entry : entries) {
    result.push_back(entry.name);
  }
  return result;
}

Index position(const Names& list, std::string_view name) {
  return std::ranges::find(list, name) - list.begin();
}

/// An entry's key, for errors.
template <class Entry>
KeyPath at(const char* section, const std::vector<Entry>& entries, const Entry& entry, const char* key) {
  return {section, &entry - entries.data(), entry.name, key};
}

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

/// The state that each output measures.
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

/// A range says how a state is scaled, which is free where no output measures it.
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

/// What is known about functions, without a check.
void apply_knowledge(const ConfigEntries& e, ssm::ModelSpec& spec) {
  spec.cyclic.clear();
  spec.depends_on.clear();
  spec.odd.clear();
  spec.centres.clear();
  spec.control_affine.clear();
  spec.coefficients.clear();
  for (const StateEntry& state : e.states) {
    if (state.cyclic) {
      spec.cyclic.push_back(state.name);
    }
    if (!state.depends_on.empty()) {
      spec.depends_on.push_back({state.name, state.depends_on});
    }
    if (state.symmetry == kOdd) {
      spec.odd.push_back(state.name);
    } else if (!state.symmetry.empty()) {
      throw ConfigError(at("state", e.states, state, "symmetry"),
                        fmt::format("expected \"{}\", not \"{}\"", kOdd, state.symmetry));
    }
    if (given(state.centre)) {
      spec.centres.push_back({state.name, state.centre});
    }
    if (state.control_affine) {
      spec.control_affine.push_back(state.name);
    }
    for (const auto& [name, value] : state.coefficients) {
      spec.coefficients.push_back({state.name, name, value});
    }
  }
  for (const InputEntry& input : e.inputs) {
    if (given(input.centre)) {
      spec.centres.push_back({input.name, input.centre});
    }
  }
}

/// The other direction.
void set_knowledge(const ssm::ModelSpec& spec, StateEntry& state) {
  const auto holds = [&](const Names& list) { return std::ranges::find(list, state.name) != list.end(); };
  state.cyclic = holds(spec.cyclic);
  state.symmetry = holds(spec.odd) ? kOdd : "";
  state.control_affine = holds(spec.control_affine);
  for (const ssm::DependsOn& d : spec.depends_on) {
    if (d.state == state.name) {
      state.depends_on = d.names;
    }
  }
  for (const ssm::Coefficient& c : spec.coefficients) {
    if (c.state == state.name) {
      state.coefficients.emplace_back(c.name, c.value);
    }
  }
}

double centre_of(const ssm::ModelSpec& spec, const std::string& name) {
  const auto found = std::ranges::find(spec.centres, name, &ssm::Centre::name);
  return found == spec.centres.end() ? kNotGiven : found->value;
}

/// Units that formulas are checked by: those of inputs, and of outputs for the states that they measure.
void apply_units(const ConfigEntries& e, const std::vector<Index>& measured, ssm::Physics& physics) {
  physics.units.clear();
  for (const InputEntry& input : e.inputs) {
    if (!input.unit.empty()) {
      physics.units.emplace_back(input.name, input.unit);
    }
  }
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    if (!e.outputs[i].unit.empty()) {
      physics.units.emplace_back(e.states[static_cast<std::size_t>(measured[i])].name, e.outputs[i].unit);
    }
  }
}

/// The vector of a number of each entry; empty if none was given.
template <class Entry>
Vector column(const std::vector<Entry>& entries, double Entry::*number) {
  Vector values(static_cast<Index>(entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    values(static_cast<Index>(i)) = entries[i].*number;
  }
  return values;
}

Vector empty_if_not_given(Vector values) {
  return values.array().isNaN().all() ? Vector() : values;
}

template <class Entry>
Names texts(const std::vector<Entry>& entries, std::string Entry::*text) {
  Names result;
  for (const Entry& entry : entries) {
    result.push_back(entry.*text);
  }
  return result;
}

template <class Entry>
void add_ranges(const std::vector<Entry>& entries, ssm::ModelSpec& spec) {
  for (const Entry& e : entries) {
    if (given(e.low)) {
      spec.ranges.push_back({e.name, e.low, e.high});
    }
  }
}

double element(const Vector& values, Index i, double otherwise) {
  return i < values.size() ? values(i) : otherwise;
}

void set_range(const ssm::ModelSpec& spec, const std::string& name, double& low, double& high) {
  for (const ssm::Range& range : spec.ranges) {
    if (range.name == name) {
      low = range.low;
      high = range.high;
    }
  }
}

/// The state that output e measures, and nothing else, or -1.
Index measured_state(const ssm::ModelSpec& spec, Index e) {
  if (spec.C.size() == 0) {
    return e;
  }
  for (Index i = 0; i < spec.C.cols(); ++i) {
    if (spec.C(e, i) == 1.0 && spec.C.row(e).cwiseAbs().sum() == 1.0) {
      return i;
    }
  }
  return -1;
}

/// Which outputs are learned from. What was not given follows from the range; an angle is the same after any number of
/// turns, so that no value of it is absurd.
Box plausible_box(const ConfigEntries& e, const std::vector<Index>& measured) {
  constexpr double kTimes = 10.0;
  Box box{column(e.outputs, &OutputEntry::plausible_low), column(e.outputs, &OutputEntry::plausible_high)};
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    const auto k = static_cast<Index>(i);
    const OutputEntry& output = e.outputs[i];
    const bool by_range = given(output.low) && !e.states[static_cast<std::size_t>(measured[i])].angle;
    const double middle = 0.5 * output.low + 0.5 * output.high;
    const double reach = by_range ? kTimes * (0.5 * output.high - 0.5 * output.low) : kNoLimit;
    box.low(k) = given(box.low(k)) ? box.low(k) : by_range ? middle - reach : -kNoLimit;
    box.high(k) = given(box.high(k)) ? box.high(k) : by_range ? middle + reach : kNoLimit;
  }
  return box;
}

}  // namespace

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

void apply_entries(const ConfigEntries& entries, StudyConfig& config) {
  ConfigEntries e = entries;
  for (const OutputEntry& output : entries.states.empty() ? entries.outputs : std::vector<OutputEntry>{}) {
    e.states.push_back({.name = output.name});
  }
  ssm::ModelSpec& spec = config.model;
  spec.inputs = names(e.inputs);
  spec.outputs = names(e.outputs);
  spec.states = names(e.states);
  spec.derivatives.clear();
  spec.angles.clear();
  for (const StateEntry& state : e.states) {
    if (state.angle) {
      spec.angles.push_back(state.name);
    }
    if (!state.derivative_of.empty()) {
      spec.derivatives.push_back({position(spec.states, state.name), position(spec.states, state.derivative_of)});
    }
  }
  const std::vector<Index> measured = measured_states(e, spec);
  check_state_ranges(e, measured);
  spec.C = ssm::emission_matrix(measured, static_cast<Index>(spec.states.size()));
  spec.x0_mean = empty_if_not_given(column(e.states, &StateEntry::start));
  spec.x0_sd = empty_if_not_given(column(e.states, &StateEntry::start_sd));
  spec.process_sd = empty_if_not_given(column(e.states, &StateEntry::process_sd));
  spec.output_sd = empty_if_not_given(column(e.outputs, &OutputEntry::noise_sd));
  spec.ranges.clear();
  add_ranges(e.inputs, spec);
  add_ranges(e.outputs, spec);
  add_ranges(e.states, spec);
  apply_knowledge(e, spec);
  apply_units(e, measured, spec.physics);
  config.input_units = texts(e.inputs, &InputEntry::unit);
  config.output_units = texts(e.outputs, &OutputEntry::unit);
  config.box = {column(e.inputs, &InputEntry::low), column(e.inputs, &InputEntry::high)};
  config.explore.slew = column(e.inputs, &InputEntry::slew);
  config.explore.safe = column(e.inputs, &InputEntry::safe);
  config.explore.safe = config.explore.safe.array().isNaN().select(0.0, config.explore.safe);
  config.explore.limits.low = column(e.outputs, &OutputEntry::limit_low);
  config.explore.limits.high = column(e.outputs, &OutputEntry::limit_high);
  config.explore.plausible = plausible_box(e, measured);
}

ConfigEntries entries_of(const StudyConfig& config) {
  const ssm::ModelSpec& spec = config.model;
  const auto unit = [](const Names& units, std::size_t i) { return i < units.size() ? units[i] : ""; };
  ConfigEntries e;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const auto p = static_cast<Index>(i);
    e.inputs.push_back({spec.inputs[i], unit(config.input_units, i), element(config.box.low, p, kNotGiven),
                        element(config.box.high, p, kNotGiven), element(config.explore.slew, p, kNoLimit),
                        element(config.explore.safe, p, kNotGiven), centre_of(spec, spec.inputs[i])});
  }
  std::set<Index> measured;
  for (std::size_t i = 0; i < spec.outputs.size(); ++i) {
    const auto row = static_cast<Index>(i);
    OutputEntry output{.name = spec.outputs[i], .unit = unit(config.output_units, i)};
    if (const Index state = measured_state(spec, row); state >= 0) {
      output.state = spec.states.at(static_cast<std::size_t>(state));
      measured.insert(state);
    }
    set_range(spec, output.name, output.low, output.high);
    output.noise_sd = element(spec.output_sd, row, kNotGiven);
    output.limit_low = element(config.explore.limits.low, row, -kNoLimit);
    output.limit_high = element(config.explore.limits.high, row, kNoLimit);
    output.plausible_low = element(config.explore.plausible.low, row, -kNoLimit);
    output.plausible_high = element(config.explore.plausible.high, row, kNoLimit);
    e.outputs.push_back(std::move(output));
  }
  for (std::size_t i = 0; i < spec.states.size(); ++i) {
    const auto d = static_cast<Index>(i);
    StateEntry state{.name = spec.states[i]};
    for (const ssm::DerivativeOf& k : spec.derivatives) {
      if (k.velocity == d) {
        state.derivative_of = spec.states.at(static_cast<std::size_t>(k.position));
      }
    }
    state.angle = std::ranges::find(spec.angles, state.name) != spec.angles.end();
    state.start = element(spec.x0_mean, d, kNotGiven);
    state.start_sd = element(spec.x0_sd, d, kNotGiven);
    state.process_sd = element(spec.process_sd, d, kNotGiven);
    // A range of an output's name is the output's.
    if (!measured.contains(d) && std::ranges::find(spec.outputs, state.name) == spec.outputs.end()) {
      set_range(spec, state.name, state.low, state.high);
    }
    state.centre = centre_of(spec, state.name);
    set_knowledge(spec, state);
    e.states.push_back(std::move(state));
  }
  return e;
}

}  // namespace gpilot::study
