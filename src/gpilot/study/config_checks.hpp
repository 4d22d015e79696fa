#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/ssm/spec.hpp"
#include "gpilot/study/config_archives.hpp"
#include "gpilot/study/config_layout.hpp"

/// What the sections of inputs, outputs and states must obey, and how they refer to each other.
namespace gpilot::study {

using Names = std::vector<std::string>;

template <class Entries>
Names names(const Entries& entries) {
  Names result;
  for (const auto& entry : entries) {
    result.push_back(entry.name);
  }
  return result;
}

inline Index position(const Names& list, std::string_view name) {
  return std::ranges::find(list, name) - list.begin();
}

/// An entry's key, for errors.
template <class Entry>
KeyPath at(const char* section, const std::vector<Entry>& entries, const Entry& entry, const char* key) {
  return {section, &entry - entries.data(), entry.name, key};
}

/// The state that each output measures. Throws ConfigError where one does not find its state.
std::vector<Index> measured_states(const ConfigEntries& e, const ssm::ModelSpec& spec);

/// A range says how a state is scaled, which is free where no output measures it.
void check_state_ranges(const ConfigEntries& e, const std::vector<Index>& measured);

}  // namespace gpilot::study
