#include "gpilot/ssm/knowledge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gpilot/core/suggest.hpp"
#include "gpilot/ssm/physics_mean.hpp"

namespace gpilot::ssm {

namespace {

using Names = std::vector<std::string>;

bool holds(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// States and inputs, in the order of a transition's inputs.
Names inputs_of(const ModelSpec& spec) {
  Names names = spec.states;
  names.insert(names.end(), spec.inputs.begin(), spec.inputs.end());
  return names;
}

Index index_of(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) - names.begin();
}

bool has_formula(const ModelSpec& spec, const std::string& state) {
  return std::ranges::any_of(spec.physics.formulas, [&](const Formula& f) { return f.state == state; }) ||
         holds(spec.physics.function_states, state);
}

/// A state that has a function of its own: no declared integral.
void check_function(const ModelSpec& spec, const std::string& key, const std::string& state) {
  if (!holds(spec.states, state)) {
    throw KnowledgeError(key, state, unknown_name_message("state", state, spec.states));
  }
  for (const DerivativeOf& k : spec.derivatives) {
    if (spec.states[static_cast<std::size_t>(k.position)] == state) {
      throw KnowledgeError(key, state,
                           fmt::format("'{}' moves with its declared derivative '{}' and has no function of its own",
                                       state, spec.states[static_cast<std::size_t>(k.velocity)]));
    }
  }
}

void check_once(const Names& states, const std::string& key) {
  for (const std::string& state : states) {
    if (std::ranges::count(states, state) != 1) {
      throw KnowledgeError(key, state, fmt::format("'{}' is named twice", state));
    }
  }
}

const DependsOn* depends_of(const ModelSpec& spec, const std::string& state) {
  const auto found = std::ranges::find(spec.depends_on, state, &DependsOn::state);
  return found == spec.depends_on.end() ? nullptr : &*found;
}

void check_depends_on(const ModelSpec& spec) {
  const Names known = inputs_of(spec);
  Names states;
  for (const DependsOn& d : spec.depends_on) {
    states.push_back(d.state);
    check_function(spec, "depends_on", d.state);
    check_once(d.names, "depends_on");
    for (const std::string& name : d.names) {
      if (!holds(known, name)) {
        throw KnowledgeError("depends_on", d.state, unknown_name_message("state or input", name, known));
      }
      if (holds(spec.cyclic, name)) {
        throw KnowledgeError("depends_on", d.state,
                             fmt::format("'{}' is declared cyclic, so that no function depends on it", name));
      }
    }
  }
  check_once(states, "depends_on");
}

void check_cyclic(const ModelSpec& spec) {
  check_once(spec.cyclic, "cyclic");
  for (const std::string& state : spec.cyclic) {
    if (!holds(spec.states, state)) {
      throw KnowledgeError("cyclic", state, unknown_name_message("state", state, spec.states));
    }
    if (spec.mean == MeanKind::kZero) {
      throw KnowledgeError("cyclic", state,
                           "goes with the mean functions identity and linear: with zero the next value of a cyclic "
                           "state could not depend on its own");
    }
  }
}

void check_coefficients(const ModelSpec& spec) {
  const Names known = inputs_of(spec);
  for (const Coefficient& c : spec.coefficients) {
    check_function(spec, "coefficients", c.state);
    const auto fail = [&](const std::string& reason) { throw KnowledgeError("coefficients", c.state, reason); };
    if (!holds(known, c.name)) {
      fail(unknown_name_message("state or input", c.name, known));
    }
    if (!std::isfinite(c.value)) {
      fail(fmt::format("the coefficient of '{}' is {}, expected a finite number", c.name, c.value));
    }
    if (std::ranges::count_if(spec.coefficients, [&](const Coefficient& other) {
          return other.state == c.state && other.name == c.name;
        }) != 1) {
      fail(fmt::format("'{}' is given two coefficients", c.name));
    }
    if (holds(spec.angles, c.name)) {
      fail(fmt::format("'{}' is an angle: with a linear coefficient the dynamics would not be the same after a turn",
                       c.name));
    }
    if (holds(spec.cyclic, c.name) && c.name != c.state) {
      fail(fmt::format("'{}' is declared cyclic, so that nothing depends on it", c.name));
    }
    if (const DependsOn* d = depends_of(spec, c.state); d != nullptr && !holds(d->names, c.name)) {
      fail(fmt::format("depends_on does not name '{}', which has a coefficient", c.name));
    }
    if (has_formula(spec, c.state)) {
      fail(fmt::format("'{}' has a formula: write the coefficient there", c.state));
    }
  }
}

void check_odd(const ModelSpec& spec) {
  const Names known = inputs_of(spec);
  check_once(spec.odd, "symmetry");
  for (const Centre& c : spec.centres) {
    const auto fail = [&](const std::string& reason) { throw KnowledgeError("centre", c.name, reason); };
    if (!holds(known, c.name)) {
      fail(unknown_name_message("state or input", c.name, known));
    }
    if (!std::isfinite(c.value)) {
      fail(fmt::format("{} is not a finite number", c.value));
    }
    if (spec.odd.empty()) {
      fail("goes with symmetry = \"odd\" of a state");
    }
    for (const DerivativeOf& k : spec.derivatives) {
      if (spec.states[static_cast<std::size_t>(k.velocity)] == c.name && c.value != 0.0) {
        fail(fmt::format("'{}' is a derivative, and a state at rest has the derivative 0: expected 0, not {}", c.name,
                         c.value));
      }
    }
  }
  for (const std::string& state : spec.odd) {
    check_function(spec, "symmetry", state);
    if (spec.mean != MeanKind::kIdentity) {
      throw KnowledgeError("symmetry", state,
                           fmt::format("goes with the mean function identity, not with {}", name(spec.mean)));
    }
    const auto centre_of = [&](const std::string& name) {
      const auto found = std::ranges::find(spec.centres, name, &Centre::name);
      return found == spec.centres.end() ? 0.0 : found->value;
    };
    double constant = 0.0;
    double size = 0.0;
    for (const Coefficient& c : spec.coefficients) {
      if (c.state == state) {
        const double term = (c.value - (c.name == state ? 1.0 : 0.0)) * centre_of(c.name);
        constant += term;
        size += std::abs(term);
      }
    }
    if (std::abs(constant) > 1e-12 * size) {
      throw KnowledgeError("symmetry", state,
                           "the known coefficients move the state where everything is at its centre, and an odd "
                           "function would be 0 there");
    }
  }
}

void check_affine(const ModelSpec& spec) {
  check_once(spec.control_affine, "control_affine");
  for (const std::string& state : spec.control_affine) {
    check_function(spec, "control_affine", state);
    if (spec.inputs.empty()) {
      throw KnowledgeError("control_affine", state, "there are no controls");
    }
    if (has_formula(spec, state)) {
      throw KnowledgeError("control_affine", state,
                           fmt::format("'{}' has a formula, which is not affine in the controls once it is integrated "
                                       "over a step: leave out one of the two",
                                       state));
    }
  }
}

/// A state's inputs that its function does not see.
std::vector<Index> excluded_inputs(const ModelSpec& spec, const std::string& state) {
  const Names known = inputs_of(spec);
  const DependsOn* d = depends_of(spec, state);
  std::vector<Index> excluded;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const bool has_coefficient = std::ranges::any_of(
        spec.coefficients, [&](const Coefficient& c) { return c.state == state && c.name == known[i]; });
    if (holds(spec.cyclic, known[i]) || has_coefficient || (d != nullptr && !holds(d->names, known[i]))) {
      excluded.push_back(static_cast<Index>(i));
    }
  }
  return excluded;
}

}  // namespace

KnowledgeError::KnowledgeError(std::string key, std::string subject, const std::string& reason)
    : InputError(fmt::format("{}{}: {}", key, subject.empty() ? "" : fmt::format(" of '{}'", subject), reason)),
      key_(std::move(key)),
      subject_(std::move(subject)),
      reason_(reason) {}

bool has_knowledge(const ModelSpec& spec) {
  return !spec.cyclic.empty() || !spec.depends_on.empty() || !spec.odd.empty() || !spec.control_affine.empty() ||
         !spec.coefficients.empty() || !spec.physics.empty();
}

void check_knowledge(const ModelSpec& spec) {
  check_cyclic(spec);
  check_depends_on(spec);
  check_coefficients(spec);
  check_odd(spec);
  check_affine(spec);
  check_physics(spec);
}

std::vector<kernels::Form> forms_of(const ModelSpec& spec, const Structure& s) {
  std::vector<kernels::Form> forms;
  bool known = false;
  for (const Index d : s.gp_rows()) {
    const std::string& state = spec.states[static_cast<std::size_t>(d)];
    kernels::Form form{.excluded = excluded_inputs(spec, state), .affine = {}, .odd = holds(spec.odd, state)};
    for (Index i = s.states; holds(spec.control_affine, state) && i < s.inputs(); ++i) {
      if (std::ranges::find(form.excluded, i) == form.excluded.end()) {
        form.affine.push_back(i);
      }
    }
    known = known || !(form == kernels::Form{});
    forms.push_back(std::move(form));
  }
  return known ? forms : std::vector<kernels::Form>{};
}

std::vector<KnownWeight> known_weights_of(const ModelSpec& spec, const Scaling& scaling) {
  const Names known = inputs_of(spec);
  Vector offset(scaling.state_offset.size() + scaling.control_offset.size());
  Vector scale(offset.size());
  offset << scaling.state_offset, scaling.control_offset;
  scale << scaling.state_scale, scaling.control_scale;
  const auto I = static_cast<Index>(known.size());
  std::vector<KnownWeight> weights;
  Vector constants = Vector::Zero(scaling.state_offset.size());
  std::vector<bool> has(spec.states.size(), false);
  for (const Coefficient& c : spec.coefficients) {
    const Index d = index_of(spec.states, c.state);
    const Index i = index_of(known, c.name);
    weights.push_back({d, i, c.value * scale(i) / scale(d)});
    constants(d) += (c.value - (i == d ? 1.0 : 0.0)) * offset(i) / scale(d);
    has[static_cast<std::size_t>(d)] = true;
  }
  for (Index d = 0; d < constants.size(); ++d) {
    if (has[static_cast<std::size_t>(d)]) {
      weights.push_back({d, I, constants(d)});
    }
  }
  return weights;
}

void centre(const ModelSpec& spec, Scaling& scaling) {
  if (spec.odd.empty()) {
    return;
  }
  scaling.state_offset.setZero();
  scaling.control_offset.setZero();
  for (const Centre& c : spec.centres) {
    const Index d = index_of(spec.states, c.name);
    if (d < scaling.state_offset.size()) {
      scaling.state_offset(d) = c.value;
    } else {
      scaling.control_offset(index_of(spec.inputs, c.name)) = c.value;
    }
  }
}

std::vector<std::string> parameter_names(const ModelSpec& spec) {
  Names names;
  for (const PhysicsParameter& p : spec.physics.parameters) {
    if (!p.known) {
      names.push_back(p.name);
    }
  }
  return names;
}

std::vector<std::string> describe_knowledge(const ModelSpec& spec) {
  std::vector<std::string> sentences;
  const auto say = [&](std::string text) { sentences.push_back(std::move(text)); };
  for (const std::string& state : spec.cyclic) {
    say(fmt::format("{} is cyclic: no function depends on it", state));
  }
  for (const DependsOn& d : spec.depends_on) {
    say(d.names.empty() ? fmt::format("{} depends on nothing", d.state)
                        : fmt::format("{} depends on {} alone", d.state, fmt::join(d.names, ", ")));
  }
  for (const std::string& state : spec.odd) {
    std::string about;
    for (const Centre& c : spec.centres) {
      about += fmt::format("{}{} = {:g}", about.empty() ? "" : ", ", c.name, c.value);
    }
    say(fmt::format("the function of {} is odd about {}", state, about.empty() ? "0" : about));
  }
  for (const std::string& state : spec.control_affine) {
    say(fmt::format("the function of {} is affine in the controls", state));
  }
  for (const Coefficient& c : spec.coefficients) {
    say(fmt::format("the next {} has the known term {:g} {}", c.state, c.value, c.name));
  }
  const std::string_view integration = name(spec.physics.integration);
  for (const Formula& f : spec.physics.formulas) {
    say(spec.physics.integration == Integration::kNext
            ? fmt::format("next {} = {}, and what a Gaussian process adds", f.state, f.text)
            : fmt::format("d/dt {} = {} ({}), and what a Gaussian process adds", f.state, f.text, integration));
  }
  for (const std::string& state : spec.physics.function_states) {
    say(fmt::format("{} follows a given function, and what a Gaussian process adds", state));
  }
  return sentences;
}

}  // namespace gpilot::ssm
