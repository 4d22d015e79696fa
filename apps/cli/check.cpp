#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/study/config.hpp"
#include "options.hpp"

namespace gpilot::cli {

namespace {

using Json = nlohmann::ordered_json;
using study::StudyConfig;

struct CheckArguments {
  std::string file;
  Format format = Format::kText;
};

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

bool has(const Vector& values, Index i) {
  return i < values.size() && !std::isnan(values(i));
}

/// The state that an output of a configuration file measures.
Index state_of(const ssm::ModelSpec& spec, Index output) {
  Index state = 0;
  spec.C.row(output).maxCoeff(&state);
  return state;
}

/// The output that measures a state, if any.
std::optional<Index> output_of(const ssm::ModelSpec& spec, Index state) {
  for (Index e = 0; e < spec.C.rows(); ++e) {
    if (state_of(spec, e) == state) {
      return e;
    }
  }
  return std::nullopt;
}

const std::string& name_of(const std::vector<std::string>& names, Index i) {
  return names[static_cast<std::size_t>(i)];
}

std::string sd_words(const Vector& sd, Index i) {
  return has(sd, i) ? fmt::format("sd {}", sd(i)) : "learned";
}

void print_inputs(const StudyConfig& c) {
  fmt::print("Inputs (gpilot chooses them, always inside these limits)\n");
  for (Index p = 0; p < c.box.low.size(); ++p) {
    fmt::print("  {}: from {} to {}, {}, safe at {}\n",
               with_unit(name_of(c.model.inputs, p), name_of(c.input_units, p)), c.box.low(p), c.box.high(p),
               std::isinf(c.explore.slew(p)) ? "any change in a step"
                                             : fmt::format("changes by at most {} in a step", c.explore.slew(p)),
               c.explore.safe(p));
  }
}

/// ", kept from -1 to 2".
std::string limit_words(const plan::OutputLimits& limits, Index e) {
  std::string words;
  if (std::isfinite(limits.low(e))) {
    words += fmt::format(" above {}", limits.low(e));
  }
  if (std::isfinite(limits.high(e))) {
    words += fmt::format("{} below {}", words.empty() ? "" : " and", limits.high(e));
  }
  return words.empty() ? "" : fmt::format(", kept{} with probability {}", words, 1.0 - limits.delta);
}

std::string plausible_words(const Box& plausible, Index e) {
  return std::isfinite(plausible.low(e)) || std::isfinite(plausible.high(e))
             ? fmt::format("; not learned from outside {:.6g} to {:.6g}", plausible.low(e), plausible.high(e))
             : "";
}

void print_outputs(const StudyConfig& c) {
  fmt::print("Outputs (measured every {} s)\n", c.model.dt);
  for (Index e = 0; e < c.model.C.rows(); ++e) {
    const std::string& name = name_of(c.model.outputs, e);
    const ssm::Range* range = ssm::range_of(c.model, name);
    fmt::print("  {}: measures the state {}, expected {}, noise {}{}{}\n", with_unit(name, name_of(c.output_units, e)),
               name_of(c.model.states, state_of(c.model, e)),
               range != nullptr ? fmt::format("from {} to {}", range->low, range->high) : "anywhere",
               sd_words(c.model.output_sd, e), limit_words(c.explore.limits, e),
               plausible_words(c.explore.plausible, e));
  }
}

std::string state_words(const ssm::ModelSpec& spec, Index d) {
  std::string text = output_of(spec, d) ? "measured" : "not measured";
  for (const ssm::DerivativeOf& k : spec.derivatives) {
    if (k.velocity == d) {
      text += fmt::format(", the derivative of {}", name_of(spec.states, k.position));
    }
  }
  if (std::ranges::find(spec.angles, name_of(spec.states, d)) != spec.angles.end()) {
    text += ", an angle";
  }
  const ssm::Range* range = output_of(spec, d) ? nullptr : ssm::range_of(spec, name_of(spec.states, d));
  if (range != nullptr) {
    text += fmt::format(", expected from {} to {}", range->low, range->high);
  }
  const std::string start = has(spec.x0_mean, d) ? fmt::format("{}", spec.x0_mean(d)) : "the middle of its range";
  const std::string sd = has(spec.x0_sd, d) ? fmt::format("{}", spec.x0_sd(d)) : "that of its range";
  return text +
         fmt::format("; after a reset at {}, sd {}; noise of a step {}", start, sd, sd_words(spec.process_sd, d));
}

void print_states(const ssm::ModelSpec& spec) {
  fmt::print("States\n");
  for (Index d = 0; d < static_cast<Index>(spec.states.size()); ++d) {
    fmt::print("  {}: {}\n", name_of(spec.states, d), state_words(spec, d));
  }
}

std::string strategy_summary(const std::string& name) {
  for (const plan::StrategyInfo& info : plan::strategies()) {
    if (info.name == name) {
      return info.summary;
    }
  }
  return "";
}

void print_plan(const StudyConfig& c) {
  const Index total = c.explore.initial + c.explore.steps;
  fmt::print("Plan\n  {} measurements under random controls, then {} under controls chosen by {}:\n  {}\n",
             c.explore.initial, c.explore.steps, c.explore.strategy, strategy_summary(c.explore.strategy));
  fmt::print("  {} measurements, {:.6g} s of the rig's time; seed {}\n", total, static_cast<double>(total) * c.model.dt,
             c.explore.seed);
  if (!std::isnan(c.explore.until_sd)) {
    fmt::print("  ends when the model's standard deviation where it will be used is below {}\n", c.explore.until_sd);
  }
  fmt::print("  trained after {}; the newest {} model(s) are kept\n",
             c.explore.retrain_every == 1 ? "every step" : fmt::format("every {} steps", c.explore.retrain_every),
             c.keep_models);
}

void print_model(const StudyConfig& c) {
  const ssm::ModelSpec& m = c.model;
  fmt::print("Model\n  kernel {}{}, mean {}, up to {} inducing points, nodes {}\n", kernels::name(m.kernel),
             m.linear_kernel ? " plus linear" : "", ssm::name(m.mean), m.inducing, gp::name(m.nodes));
  fmt::print("  training {}, {} rounds, {} start(s), {} thread(s)\n", inference::name(c.explore.fit.method),
             c.explore.fit.rounds, c.explore.fit.restarts, c.explore.fit.threads);
}

void print_rig(const study::RigSettings& rig) {
  fmt::print("Rig\n  {}\n", rig.command.empty() ? "no command: give 'gpilot run --rig', or ask and tell by hand"
                                                : "started by: " + rig.command);
  fmt::print("  waits {} s for its start, {} s for a step, {} s for a reset, {} s for its end\n", rig.start_s,
             rig.deadline_s, rig.reset_s, rig.close_s);
  fmt::print("  ends after {} failed step(s) in a row\n", rig.failures);
}

/// Settings that have no effect beside the others.
std::vector<std::string> ignored_settings(const StudyConfig& c) {
  std::vector<std::string> notes;
  const auto note = [&notes](bool ignored, const char* keys, const std::string& why) {
    if (ignored) {
      notes.push_back(fmt::format("{}: without effect: {}", keys, why));
    }
  };
  const explore::ExploreOptions& e = c.explore;
  const std::vector<plan::StrategyInfo>& strategies = plan::strategies();
  const auto strategy = std::ranges::find(strategies, e.strategy, &plan::StrategyInfo::name);
  const bool known = strategy != strategies.end();
  const std::string chosen = fmt::format("the strategy is {}", e.strategy);
  note(known && !strategy->plans && !e.limits.any() && e.planning != plan::PlanningOptions{}, "planning",
       chosen + ", which does not plan");
  note(known && !strategy->reference_sd && !e.region.empty(), "planning.region",
       chosen + ", which does not ask where the model will be used");
  note(!e.limits.any() && e.limits.delta != plan::OutputLimits{}.delta, "study.delta", "no output has limits");
  const inference::FitOptions usual;
  const bool adam = e.fit.method == inference::Method::kAdam;
  const std::string method = fmt::format("the method is {}", inference::name(e.fit.method));
  note(!adam && (e.fit.epochs != usual.epochs || e.fit.samples != usual.samples ||
                 e.fit.learning_rate != usual.learning_rate),
       "training.epochs, samples, learning_rate", method);
  note(e.fit.method != inference::Method::kEm &&
           (e.fit.rounds != usual.rounds || e.fit.e_steps != usual.e_steps || e.fit.m_iterations != usual.m_iterations),
       "training.rounds, e_steps, m_iterations", method);
  note(adam && (e.fit.restarts != usual.restarts || e.fit.noise_path != usual.noise_path),
       "training.restarts, noise_path", method);
  return notes;
}

/// What is allowed, but seldom meant.
std::vector<std::string> notes_on(const StudyConfig& c) {
  std::vector<std::string> notes = ssm::physics_notes(c.model);
  std::ranges::move(ignored_settings(c), std::back_inserter(notes));
  for (const std::string& output : c.model.outputs) {
    if (ssm::range_of(c.model, output) == nullptr) {
      notes.push_back(
          fmt::format("output.{}: without low and high, scales come from the first few measurements", output));
    }
  }
  for (Index p = 0; p < c.explore.slew.size(); ++p) {
    const double crossing = (c.box.high(p) - c.box.low(p)) / c.explore.slew(p);
    if (crossing > static_cast<double>(c.explore.initial + c.explore.steps)) {
      notes.push_back(
          fmt::format("input.{}: with this slew it takes {:.0f} steps to cross the range, more than the study has",
                      name_of(c.model.inputs, p), std::ceil(crossing)));
    }
  }
  for (std::size_t e = 0; e < c.model.outputs.size(); ++e) {
    const auto i = static_cast<Index>(e);
    const Index state = state_of(c.model, i);
    if (has(c.model.x0_mean, state) &&
        (c.model.x0_mean(state) < c.explore.limits.low(i) || c.model.x0_mean(state) > c.explore.limits.high(i))) {
      notes.push_back(fmt::format("output.{}: after a reset it is outside its limits", c.model.outputs[e]));
    }
  }
  if (const std::string wrong = plan::no_reference_sd(c.explore.strategy);
      !std::isnan(c.explore.until_sd) && !wrong.empty()) {
    notes.push_back(fmt::format("study.until_sd: no run can begin: {}", wrong));
  }
  if (c.rig.deadline_s < c.model.dt) {
    notes.push_back(fmt::format("rig.deadline_s: {} s are less than dt, {} s: a rig that answers after dt is too late",
                                c.rig.deadline_s, c.model.dt));
  }
  return notes;
}

void print_text(const std::string& file, const StudyConfig& c) {
  fmt::print("{} is a valid configuration of the study '{}'\n", file, c.name);
  print_inputs(c);
  print_outputs(c);
  print_states(c.model);
  print_plan(c);
  print_model(c);
  print_rig(c.rig);
  const std::vector<std::string> notes = notes_on(c);
  if (!notes.empty()) {
    fmt::print("Notes\n");
  }
  for (const std::string& note : notes) {
    fmt::print("  {}\n", note);
  }
}

Json number_or_null(const Vector& values, Index i) {
  return has(values, i) && std::isfinite(values(i)) ? Json(values(i)) : Json();
}

Json range_json(const ssm::Range* range) {
  return range == nullptr ? Json() : Json{{"low", range->low}, {"high", range->high}};
}

Json channels_json(const StudyConfig& c) {
  Json inputs = Json::array();
  for (Index p = 0; p < c.box.low.size(); ++p) {
    inputs.push_back({{"name", name_of(c.model.inputs, p)},
                      {"unit", name_of(c.input_units, p)},
                      {"low", c.box.low(p)},
                      {"high", c.box.high(p)},
                      {"slew", number_or_null(c.explore.slew, p)},
                      {"safe", c.explore.safe(p)}});
  }
  Json outputs = Json::array();
  for (Index e = 0; e < c.model.C.rows(); ++e) {
    const std::string& name = name_of(c.model.outputs, e);
    outputs.push_back({{"name", name},
                       {"unit", name_of(c.output_units, e)},
                       {"state", name_of(c.model.states, state_of(c.model, e))},
                       {"range", range_json(ssm::range_of(c.model, name))},
                       {"noise_sd", number_or_null(c.model.output_sd, e)},
                       {"limit_low", number_or_null(c.explore.limits.low, e)},
                       {"limit_high", number_or_null(c.explore.limits.high, e)},
                       {"plausible_low", number_or_null(c.explore.plausible.low, e)},
                       {"plausible_high", number_or_null(c.explore.plausible.high, e)}});
  }
  Json states = Json::array();
  for (Index d = 0; d < static_cast<Index>(c.model.states.size()); ++d) {
    Json derivative_of;
    for (const ssm::DerivativeOf& k : c.model.derivatives) {
      derivative_of = k.velocity == d ? Json(name_of(c.model.states, k.position)) : derivative_of;
    }
    states.push_back(
        {{"name", name_of(c.model.states, d)},
         {"derivative_of", derivative_of},
         {"angle", std::ranges::find(c.model.angles, name_of(c.model.states, d)) != c.model.angles.end()},
         {"measured", output_of(c.model, d).has_value()},
         {"start", number_or_null(c.model.x0_mean, d)},
         {"start_sd", number_or_null(c.model.x0_sd, d)},
         {"process_sd", number_or_null(c.model.process_sd, d)},
         {"range", output_of(c.model, d) ? Json() : range_json(ssm::range_of(c.model, name_of(c.model.states, d)))}});
  }
  return {{"inputs", inputs}, {"outputs", outputs}, {"states", states}};
}

void print_json(const std::string& file, const StudyConfig& c) {
  Json settings = Json::object();
  for (const auto& [key, value] : study::settings_of(c)) {
    settings[key] = value;
  }
  Json json = {{"file", file},
               {"name", c.name},
               {"seed", c.explore.seed},
               {"dt", c.model.dt},
               {"strategy", c.explore.strategy},
               {"initial", c.explore.initial},
               {"steps", c.explore.steps},
               {"retrain_every", c.explore.retrain_every},
               {"keep_models", c.keep_models},
               {"delta", c.explore.limits.delta},
               {"until_sd", std::isnan(c.explore.until_sd) ? Json() : Json(c.explore.until_sd)}};
  json.update(channels_json(c));
  json["rig"] = {{"command", c.rig.command}, {"start_s", c.rig.start_s}, {"deadline_s", c.rig.deadline_s},
                 {"reset_s", c.rig.reset_s}, {"close_s", c.rig.close_s}, {"failures", c.rig.failures}};
  json["settings"] = settings;
  json["notes"] = notes_on(c);
  fmt::print("{}\n", json.dump(2));
}

void run_check(const CheckArguments& arguments) {
  const StudyConfig config = study::load_config(arguments.file);
  if (arguments.format == Format::kJson) {
    print_json(arguments.file, config);
  } else {
    print_text(arguments.file, config);
  }
}

}  // namespace

void add_check(CLI::App& app) {
  const auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = app.add_subcommand("check", "validate the configuration of a study and say what it means");
  command->add_option("FILE", arguments->file, "configuration; 'gpilot init' writes one")
      ->required()
      ->type_name("FILE.toml");
  add_format(*command, arguments->format);
  command->footer(
      "An error names the file, the line, the key and what was expected; the exit code is then 2. "
      "docs/configuration.md\n"
      "explains every key. Examples:\n"
      "  gpilot check pendulum.toml\n"
      "  gpilot check pendulum.toml --format json");
  command->callback([arguments] { run_check(*arguments); });
}

}  // namespace gpilot::cli
