#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpilot/systems/system.hpp"
#include "options.hpp"

namespace gpilot::cli {
namespace {

using nlohmann::ordered_json;
using systems::Channel;
using systems::System;
using systems::SystemSpec;

struct SystemsOptions {
  std::vector<std::string> names;
  std::string variant = "corrected";
  Format format = Format::kText;
};

std::string with_unit(const Channel& channel) {
  return channel.unit.empty() ? channel.name : fmt::format("{} [{}]", channel.name, channel.unit);
}

/// "th [rad] in [-0.8, 0.8], ..": channels with their intervals.
std::string describe_intervals(const std::vector<Channel>& channels, const Box& box) {
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const auto k = static_cast<Index>(i);
    terms.push_back(fmt::format("{} in [{:.4g}, {:.4g}]", with_unit(channels[i]), box.low(k), box.high(k)));
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

std::string describe_states(const SystemSpec& spec) {
  std::vector<std::string> terms;
  for (const Channel& state : spec.states) {
    terms.push_back(with_unit(state));
  }
  for (const systems::DerivativeRelation& relation : spec.derivatives) {
    terms[static_cast<std::size_t>(relation.velocity)] +=
        fmt::format(" = d {}/dt", spec.states[static_cast<std::size_t>(relation.position)].name);
  }
  for (const Index angle : spec.angles) {
    terms[static_cast<std::size_t>(angle)] += " (an angle)";
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

/// "y_th [rad] measures th": every row of the emission has one state with factor 1.
std::string describe_outputs(const SystemSpec& spec) {
  std::vector<std::string> terms;
  for (std::size_t e = 0; e < spec.outputs.size(); ++e) {
    Index observed = 0;
    spec.emission.row(static_cast<Index>(e)).maxCoeff(&observed);
    terms.push_back(fmt::format("{} measures {}", with_unit(spec.outputs[e]),
                                spec.states[static_cast<std::size_t>(observed)].name));
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

std::string join(const Vector& values) {
  std::vector<std::string> terms;
  for (const double value : values) {
    terms.push_back(fmt::format("{:.4g}", value));
  }
  return fmt::format("{}", fmt::join(terms, ", "));
}

/// "g=9.81 m=0.1 ..", eight to a line.
std::string describe_parameters(const System& system) {
  constexpr std::size_t kPerLine = 8;
  constexpr std::string_view kNextLine = "\n              ";
  std::string text;
  std::size_t count = 0;
  for (const systems::Parameter& parameter : system.parameters()) {
    text += count == 0 ? "" : (count % kPerLine == 0 ? kNextLine : " ");
    text += fmt::format("{}={}", parameter.name, parameter.value);
    ++count;
  }
  return text;
}

void print_text(const System& system) {
  const SystemSpec& spec = system.spec();
  const auto line = [](std::string_view label, const std::string& text) { fmt::print("  {:<12}{}\n", label, text); };
  fmt::print("{}: {}\n", spec.name, spec.summary);
  line("states", describe_states(spec));
  line("controls", describe_intervals(spec.controls, spec.control_box));
  line("outputs", describe_outputs(spec));
  line("dt", system.is_map() ? "1 step (a map)" : fmt::format("{} s, {} integrator steps", spec.dt, spec.substeps));
  line("x0", fmt::format("mean {}; sd {}", join(spec.x0_mean), join(spec.x0_sd)));
  line("noise sd", fmt::format("process {}; output {}", join(spec.process_sd), join(spec.output_sd)));
  line("test region", describe_intervals(spec.states, spec.region));
  line("paper", fmt::format("kernel {}, variance {}, length scale {}, {} epochs", spec.paper.kernel,
                            spec.paper.initial_variance, spec.paper.initial_length_scale, spec.paper.epochs));
  line("parameters", describe_parameters(system));
}

ordered_json to_json(const Vector& values) {
  return std::vector<double>(values.begin(), values.end());
}

ordered_json to_json(const std::vector<Channel>& channels) {
  ordered_json list = ordered_json::array();
  for (const Channel& channel : channels) {
    list.push_back({{"name", channel.name}, {"unit", channel.unit}});
  }
  return list;
}

ordered_json to_json(const Box& box) {
  return {{"low", to_json(box.low)}, {"high", to_json(box.high)}};
}

ordered_json to_json(const System& system) {
  const SystemSpec& spec = system.spec();
  ordered_json emission = ordered_json::array();
  for (Index e = 0; e < system.output_dim(); ++e) {
    emission.push_back(to_json(Vector(spec.emission.row(e).transpose())));
  }
  ordered_json derivatives = ordered_json::object();
  for (const systems::DerivativeRelation& relation : spec.derivatives) {
    derivatives[spec.states[static_cast<std::size_t>(relation.velocity)].name] =
        spec.states[static_cast<std::size_t>(relation.position)].name;
  }
  ordered_json angles = ordered_json::array();
  for (const Index angle : spec.angles) {
    angles.push_back(spec.states[static_cast<std::size_t>(angle)].name);
  }
  ordered_json parameters = ordered_json::array();
  for (const systems::Parameter& p : system.parameters()) {
    parameters.push_back({{"name", p.name}, {"value", p.value}, {"unit", p.unit}, {"meaning", p.meaning}});
  }
  return {{"name", spec.name},
          {"summary", spec.summary},
          {"variant", systems::variant_name(system.variant())},
          {"map", system.is_map()},
          {"dt", spec.dt},
          {"substeps", spec.substeps},
          {"states", to_json(spec.states)},
          {"controls", to_json(spec.controls)},
          {"outputs", to_json(spec.outputs)},
          {"control_box", to_json(spec.control_box)},
          {"x0_mean", to_json(spec.x0_mean)},
          {"x0_sd", to_json(spec.x0_sd)},
          {"process_sd", to_json(spec.process_sd)},
          {"output_sd", to_json(spec.output_sd)},
          {"emission", emission},
          {"region", to_json(spec.region)},
          {"derivative_of", derivatives},
          {"angles", angles},
          {"paper",
           {{"kernel", spec.paper.kernel},
            {"variance", spec.paper.initial_variance},
            {"length_scale", spec.paper.initial_length_scale},
            {"epochs", spec.paper.epochs}}},
          {"parameters", parameters}};
}

void run_systems(const SystemsOptions& options) {
  const systems::Variant variant = systems::variant_from_name(options.variant);
  std::vector<std::unique_ptr<System>> list;
  for (const std::string& name : options.names.empty() ? systems::system_names() : options.names) {
    list.push_back(systems::make_system(name, variant));
  }
  if (options.format == Format::kJson) {
    ordered_json entries = ordered_json::array();
    for (const auto& system : list) {
      entries.push_back(to_json(*system));
    }
    fmt::print("{}\n", ordered_json{{"systems", entries}}.dump(2));
    return;
  }
  fmt::print(
      "Columns of a data file: t, then the controls and the outputs by name (and the states, with --with-states).\n");
  for (const auto& system : list) {
    fmt::print("\n");
    print_text(*system);
  }
}

}  // namespace

void add_systems(CLI::App& app) {
  const auto options = std::make_shared<SystemsOptions>();
  CLI::App* command = app.add_subcommand("systems", "list the simulated systems with dimensions, ranges, defaults");
  command->add_option("NAME", options->names, "systems to list (default: all)");
  command->add_option("--variant", options->variant, "equations: as corrected, or as the paper prints them")
      ->type_name("corrected|paper")
      ->capture_default_str();
  add_format(*command, options->format);
  command->footer(
      "Examples:\n"
      "  gpilot systems\n"
      "  gpilot systems tras --variant paper\n"
      "  gpilot systems --format json");
  command->callback([options] { run_systems(*options); });
}

}  // namespace gpilot::cli
