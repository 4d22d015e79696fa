#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpilot/study/config_checks.hpp"

namespace gpilot::study {

namespace {

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
