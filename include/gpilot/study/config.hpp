#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/explore/options.hpp"
#include "gpilot/rig/rig.hpp"
#include "gpilot/ssm/spec.hpp"

/// The configuration of a study: a TOML file that says what may be done to a rig, what is measured, and how gpilot
/// chooses and learns. docs/configuration.md explains every key.
namespace gpilot::study {

/// How the program that drives the rig is started and how long gpilot waits for it. Seconds.
struct RigSettings {
  std::string command;      ///< "" = given elsewhere, or no program: ask and tell by hand
  double start_s = 10.0;    ///< until it has answered hello
  double deadline_s = 2.0;  ///< for the answer to a step
  double reset_s = 10.0;    ///< for the answer to a reset
  double close_s = 2.0;     ///< from close to its end
  Index failures = 3;       ///< failed steps in a row after which the run ends
};

/// P inputs, E outputs, D states.
struct StudyConfig {
  std::string name;
  explore::ExploreOptions explore;                     ///< how controls are chosen, and what they must keep
  ssm::ModelSpec model;                                ///< user units; its ranges hold the box and the declared ranges
  Box box;                                             ///< [P]
  std::vector<std::string> input_units, output_units;  ///< [P], [E]; "" = none
  Index keep_models = 3;                               ///< newest models that the study keeps
  RigSettings rig;

  /// Throws InputError naming the key, e.g. "input.torque.safe: ..".
  void validate() const;
};

/// A configuration from the text of a file; `file` stands in messages, and gives the study its name where the text has
/// none. Throws InputError "FILE:LINE: input.torque.slew: ..", for TOML that cannot be read "FILE:LINE:COLUMN: ..".
StudyConfig parse_config(std::string_view toml, const std::string& file);
StudyConfig load_config(const std::string& path);

/// Every setting that results depend on, as ("input.torque.slew", "0.3"), in a fixed order. Left out: the rig, the
/// name, units, the number of steps, when to end, the number of kept models and of threads.
std::vector<std::pair<std::string, std::string>> settings_of(const StudyConfig& config);

/// What differs in a way that changes results, in words: "input.torque.slew: 0.3, was 0.5". Empty if nothing does.
std::vector<std::string> differences(const StudyConfig& now, const StudyConfig& before);

/// Which outputs [E] are not learned from, in words: "y = 1e+09 V is not plausible (-10 to 10 V)". "" if all are.
std::string implausible_words(const StudyConfig& config, VectorRef outputs);

/// The names that example_config() knows: the simulated systems and "blank".
std::vector<std::string> example_names();
/// A configuration file to start from, every key explained. Throws InputError for an unknown name, with the nearest
/// known one in its message.
std::string example_config(std::string_view example);
/// The same from what a rig declares (rig::Rig::describe()); `command` starts it. What is required and not declared is
/// left to fill in. Throws InputError for a rig that does not name its inputs and outputs.
std::string rig_config(const rig::RigTraits& traits, const std::string& command);

}  // namespace gpilot::study
