#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gpilot/core/suggest.hpp"
#include "gpilot/study/config_archives.hpp"
#include "gpilot/study/config_layout.hpp"
#include "gpilot/systems/system.hpp"

namespace gpilot::study {

namespace {

constexpr std::string_view kBlank = "blank";

/// What stands above a section.
const std::map<std::string_view, std::string_view> kTitles{
    {"study", "What to do."},
    {"input", "The controls that gpilot chooses, a section [[input]] for each, and the limits that it keeps."},
    {"output", "What is measured after every step, a section [[output]] for each."},
    {"state",
     "What the dynamics remember, a section [[state]] for each. Without any, the outputs are the states. A velocity\n"
     "# that is not measured is worth declaring: it is the derivative of its position."},
    {"model", "What is learned. The defaults suit most rigs."},
    {"planning", "How strategies that plan do it. The defaults suit most rigs."},
    {"training", "How it is learned. The defaults suit most rigs."},
    {"rig",
     "The program that drives the rig. It speaks the rig protocol: lines of JSON on its standard input and output."},
};

/// Keys about the function of a state, which a state that moves with its declared derivative has not.
constexpr std::array<std::string_view, 4> kOfFunctions{"depends_on", "symmetry", "control_affine", "coefficients"};

/// The entry that shows and explains a key: the first that may have it.
template <class Entry>
std::size_t shown_by(const std::vector<Entry>&, std::string_view) {
  return 0;
}

std::size_t shown_by(const std::vector<StateEntry>& states, std::string_view key) {
  if (std::ranges::find(kOfFunctions, key) == kOfFunctions.end()) {
    return 0;
  }
  const auto has_function = [&](const StateEntry& state) {
    return std::ranges::find(states, state.name, &StateEntry::derivative_of) == states.end();
  };
  return static_cast<std::size_t>(std::ranges::find_if(states, has_function) - states.begin());
}

/// Writes a configuration with a comment for every key. What was not given, and what hardly anybody changes, is
/// commented out.
class ExampleWriter {
 public:
  const std::string& text() const { return text_; }

  template <class Describe>
  void section(const char* name, Describe describe) {
    const bool as_is = name == std::string_view("model") || name == std::string_view("planning") ||
                       name == std::string_view("training");
    title(name);
    text_ += fmt::format("[{}]\n", name);
    ListArchive list;
    describe(list);
    for (const ListedField& listed : list.fields()) {
      line(listed, as_is || listed.value.empty(), true);
    }
  }

  template <class Entry, class Describe>
  void entries(const char* name, const std::vector<Entry>& entries, Describe describe) {
    title(name);
    for (std::size_t n = 0; n < entries.size(); ++n) {
      text_ += fmt::format("{}[[{}]]\n", n == 0 ? "" : "\n", name);
      ListArchive list;
      describe(list, entries[n]);
      for (const ListedField& listed : list.fields()) {
        const bool first = n == shown_by(entries, listed.field.key);
        if (first || !listed.value.empty() || listed.field.kind == Field::Kind::kRequired) {
          line(listed, listed.value.empty(), first);
        }
      }
    }
  }

 private:
  void title(const char* name) { text_ += fmt::format("\n# {}\n", kTitles.at(name)); }

  void line(const ListedField& listed, bool commented_out, bool explained) {
    const std::string value = listed.value.empty() ? listed.field.hint : listed.toml();
    const std::string setting = fmt::format("{}{} = {}", commented_out ? "# " : "", listed.field.key, value);
    if (commented_out && listed.field.kind == Field::Kind::kRequired) {
      text_ += fmt::format("{:<27} # TO FILL IN: {}\n", setting, listed.comment());
    } else if (const std::string comment = listed.comment(); explained && !comment.empty()) {
      text_ += fmt::format("{:<27} # {}\n", setting, comment);
    } else {
      text_ += setting + '\n';
    }
  }

  std::string text_;
};

struct Example {
  std::string title;
  StudyConfig config;
  ConfigEntries entries;
};

Example blank() {
  Example e{"a study of a rig of your own: change names, limits and dt", {}, {}};
  e.config.name = "my-rig";
  e.config.model.dt = 0.1;
  e.entries.inputs.push_back({.name = "u", .low = -1.0, .high = 1.0, .safe = 0.0});
  e.entries.outputs.push_back({.name = "y", .low = -1.0, .high = 1.0});
  e.entries.states.push_back({.name = "y"});
  return e;
}

/// The rig beside the examples speaks of the pendulum in words.
std::string word_for(const std::string& system, const std::string& name) {
  static const std::map<std::string, std::string> kPendulum{
      {"c", "torque"}, {"y_th", "angle"}, {"th", "angle"}, {"th_dot", "velocity"}};
  const auto found = kPendulum.find(name);
  return system == "pendulum" && found != kPendulum.end() ? found->second : name;
}

/// Four decimals are enough for a range or a start.
double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

/// What trials::model_spec tells a model of a simulated system, as a file says it.
Example of_system(const systems::SystemSpec& s) {
  Example e{s.summary, {}, {}};
  const auto word = [&s](const std::string& name) { return word_for(s.name, name); };
  e.config.name = s.name;
  e.config.model.dt = s.dt;
  for (std::size_t i = 0; i < s.controls.size(); ++i) {
    const double low = s.control_box.low(static_cast<Index>(i));
    const double high = s.control_box.high(static_cast<Index>(i));
    e.entries.inputs.push_back({.name = word(s.controls[i].name),
                                .unit = s.controls[i].unit,
                                .low = low,
                                .high = high,
                                .safe = std::clamp(0.0, low, high)});
  }
  std::vector<bool> measured(s.states.size(), false);
  for (std::size_t i = 0; i < s.outputs.size(); ++i) {
    Index state = 0;
    s.emission.row(static_cast<Index>(i)).maxCoeff(&state);
    const auto d = static_cast<std::size_t>(state);
    measured[d] = true;
    e.entries.outputs.push_back({.name = word(s.outputs[i].name),
                                 .unit = s.outputs[i].unit,
                                 .state = word(s.states[d].name),
                                 .low = rounded(s.region.low(state)),
                                 .high = rounded(s.region.high(state))});
  }
  for (std::size_t i = 0; i < s.states.size(); ++i) {
    const auto d = static_cast<Index>(i);
    e.entries.states.push_back(
        {.name = word(s.states[i].name), .start = rounded(s.x0_mean(d)), .start_sd = s.x0_sd(d)});
    if (!measured[i]) {
      e.entries.states.back().low = rounded(s.region.low(d));
      e.entries.states.back().high = rounded(s.region.high(d));
    }
  }
  for (const systems::DerivativeRelation& relation : s.derivatives) {
    e.entries.states[static_cast<std::size_t>(relation.velocity)].derivative_of =
        word(s.states[static_cast<std::size_t>(relation.position)].name);
  }
  return e;
}

double or_nothing(const std::optional<double>& value) {
  return value.value_or(kNotGiven);
}

/// What the rig leaves out is left out, not guessed: a guessed range is one that hardware may break at.
Example of_rig(const rig::RigTraits& traits, const std::string& command) {
  Example e{"from what the rig declares: look through it", {}, {}};
  e.config.model.dt = or_nothing(traits.dt);
  e.config.rig.command = command;
  for (const rig::DeclaredChannel& c : traits.inputs) {
    e.entries.inputs.push_back({.name = c.name,
                                .unit = c.unit,
                                .low = or_nothing(c.low),
                                .high = or_nothing(c.high),
                                .slew = c.slew.value_or(kNoLimit),
                                .safe = or_nothing(c.safe)});
  }
  for (const rig::DeclaredChannel& c : traits.outputs) {
    e.entries.outputs.push_back({.name = c.name, .unit = c.unit, .low = or_nothing(c.low), .high = or_nothing(c.high)});
    e.entries.states.push_back({.name = c.name});
  }
  return e;
}

std::string format_example(const Example& e) {
  ExampleWriter writer;
  describe_config(writer, e.config, e.entries);
  return fmt::format(
      "# A study of gpilot: {}.\n"
      "# 'gpilot check FILE.toml' says in words what a file means. A key that is commented out shows its default or "
      "an\n"
      "# example. docs/configuration.md explains every key. Values are in the units of the rig.\n{}",
      e.title, writer.text());
}

}  // namespace

std::vector<std::string> example_names() {
  std::vector<std::string> names = systems::system_names();
  names.emplace_back(kBlank);
  return names;
}

std::string example_config(std::string_view example) {
  const std::vector<std::string> known = example_names();
  if (std::ranges::find(known, example) == known.end()) {
    throw InputError(unknown_name_message("example", example, known));
  }
  return format_example(example == kBlank ? blank() : of_system(systems::make_system(example)->spec()));
}

std::string rig_config(const rig::RigTraits& traits, const std::string& command) {
  if (traits.inputs.empty() || traits.outputs.empty()) {
    throw InputError(
        fmt::format("the rig does not declare its {}: 'gpilot init FILE.toml' writes a file to fill in, or let the rig "
                    "answer hello with \"inputs\" and \"outputs\" (docs/rig-protocol.md)",
                    traits.inputs.empty() ? "inputs" : "outputs"));
  }
  return format_example(of_rig(traits, command));
}

}  // namespace gpilot::study
