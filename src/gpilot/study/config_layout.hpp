#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/options/layout.hpp"
#include "gpilot/study/config.hpp"

/// The layout of a configuration: which options (options/layout.hpp) stand in which section, and the sections that only
/// a file has. Archives (config_archives.hpp) read it from TOML, check it, and list it.
namespace gpilot::study {

using options::Field;
using options::NumberRule;

inline constexpr double kNotGiven = kNaN;
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();
inline constexpr Index kMostChannels = 16;  ///< inputs, and outputs

/// Where a value stands: "input.torque.slew", or "study.dt".
struct KeyPath {
  std::string section;
  Index entry = -1;  ///< which [[section]], from 0; -1 for a section that stands alone
  std::string name;  ///< of the entry; may be ""
  std::string key;   ///< "" = the section itself

  std::string text() const;
};

/// An error that knows its key, so that the reader of a file can add the line.
class ConfigError : public InputError {
 public:
  ConfigError(KeyPath at, const std::string& reason);
  const KeyPath& path() const { return path_; }

 private:
  KeyPath path_;
};

// Sections that may be repeated, as the file has them. A number that is NaN (slew and limits: infinite) and an empty
// text were not given.

struct InputEntry {
  std::string name = "", unit = "";
  double low = kNotGiven, high = kNotGiven, slew = kNoLimit, safe = kNotGiven;
  double centre = kNotGiven;
};

struct OutputEntry {
  std::string name = "", unit = "", state = "";
  double low = kNotGiven, high = kNotGiven, noise_sd = kNotGiven;
  double limit_low = -kNoLimit, limit_high = kNoLimit;
  double plausible_low = kNotGiven, plausible_high = kNotGiven;
};

struct StateEntry {
  std::string name = "", derivative_of = "";
  bool angle = false;
  double start = kNotGiven, start_sd = kNotGiven, process_sd = kNotGiven;
  double low = kNotGiven, high = kNotGiven;
  bool cyclic = false;
  std::vector<std::string> depends_on = {};
  std::string symmetry = "";
  double centre = kNotGiven;
  bool control_affine = false;
  std::vector<std::pair<std::string, double>> coefficients = {};
};

inline constexpr const char* kOdd = "odd";

struct ConfigEntries {
  std::vector<InputEntry> inputs;
  std::vector<OutputEntry> outputs;
  std::vector<StateEntry> states;
};

/// What a configuration says about its channels.
ConfigEntries entries_of(const StudyConfig& config);
/// Throws ConfigError for names, ranges and references that make no sense.
void check_entries(const ConfigEntries& entries);
/// The other direction, with defaults filled in. Throws ConfigError where an output does not find its state.
void apply_entries(const ConfigEntries& entries, StudyConfig& config);

template <class Archive, class Config>
void describe_study(Archive& file, Config& c) {
  using Kind = Field::Kind;
  file.text({.key = "name",
             .meaning = "of the study, for reports",
             .kind = Kind::kAside,
             .option = options::kNoOption,
             .otherwise = "that of the file"},
            c.name, 100);
  file.number({.key = "dt",
               .meaning = "seconds from one measurement to the next",
               .kind = Kind::kRequired,
               .unit = "s",
               .option = options::kNoOption,
               .more = "A control holds for so long"},
              c.model.dt, NumberRule::kPositive);
  options::describe_exploring(file, c.explore);
  file.count({.key = "keep_models",
              .meaning = "how many of the newest models the study keeps",
              .kind = Kind::kAside,
              .option = options::kNoOption},
             c.keep_models, 1, 1000);
}

template <class Archive, class Entry>
void describe_input(Archive& file, Entry& e) {
  using Kind = Field::Kind;
  file.text({.key = "name",
             .meaning = "of its column",
             .kind = Kind::kRequired,
             .more = "Not `t`, and no other input, output or state has it"},
            e.name, 60);
  file.text({.key = "unit", .meaning = "for reports", .hint = "\"V\"", .kind = Kind::kAside}, e.unit, 30);
  file.number({.key = "low", .meaning = "never less than this", .kind = Kind::kRequired}, e.low, NumberRule::kAny);
  file.number({.key = "high", .meaning = "never more than this", .kind = Kind::kRequired}, e.high, NumberRule::kAny);
  file.optional(
      {.key = "slew", .meaning = "largest change from one step to the next", .hint = "0.3", .otherwise = "no limit"},
      e.slew, NumberRule::kPositive);
  file.optional({.key = "safe",
                 .meaning = "applied when something fails, and at the end",
                 .hint = "0.0",
                 .otherwise = "0, if that is inside",
                 .more = "Inside the limits"},
                e.safe, NumberRule::kAny);
  file.optional({.key = "centre",
                 .meaning = "where functions with symmetry = \"odd\" have their centre",
                 .hint = "0.0",
                 .otherwise = "0"},
                e.centre, NumberRule::kAny);
}

template <class Archive, class Entry>
void describe_output(Archive& file, Entry& e) {
  using Kind = Field::Kind;
  file.text({.key = "name", .meaning = "of its column", .kind = Kind::kRequired, .more = "Not `t`"}, e.name, 60);
  file.text({.key = "unit", .meaning = "for reports", .hint = "\"V\"", .kind = Kind::kAside}, e.unit, 30);
  file.optional({.key = "low",
                 .meaning = "values are expected from here",
                 .hint = "-1.0",
                 .otherwise = "from the first measurements",
                 .more = "`low` and `high` set the scales of the model; values outside are fine. Worth giving: the "
                         "first few measurements say little about the rest"},
                e.low, NumberRule::kAny);
  file.optional(
      {.key = "high", .meaning = "to here; others are fine", .hint = "1.0", .otherwise = "from the first measurements"},
      e.high, NumberRule::kAny);
  file.text({.key = "state",
             .meaning = "which state it measures",
             .hint = "\"x\"",
             .otherwise = "the one of its name",
             .more = "See below"},
            e.state, 60);
  file.optional(
      {.key = "noise_sd", .meaning = "standard deviation of its noise", .hint = "0.01", .otherwise = "learned"},
      e.noise_sd, NumberRule::kPositive);
  file.optional({.key = "limit_low",
                 .meaning = "a plan that may fall below this is not chosen",
                 .hint = "-2.0",
                 .otherwise = "no limit",
                 .more = "One of the two alone is fine. See below"},
                e.limit_low, NumberRule::kAny);
  file.optional(
      {.key = "limit_high", .meaning = "nor one that may rise above this", .hint = "2.0", .otherwise = "no limit"},
      e.limit_high, NumberRule::kAny);
  file.optional({.key = "plausible_low",
                 .meaning = "a value below this is kept, but not learned from",
                 .hint = "-10.0",
                 .kind = Kind::kAside,
                 .otherwise = "ten times the range",
                 .more = "A spike of the sensor, not a value outside `low` and `high`. Without them ten times their "
                         "range, around its middle; none where no range is given or the state is an angle. See below"},
                e.plausible_low, NumberRule::kAny);
  file.optional({.key = "plausible_high",
                 .meaning = "nor one above this",
                 .hint = "10.0",
                 .kind = Kind::kAside,
                 .otherwise = "ten times the range"},
                e.plausible_high, NumberRule::kAny);
}

/// What is known about a state's function (docs/knowledge.md).
template <class Archive, class Entry>
void describe_knowledge(Archive& file, Entry& e) {
  file.option({.key = "cyclic",
               .meaning = "whether the dynamics do not depend on it, as on a cart's position",
               .hint = "true",
               .more = "No learned function has it among its inputs ([knowledge](knowledge.md))"},
              e.cyclic);
  file.texts({.key = "depends_on",
              .meaning = "the states and inputs that its change depends on, and no others",
              .hint = "[\"x\", \"u\"]",
              .otherwise = "all of them"},
             e.depends_on);
  file.text({.key = "symmetry",
             .meaning = "\"odd\": its change is the opposite where all states and inputs are",
             .hint = "\"odd\"",
             .more = "About the `centre` of each state and input"},
            e.symmetry, 20);
  file.optional({.key = "centre",
                 .meaning = "where functions with symmetry = \"odd\" have their centre",
                 .hint = "0.0",
                 .otherwise = "0"},
                e.centre, NumberRule::kAny);
  file.option({.key = "control_affine",
               .meaning = "whether its change is a(x) + B(x) u: linear in the inputs where the states are the same",
               .hint = "true"},
              e.control_affine);
  file.numbers({.key = "coefficients",
                .meaning = "known weights of its next value, which the named states and inputs have alone",
                .hint = "{ u = 0.5 }"},
               e.coefficients);
}

template <class Archive, class Entry>
void describe_state(Archive& file, Entry& e) {
  file.text({.key = "name", .kind = Field::Kind::kRequired}, e.name, 60);
  file.text({.key = "derivative_of",
             .meaning = "the state whose rate of change this is, per second",
             .hint = "\"x\"",
             .more = "It spares the model half of what it would have to learn"},
            e.derivative_of, 60);
  file.option({.key = "angle",
               .meaning = "whether it is an angle in radians, the same after a full turn",
               .hint = "true",
               .more = "What is learned on one turn then holds on all, and measurements may jump by a turn. Not for a "
                       "derivative; `[model]` keeps `mean = \"identity\"`. An angle must move less than half a turn "
                       "from one measurement to the next"},
              e.angle);
  file.optional(
      {.key = "start", .meaning = "its mean after a reset", .hint = "0.0", .otherwise = "the middle of the range"},
      e.start, NumberRule::kAny);
  file.optional(
      {.key = "start_sd", .meaning = "and its standard deviation", .hint = "0.1", .otherwise = "that of the range"},
      e.start_sd, NumberRule::kNotNegative);
  file.optional({.key = "process_sd", .meaning = "noise of one step", .hint = "0.01", .otherwise = "learned"},
                e.process_sd, NumberRule::kPositive);
  file.optional({.key = "low",
                 .meaning = "values of a state that nobody measures are expected from here",
                 .hint = "-1.0",
                 .otherwise = "first measurements",
                 .more = "The range of a measured state is its output's. Without it a state that is not a derivative "
                         "either is taken to be of size 1"},
                e.low, NumberRule::kAny);
  file.optional({.key = "high", .meaning = "to here", .hint = "1.0", .otherwise = "from the first measurements"},
                e.high, NumberRule::kAny);
  describe_knowledge(file, e);
}

template <class Archive, class Rig>
void describe_rig(Archive& file, Rig& r) {
  using Kind = Field::Kind;
  const auto wait = [&file](const char* key, const char* meaning, auto& seconds) {
    file.number({.key = key, .meaning = meaning, .kind = Kind::kAside, .unit = "s"}, seconds, NumberRule::kSeconds);
  };
  file.text({.key = "command",
             .meaning = "starts the program that drives the rig",
             .hint = "\"python3 my_rig.py\"",
             .kind = Kind::kAside,
             .more = "`gpilot run --rig` overrides it"},
            r.command, 4000);
  wait("start_s", "seconds until it has answered", r.start_s);
  wait("deadline_s", "seconds for a step, the measurement included", r.deadline_s);
  wait("reset_s", "seconds for a reset", r.reset_s);
  wait("close_s", "seconds to end", r.close_s);
  file.count({.key = "failures", .meaning = "failed steps in a row after which the run ends", .kind = Kind::kAside},
             r.failures, 1, options::kMostSteps);
}

/// All sections in the order of the file. `file.section(name, describe)` is called for those that stand alone,
/// `file.entries(name, list, describe)` for those that may be repeated.
template <class Archive, class Config, class Entries>
void describe_config(Archive& file, Config& c, Entries& e) {
  file.section("study", [&](auto& a) { describe_study(a, c); });
  file.entries("input", e.inputs, [](auto& a, auto& entry) { describe_input(a, entry); });
  file.entries("output", e.outputs, [](auto& a, auto& entry) { describe_output(a, entry); });
  file.entries("state", e.states, [](auto& a, auto& entry) { describe_state(a, entry); });
  file.section("model", [&](auto& a) { options::describe_dynamics(a, c.model); });
  file.section("planning", [&](auto& a) {
    options::describe_planning(a, c.explore.planning);
    options::describe_region(a, c.explore.region);
  });
  file.section("training", [&](auto& a) { options::describe_training(a, c.explore.fit); });
  file.section("rig", [&](auto& a) { describe_rig(a, c.rig); });
}

}  // namespace gpilot::study
