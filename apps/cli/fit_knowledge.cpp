#include <fmt/format.h>

#include <algorithm>

#include "fit_arguments.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/study/config_physics.hpp"

namespace gpilot::cli {

namespace {

using Names = std::vector<std::string>;

/// "a,b" given once or several times.
Names all_names(std::string_view option, const Names& texts) {
  Names names;
  for (const std::string& text : texts) {
    for (std::string& name : split_names(option, text)) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

void parse_depends_on(const Names& texts, ssm::ModelSpec& spec) {
  for (const std::string& text : texts) {
    auto [state, names] = split_assignment("--depends-on", text, "STATE=NAME,..");
    spec.depends_on.push_back({state, split_names("--depends-on", names)});
  }
}

void parse_centres(const Names& texts, ssm::ModelSpec& spec) {
  for (const std::string& part : all_names("--centre", texts)) {
    const auto [name, value] = split_assignment("--centre", part, "NAME=VALUE");
    spec.centres.push_back({name, parse_number("--centre", value)});
  }
}

void parse_coefficients(const Names& texts, ssm::ModelSpec& spec) {
  constexpr std::string_view kForm = "STATE:NAME=VALUE";
  for (const std::string& part : all_names("--coefficient", texts)) {
    const auto [pair, value] = split_assignment("--coefficient", part, kForm);
    const std::size_t colon = pair.find(':');
    if (colon == 0 || colon == std::string::npos || colon + 1 == pair.size()) {
      throw InputError(fmt::format("--coefficient: expected {}, not '{}'", kForm, part));
    }
    spec.coefficients.push_back({pair.substr(0, colon), pair.substr(colon + 1), parse_number("--coefficient", value)});
  }
}

}  // namespace

void add_knowledge_options(CLI::App& command, FitArguments& a) {
  const auto repeated = [&](const char* option, Names& values, const char* type, const char* help) {
    command.add_option(option, values, help)->type_name(type)->allow_extra_args(false);
    a.of_declared.emplace_back(option);
  };
  repeated("--cyclic", a.cyclic, "STATE,..", "no learned function depends on the state, as on a cart's position");
  repeated("--depends-on", a.depends_on, "STATE=NAME,..",
           "the change of the state depends on these states and inputs alone; may be repeated");
  repeated("--odd", a.odd, "STATE,..", "the change of the state is the opposite where all states and inputs are");
  repeated("--centre", a.centres, "NAME=VALUE,..", "the value about which it is odd (default: 0)");
  repeated("--control-affine", a.control_affine, "STATE,..", "the change of the state is a(x) + B(x) u");
  repeated("--coefficient", a.coefficients, "STATE:NAME=VALUE,..",
           "the next value of the state has this known weight of NAME, which enters in no other way");
  command.add_option("--physics", a.physics, "formulas with unknown parameters: the section [physics] of this file")
      ->type_name("FILE.toml");
  a.of_declared.emplace_back("--physics");
  command.add_flag("--suggest", a.suggest,
                   "try what could be declared, one thing at a time, and print what the data say; the model is as "
                   "declared");
  a.of_declared.emplace_back("--suggest");
}

void parse_knowledge(const FitArguments& a, ssm::ModelSpec& spec) {
  const auto replace = [&](const char* option, auto& list) {
    if (a.given(option)) {
      list.clear();
    }
  };
  replace("--cyclic", spec.cyclic);
  replace("--depends-on", spec.depends_on);
  replace("--odd", spec.odd);
  replace("--centre", spec.centres);
  replace("--control-affine", spec.control_affine);
  replace("--coefficient", spec.coefficients);
  std::ranges::copy(all_names("--cyclic", a.cyclic), std::back_inserter(spec.cyclic));
  std::ranges::copy(all_names("--odd", a.odd), std::back_inserter(spec.odd));
  std::ranges::copy(all_names("--control-affine", a.control_affine), std::back_inserter(spec.control_affine));
  parse_depends_on(a.depends_on, spec);
  parse_centres(a.centres, spec);
  parse_coefficients(a.coefficients, spec);
  if (!a.physics.empty()) {
    spec.physics = study::load_physics(a.physics);
  }
}

}  // namespace gpilot::cli
