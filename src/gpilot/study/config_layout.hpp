#pragma once

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/study/config.hpp"

/// The layout of a configuration, written down once: keys, what they mean, what they may be. Archives
/// (config_archives.hpp) read it from TOML, check it, and list it.
namespace gpilot::study {

inline constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();
inline constexpr Index kMostChannels = 16;  ///< inputs, and outputs
inline constexpr Index kMostSteps = 1000000;

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

/// What a number may be; all are finite and at most 1e12 in size.
enum class NumberRule { kAny, kPositive, kNotNegative, kSeconds };

struct Field {
  enum class Kind {
    kSetting,   ///< results depend on it
    kRequired,  ///< so, and there is no default
    kAside,     ///< results do not depend on it
  };

  const char* key;
  const char* meaning;    ///< one line
  const char* hint = "";  ///< a value to suggest where none is given, as TOML
  Kind kind = Kind::kSetting;
};

// Sections that may be repeated, as the file has them. A number that is NaN (slew and limits: infinite) and an empty
// text were not given.

struct InputEntry {
  std::string name = "", unit = "";
  double low = kNotGiven, high = kNotGiven, slew = kNoLimit, safe = kNotGiven;
};

struct OutputEntry {
  std::string name = "", unit = "", state = "";
  double low = kNotGiven, high = kNotGiven, noise_sd = kNotGiven;
  double limit_low = -kNoLimit, limit_high = kNoLimit;
};

struct StateEntry {
  std::string name = "", derivative_of = "";
  bool angle = false;
  double start = kNotGiven, start_sd = kNotGiven, process_sd = kNotGiven;
  double low = kNotGiven, high = kNotGiven;
};

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
  file.text({"name", "of the study (default: that of the file)", "", Kind::kAside}, c.name, 100);
  file.seed({"seed", "of all randomness"}, c.seed);
  file.number({"dt", "seconds from one measurement to the next", "", Kind::kRequired}, c.model.dt,
              NumberRule::kPositive);
  file.word({"strategy", "how controls are chosen; 'gpilot run --help' lists the strategies"}, c.strategy,
            acquisition::strategy_names());
  file.count({"initial", "measurements under random controls before the first choice"}, c.initial, 2, 10000);
  file.count({"steps", "controls to choose after them", "", Kind::kAside}, c.steps, 1, kMostSteps);
  file.count({"retrain_every", "steps between two trainings"}, c.retrain_every, 1, kMostSteps);
  file.number({"delta", "probability with which a plan may leave the limits of outputs, under the model"},
              c.limits.delta, NumberRule::kPositive);
  file.optional({"until_sd", "a run ends when the model's sd where it will be used falls below this (default: never)",
                 "0.05", Kind::kAside},
                c.until_sd, NumberRule::kPositive);
  file.count({"keep_models", "how many of the newest models the study keeps", "", Kind::kAside}, c.keep_models, 1,
             1000);
}

template <class Archive, class Entry>
void describe_input(Archive& file, Entry& e) {
  using Kind = Field::Kind;
  file.text({"name", "of its column", "", Kind::kRequired}, e.name, 60);
  file.text({"unit", "for reports", "\"V\"", Kind::kAside}, e.unit, 30);
  file.number({"low", "never less than this", "", Kind::kRequired}, e.low, NumberRule::kAny);
  file.number({"high", "never more than this", "", Kind::kRequired}, e.high, NumberRule::kAny);
  file.optional({"slew", "largest change from one step to the next (default: no limit)", "0.3"}, e.slew,
                NumberRule::kPositive);
  file.optional({"safe", "applied when something fails, and at the end (default: 0, if that is inside)", "0.0"}, e.safe,
                NumberRule::kAny);
}

template <class Archive, class Entry>
void describe_output(Archive& file, Entry& e) {
  using Kind = Field::Kind;
  file.text({"name", "of its column", "", Kind::kRequired}, e.name, 60);
  file.text({"unit", "for reports", "\"V\"", Kind::kAside}, e.unit, 30);
  file.optional({"low", "values are expected from here", "-1.0"}, e.low, NumberRule::kAny);
  file.optional({"high", "to here; others are fine (default: from the first measurements)", "1.0"}, e.high,
                NumberRule::kAny);
  file.text({"state", "which state it measures (default: the one of its name)", "\"x\""}, e.state, 60);
  file.optional({"noise_sd", "standard deviation of its noise (default: learned)", "0.01"}, e.noise_sd,
                NumberRule::kPositive);
  file.optional({"limit_low", "a plan that may fall below this is not chosen (default: no limit)", "-2.0"}, e.limit_low,
                NumberRule::kAny);
  file.optional({"limit_high", "nor one that may rise above this", "2.0"}, e.limit_high, NumberRule::kAny);
}

template <class Archive, class Entry>
void describe_state(Archive& file, Entry& e) {
  file.text({"name", "", "", Field::Kind::kRequired}, e.name, 60);
  file.text({"derivative_of", "the state whose rate of change this is, per second", "\"x\""}, e.derivative_of, 60);
  file.option({"angle", "whether it is an angle in radians, the same after a full turn", "true"}, e.angle);
  file.optional({"start", "its mean after a reset (default: the middle of the range)", "0.0"}, e.start,
                NumberRule::kAny);
  file.optional({"start_sd", "and its standard deviation (default: that of the range)", "0.1"}, e.start_sd,
                NumberRule::kNotNegative);
  file.optional({"process_sd", "noise of one step (default: learned)", "0.01"}, e.process_sd, NumberRule::kPositive);
  file.optional({"low", "values of a derivative that no output measures are expected from here", "-1.0"}, e.low,
                NumberRule::kAny);
  file.optional({"high", "to here (default: from the first measurements)", "1.0"}, e.high, NumberRule::kAny);
}

template <class Archive, class Model>
void describe_model(Archive& file, Model& m) {
  using gp::NodeRule;
  using ssm::MeanKind;
  file.choice({"kernel", "how smooth the dynamics are: se, matern52, matern32, matern12"}, m.kernel, kernels::kKinds);
  file.flag({"linear", "a linear part beside the kernel"}, m.linear_kernel);
  file.choice({"mean", "what the dynamics are without data: zero, identity (nothing moves), linear"}, m.mean,
              std::array{MeanKind::kZero, MeanKind::kIdentity, MeanKind::kLinear});
  file.count({"inducing", "inducing points; more take longer; 0 leaves the linear part alone"}, m.inducing, 0, 500);
  file.choice({"nodes", "expectations over states: auto, gauss-hermite, cubature3, cubature5, qmc, samples"}, m.nodes,
              std::array{NodeRule::kAuto, NodeRule::kGaussHermite, NodeRule::kCubature3, NodeRule::kCubature5,
                         NodeRule::kQuasiMonteCarlo, NodeRule::kSamples});
  file.count({"node_points", "their number; 0 = the rule's own"}, m.node_points, 0, 1000);
}

template <class Archive, class Config>
void describe_planning(Archive& file, Config& c) {
  auto& o = c.planning;
  file.count({"horizon", "controls planned ahead; 0 = ten values in all"}, o.horizon, 0, 200);
  file.count({"hold", "steps for which a planned control is held"}, o.hold, 1, 200);
  file.count({"commit", "controls of a plan that are applied before the next is made"}, o.commit, 1, 200);
  file.count({"evaluations", "plans tried for one decision"}, o.evaluations, 1, 1000000);
  file.number({"milliseconds", "at most this long for one decision; 0 = no clock"}, o.milliseconds,
              NumberRule::kNotNegative);
  file.count({"draws", "functions drawn from the model to plan under; 0 = its mean"}, o.draws, 0, 200);
  file.text({"region", "where the model will be used: \"y=-0.5:0.5, u=-1:1\"; \"\" = where its runs lead", "\"\""},
            c.region, 1000);
}

template <class Archive, class Options>
void describe_training(Archive& file, Options& o) {
  using inference::Method;
  file.choice({"method", "em (smoothing with quasi-Newton steps), lbfgs, adam"}, o.method,
              std::array{Method::kEm, Method::kLbfgs, Method::kAdam});
  file.count({"rounds", "rounds of smoothing and learning"}, o.rounds, 0, 1000);
  file.count({"e_steps", "smoothing steps in a round"}, o.e_steps, 1, 1000);
  file.count({"m_iterations", "learning steps in a round"}, o.m_iterations, 1, 1000);
  file.count({"polish", "joint steps at the end"}, o.polish, 1, 100000);
  file.count({"restarts", "different starts"}, o.restarts, 1, 100);
  file.count({"noise_path", "how often the process noise is cut in search of better predictions"}, o.noise_path, 0,
             100);
  file.count({"horizon", "steps ahead at which candidates are compared"}, o.horizon, 1, 1000);
  file.count({"epochs", "of adam"}, o.epochs, 1, 1000000);
  file.count({"samples", "of adam"}, o.samples, 1, 100000);
  file.number({"learning_rate", "of adam"}, o.learning_rate, NumberRule::kPositive);
  file.flag({"tied", "with adam: tie q(x) to the transition as the paper writes it"}, o.tied);
  file.count({"threads", "results do not depend on it", "", Field::Kind::kAside}, o.threads, 1, 256);
}

template <class Archive, class Rig>
void describe_rig(Archive& file, Rig& r) {
  using Kind = Field::Kind;
  file.text({"command", "starts the program that drives the rig", "\"python3 my_rig.py\"", Kind::kAside}, r.command,
            4000);
  file.number({"start_s", "seconds until it has answered", "", Kind::kAside}, r.start_s, NumberRule::kSeconds);
  file.number({"deadline_s", "seconds for a step, the measurement included", "", Kind::kAside}, r.deadline_s,
              NumberRule::kSeconds);
  file.number({"reset_s", "seconds for a reset", "", Kind::kAside}, r.reset_s, NumberRule::kSeconds);
  file.number({"close_s", "seconds to end", "", Kind::kAside}, r.close_s, NumberRule::kSeconds);
  file.count({"failures", "failed steps in a row after which the run ends", "", Kind::kAside}, r.failures, 1,
             kMostSteps);
}

/// All sections in the order of the file. `file.section(name, describe)` is called for those that stand alone,
/// `file.entries(name, list, describe)` for those that may be repeated.
template <class Archive, class Config, class Entries>
void describe_config(Archive& file, Config& c, Entries& e) {
  file.section("study", [&](auto& a) { describe_study(a, c); });
  file.entries("input", e.inputs, [](auto& a, auto& entry) { describe_input(a, entry); });
  file.entries("output", e.outputs, [](auto& a, auto& entry) { describe_output(a, entry); });
  file.entries("state", e.states, [](auto& a, auto& entry) { describe_state(a, entry); });
  file.section("model", [&](auto& a) { describe_model(a, c.model); });
  file.section("planning", [&](auto& a) { describe_planning(a, c); });
  file.section("training", [&](auto& a) { describe_training(a, c.fit); });
  file.section("rig", [&](auto& a) { describe_rig(a, c.rig); });
}

}  // namespace gpilot::study
