#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fit_arguments.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/options/kernel_name.hpp"
#include "gpilot/options/layout.hpp"
#include "gpilot/ssm/observed_states.hpp"

namespace gpilot::cli {

namespace {

using Names = std::vector<std::string>;
using ssm::ModelSpec;

Names split(std::string_view text, char separator) {
  Names parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Whether somebody meant a number: "-1", "2.5", but not "x1".
bool is_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return end == text.data() + text.size() && text.find_first_of("0123456789") != std::string_view::npos;
}

Index find_name(std::string_view option, std::string_view kind, const std::string& name, const Names& names) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw InputError(fmt::format("{}: {}", option, unknown_name_message(kind, name, names)));
  }
  return found - names.begin();
}

/// `size` numbers, one for each name; a single number stands for all where `repeat` is set.
Vector parse_vector(std::string_view option, std::string_view text, std::string_view of, const Names& names,
                    bool repeat) {
  Vector values = parse_numbers(option, text);
  const auto size = static_cast<Index>(names.size());
  if (repeat && values.size() == 1) {
    return Vector::Constant(size, values(0));
  }
  if (values.size() != size) {
    throw InputError(fmt::format("{}: {} value(s), expected {}{} (one for each {}: {})", option, values.size(),
                                 repeat && size > 1 ? "1 or " : "", size, of, fmt::join(names, ", ")));
  }
  return values;
}

/// Two derivatives of one state and circles, named as the user typed them.
void check_derivatives(const ModelSpec& spec) {
  std::vector<Index> velocity_of(spec.states.size(), -1);
  for (const ssm::DerivativeOf& d : spec.derivatives) {
    Index& velocity = velocity_of[static_cast<std::size_t>(d.position)];
    const std::string& position = spec.states[static_cast<std::size_t>(d.position)];
    if (velocity >= 0) {
      throw InputError(fmt::format("--derivative-of: '{}' is given two derivatives", position));
    }
    velocity = d.velocity;
    for (Index state = d.velocity; state >= 0; state = velocity_of[static_cast<std::size_t>(state)]) {
      if (state == d.position) {
        throw InputError(fmt::format("--derivative-of: '{}' would be a derivative of itself", position));
      }
    }
  }
}

void parse_derivatives(const Names& texts, ModelSpec& spec) {
  if (texts.empty()) {
    return;
  }
  constexpr std::string_view kOption = "--derivative-of";
  spec.derivatives.clear();
  for (const std::string& text : texts) {
    for (const std::string& part : split(text, ',')) {
      const auto [velocity, position] = split_assignment(kOption, part, "VELOCITY=POSITION");
      spec.derivatives.push_back(
          {find_name(kOption, "state", velocity, spec.states), find_name(kOption, "state", position, spec.states)});
    }
  }
  check_derivatives(spec);
}

void parse_angles(const Names& texts, ModelSpec& spec) {
  if (texts.empty()) {
    return;
  }
  spec.angles.clear();
  for (const std::string& text : texts) {
    for (const std::string& name : split_names("--angle", text)) {
      find_name("--angle", "state", name, spec.states);
      spec.angles.push_back(name);
    }
  }
}

void parse_fixed(const Names& texts, ModelSpec& spec) {
  const Names known{"output-noise", "process-noise"};
  for (const std::string& text : texts) {
    const auto [what, values] = split_assignment("--fix", text, "output-noise=SD,.. or process-noise=SD,..");
    const bool output = find_name("--fix", "quantity", what, known) == 0;
    Vector sd =
        parse_vector("--fix " + what, values, output ? "output" : "state", output ? spec.outputs : spec.states, true);
    if (!(sd.array() > 0.0).all()) {
      throw InputError(fmt::format("--fix {}: standard deviations must be positive, not '{}'", what, values));
    }
    (output ? spec.output_sd : spec.process_sd) = std::move(sd);
  }
}

void parse_emission(const FitArguments& arguments, bool has_previous, ModelSpec& spec) {
  const auto D = static_cast<Index>(spec.states.size());
  if (!arguments.emission.empty()) {
    const Names rows = split(arguments.emission, ';');
    if (rows.size() != spec.outputs.size()) {
      throw InputError(fmt::format("--emission: {} row(s), expected {} separated by ';' (one for each output: {})",
                                   rows.size(), spec.outputs.size(), fmt::join(spec.outputs, ", ")));
    }
    spec.C.resize(static_cast<Index>(rows.size()), D);
    for (std::size_t e = 0; e < rows.size(); ++e) {
      spec.C.row(static_cast<Index>(e)) = parse_vector("--emission", rows[e], "state", spec.states, false).transpose();
    }
  } else if (!has_previous) {
    spec.C = ssm::emission_matrix(ssm::observed_states(spec), D);
  }
  if (!arguments.offset.empty()) {
    spec.d = parse_vector("--offset", arguments.offset, "output", spec.outputs, false);
  }
  for (const std::string& text : arguments.learn) {
    for (const std::string& what : split(text, ',')) {
      (find_name("--learn", "quantity", what, {"emission", "offset"}) == 0 ? spec.learn_C : spec.learn_d) = true;
    }
  }
}

void parse_ranges(const Names& texts, ModelSpec& spec) {
  constexpr std::string_view kForm = "NAME=LOW:HIGH";
  Names known = spec.inputs;
  known.insert(known.end(), spec.outputs.begin(), spec.outputs.end());
  known.insert(known.end(), spec.states.begin(), spec.states.end());
  for (const std::string& text : texts) {
    for (const std::string& part : split(text, ',')) {
      const auto [name, interval] = split_assignment("--range", part, kForm);
      find_name("--range", "column or state", name, known);
      const std::size_t colon = interval.find(':');
      if (colon == std::string::npos) {
        throw InputError(fmt::format("--range: expected {}, not '{}'", kForm, part));
      }
      const double low = parse_number("--range", std::string_view(interval).substr(0, colon));
      const double high = parse_number("--range", std::string_view(interval).substr(colon + 1));
      if (!(low < high)) {
        throw InputError(fmt::format("--range: the range of '{}' is empty: {} is not below {}", name, low, high));
      }
      std::erase_if(spec.ranges, [name = name](const ssm::Range& range) { return range.name == name; });
      spec.ranges.push_back({name, low, high});
    }
  }
}

/// "qmc", "samples:100".
void parse_nodes(const std::string& text, ModelSpec& spec) {
  const std::size_t colon = text.find(':');
  const std::string rule = text.substr(0, colon);
  std::string complaint = options::complaint("nodes", rule, options::names_of(options::kNodeRules));
  if (complaint.empty() && colon != std::string::npos) {
    spec.node_points = parse_count("--nodes", std::string_view(text).substr(colon + 1), 1);
    complaint = options::complaint(std::int64_t{spec.node_points}, 1, options::kMostNodePoints);
  } else {
    spec.node_points = 0;
  }
  if (!complaint.empty()) {
    throw InputError(fmt::format("--nodes: {}", complaint));
  }
  spec.nodes = gp::node_rule_from_name(rule);
}

/// The columns of a model to start from must be those of the fit.
void check_same(std::string_view option, const Names& names, const Names& previous) {
  if (names != previous) {
    throw InputError(fmt::format("{}: '{}' differs from the model given with --from, which has '{}'", option,
                                 fmt::join(names, ","), fmt::join(previous, ",")));
  }
}

void parse_names(const FitArguments& arguments, const ModelSpec* previous, ModelSpec& spec) {
  if (!arguments.inputs.empty()) {
    spec.inputs = split_names("--inputs", arguments.inputs);
  }
  if (!arguments.outputs.empty()) {
    spec.outputs = split_names("--outputs", arguments.outputs);
  }
  if (!arguments.states.empty()) {
    spec.states = parse_states(arguments.states);
  }
  if (previous != nullptr) {
    check_same("--inputs", spec.inputs, previous->inputs);
    check_same("--outputs", spec.outputs, previous->outputs);
    check_same("--states", spec.states, previous->states);
  } else if (spec.outputs.empty() || spec.states.empty()) {
    throw InputError(
        fmt::format("--{} is required; see 'gpilot fit --help'", spec.outputs.empty() ? "outputs" : "states"));
  }
}

}  // namespace

std::pair<std::string, std::string> split_assignment(std::string_view option, std::string_view text,
                                                     std::string_view form) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    throw InputError(fmt::format("{}: expected {}, not '{}'", option, form, text));
  }
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

Names split_names(std::string_view option, std::string_view text) {
  Names names = split(text, ',');
  for (const std::string& name : names) {
    if (name.empty()) {
      throw InputError(fmt::format("{}: a name is empty in '{}'", option, text));
    }
    if (std::ranges::count(names, name) > 1) {
      throw InputError(fmt::format("{}: '{}' is named twice", option, name));
    }
  }
  return names;
}

Names parse_states(const std::string& text) {
  if (!is_number(text)) {
    return split_names("--states", text);
  }
  Index count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 1 || count > ssm::kMaxStates) {
    throw InputError(
        fmt::format("--states: expected names, or {}, not {}", options::expectation(1, ssm::kMaxStates), text));
  }
  Names names;
  for (Index i = 1; i <= count; ++i) {
    names.push_back(fmt::format("x{}", i));
  }
  return names;
}

ModelSpec identified_spec_from(const FitArguments& arguments) {
  ModelSpec spec;
  if (arguments.outputs.empty()) {
    throw InputError("--outputs is required; see 'gpilot fit --help'");
  }
  if (!arguments.inputs.empty()) {
    spec.inputs = split_names("--inputs", arguments.inputs);
  }
  spec.outputs = split_names("--outputs", arguments.outputs);
  if (!arguments.states.empty()) {
    const Names states = parse_states(arguments.states);
    if (states.size() < spec.outputs.size()) {
      throw InputError(fmt::format("--states: {} outputs but {} state(s); expected at least as many",
                                   spec.outputs.size(), states.size()));
    }
  }
  if (!arguments.kernel.empty()) {
    options::set_kernel(spec, arguments.kernel, "--kernel");
  }
  if (arguments.given("--inducing")) {
    spec.inducing = arguments.model.inducing;
  }
  parse_ranges(arguments.ranges, spec);
  if (!arguments.nodes.empty()) {
    parse_nodes(arguments.nodes, spec);
  }
  return spec;
}

ModelSpec spec_from(const FitArguments& arguments, const ModelSpec* previous) {
  ModelSpec spec = previous != nullptr ? *previous : ModelSpec{};
  parse_names(arguments, previous, spec);
  if (static_cast<Index>(spec.states.size()) > ssm::kMaxStates) {
    throw InputError(fmt::format("--states: at most {} states, not {}", ssm::kMaxStates, spec.states.size()));
  }
  if (!arguments.kernel.empty()) {
    spec.inducing = spec.inducing > 0 ? spec.inducing : ModelSpec{}.inducing;
    options::set_kernel(spec, arguments.kernel, "--kernel");
  }
  if (arguments.given("--inducing")) {
    spec.inducing = arguments.model.inducing;
  }
  if (arguments.given("--mean")) {
    spec.mean = arguments.model.mean;
  }
  parse_derivatives(arguments.derivatives, spec);
  parse_angles(arguments.angles, spec);
  parse_knowledge(arguments, spec);
  if (!arguments.x0.empty()) {
    spec.x0_mean = parse_vector("--x0", arguments.x0, "state", spec.states, false);
  }
  if (!arguments.x0_sd.empty()) {
    spec.x0_sd = parse_vector("--x0-sd", arguments.x0_sd, "state", spec.states, true);
  }
  parse_fixed(arguments.fixed, spec);
  parse_emission(arguments, previous != nullptr, spec);
  parse_ranges(arguments.ranges, spec);
  if (!arguments.nodes.empty()) {
    parse_nodes(arguments.nodes, spec);
  }
  spec.validate();
  return spec;
}

}  // namespace gpilot::cli
