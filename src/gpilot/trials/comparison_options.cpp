#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/comparison.hpp"
#include "gpilot/trials/system_knowledge.hpp"

namespace gpilot::trials {

namespace {

/// A system as it is before the comparison changes anything about it.
std::unique_ptr<systems::System> plain_system(const ComparisonOptions& options, const std::string& name) {
  const auto own = std::ranges::find(options.own_systems, name, [](const auto& system) { return system->spec().name; });
  return own != options.own_systems.end() ? (*own)->clone() : systems::make_system(name);
}

/// Not empty, no name twice, all known to `make`, which throws.
void check_names(std::string_view field, const std::vector<std::string>& names,
                 const std::function<void(const std::string&)>& make) {
  if (names.empty()) {
    throw InputError(fmt::format("{}: none given, expected at least one", field));
  }
  for (auto name = names.begin(); name != names.end(); ++name) {
    make(*name);
    if (std::find(names.begin(), name, *name) != name) {
      throw InputError(fmt::format("{}: '{}' is named twice", field, *name));
    }
  }
}

void check_count(std::string_view field, Index value, Index lowest, Index highest) {
  if (value < lowest || value > highest) {
    throw InputError(fmt::format("{}: expected a whole number from {} to {}, not {}", field, lowest, highest, value));
  }
}

void check_box(const ComparisonOptions& options, const SystemBox& entry) {
  const std::vector<std::string>& systems = options.systems;
  if (std::ranges::find(systems, entry.system) == systems.end()) {
    throw InputError("box: " + unknown_name_message("system of the comparison", entry.system, systems));
  }
  plain_system(options, entry.system)->set_control_box(entry.box);
  for (Index i = 0; i < entry.box.low.size(); ++i) {
    if (entry.box.low(i) == entry.box.high(i)) {
      throw InputError(fmt::format("box of {}: [{}, {}] leaves nothing to choose, expected low < high", entry.system,
                                   entry.box.low(i), entry.box.high(i)));
    }
  }
}

/// Every limit must be one of at least one system.
void check_limits(const ComparisonOptions& options) {
  std::vector<std::string> known;
  for (const std::string& name : options.systems) {
    const auto system = compared_system(options, name);
    compared_limits(options, *system);  // throws for what makes no sense
    for (const std::string& output : systems::channel_names(system->spec().outputs)) {
      if (std::ranges::find(known, output) == known.end()) {
        known.push_back(output);
      }
    }
  }
  for (const plan::NamedLimit& limit : options.limits) {
    if (plan::limited_output(known, limit.output) < 0) {
      throw InputError("limit: " + unknown_name_message("output of these systems", limit.output, known));
    }
  }
}

void check_command(std::string_view field, const std::string& command) {
  if (command.find("{seed}") == std::string::npos) {
    throw InputError(
        fmt::format("{}: '{}' has no {{seed}}; expected one where the program takes the number that its "
                    "randomness depends on",
                    field, command));
  }
}

void check_rig(const ComparisonOptions& options) {
  const ComparedRig& rig = *options.rig;
  check_command("rig", rig.command);
  if (rig.tests.empty() == rig.test_rig.empty()) {
    throw InputError("tests: expected either a directory of recordings (tests) or a rig to measure them (test-rig)");
  }
  if (!rig.test_rig.empty()) {
    check_command("test-rig", rig.test_rig);
  }
  check_count("trials", options.trials, 1, ComparedRig::kMostTrials);
  if (options.explore.seed > ComparedRig::kLargestSeed) {
    throw InputError(fmt::format("seed: expected a whole number from 0 to {} for a rig, not {}",
                                 ComparedRig::kLargestSeed, options.explore.seed));
  }
  if (options.systems.size() != 1 || options.paper || options.angles || !options.knowledge.empty() ||
      options.observe_states || options.wide_tests || !options.boxes.empty() || !options.limits.empty()) {
    throw InputError(
        "rig: expected one name, and no paper, angles, knowledge, observe_states, wide_tests, boxes or limits: the "
        "configuration "
        "says what holds");
  }
  rig.config.model.validate();
  options.explore.validate(rig.config.model, rig.config.box);
}

}  // namespace

void ComparisonOptions::validate() const {
  if (!rig) {
    check_names("systems", systems, [this](const std::string& name) { plain_system(*this, name); });
  }
  check_names("strategies", strategies, [](const std::string& name) { plan::make_strategy(name); });
  constexpr Index kMost = 1'000'000;  // records of all trials are held in memory in the end
  explore.planning.validate();
  check_count("trials", trials, 1, kMost);
  check_count("steps", explore.steps, 1, kMost);
  check_count("initial", explore.initial, 2, kMost);
  check_count("retrain_every", explore.retrain_every, 1, kMost);
  if (rig) {
    check_rig(*this);
    return;
  }
  if (paper && angles) {
    throw InputError("angles: the paper's model knows none; expected no angles with it");
  }
  if (paper && !knowledge.empty()) {
    throw InputError("know: the paper's model is told nothing; expected nothing with it");
  }
  for (const std::string& name : systems) {
    ssm::ModelSpec spec;
    declare_knowledge(*plain_system(*this, name), knowledge, 0, 0, spec);  // throws
  }
  std::vector<std::string> seen;
  for (const SystemBox& entry : boxes) {
    check_box(*this, entry);
    if (std::ranges::find(seen, entry.system) != seen.end()) {
      throw InputError(fmt::format("box: {} has two", entry.system));
    }
    seen.push_back(entry.system);
  }
  check_limits(*this);
}

std::unique_ptr<systems::System> compared_system(const ComparisonOptions& options, const std::string& name) {
  std::unique_ptr<systems::System> system = plain_system(options, name);
  if (const auto given = std::ranges::find(options.boxes, name, &SystemBox::system); given != options.boxes.end()) {
    system->set_control_box(given->box);
  }
  if (options.observe_states) {
    system->observe_states();
  }
  return system;
}

plan::OutputLimits compared_limits(const ComparisonOptions& options, const systems::System& system) {
  const std::vector<std::string> outputs = systems::channel_names(system.spec().outputs);
  std::vector<plan::NamedLimit> own;
  std::ranges::copy_if(options.limits, std::back_inserter(own),
                       [&](const plan::NamedLimit& limit) { return plan::limited_output(outputs, limit.output) >= 0; });
  return own.empty() ? plan::OutputLimits{} : plan::make_limits(outputs, own, options.delta);
}

std::vector<ComparisonJob> comparison_jobs(const ComparisonOptions& options) {
  std::vector<ComparisonJob> jobs;
  for (const std::string& system : options.systems) {
    for (const std::string& strategy : options.strategies) {
      for (Index trial = 0; trial < options.trials; ++trial) {
        jobs.push_back({system, strategy, static_cast<std::uint32_t>(trial)});
      }
    }
  }
  return jobs;
}

}  // namespace gpilot::trials
