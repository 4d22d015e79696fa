#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/io/json_archive.hpp"
#include "gpilot/ssm/knowledge.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/structure.hpp"

/// What stands in a model file, in order: the one description that writing and reading share (see json_archive.hpp).
/// Every template takes its subject const when writing. Sizes come from what stands earlier in the file.
namespace gpilot::io {

inline constexpr Index kMostInducing = 2000;
inline constexpr Index kMostDelay = 10'000;

inline Index size_of(const std::vector<std::string>& names) {
  return static_cast<Index>(names.size());
}

/// Along "is the integral of" no state may come back to itself.
template <class Declarations>
void check_no_cycle(const Declarations& declarations, Index states) {
  std::vector<Index> velocity_of(static_cast<std::size_t>(states), -1);
  for (const auto& k : declarations) {
    velocity_of[static_cast<std::size_t>(k.position)] = k.velocity;
  }
  for (Index start = 0; start < states; ++start) {
    Index steps = 0;
    for (Index state = start; state >= 0; state = velocity_of[static_cast<std::size_t>(state)]) {
      if (++steps > states) {
        throw InputError("states are declared the derivatives of one another in a circle");
      }
    }
  }
}

template <class Archive, class Physics>
void describe_physics(Archive& file, Physics& physics) {
  file.word("integration", physics.integration, ssm::integration_from_name);
  file.list("formulas", physics.formulas, [](auto& entry, auto& formula) {
    entry.text("state", formula.state);
    entry.text("text", formula.text);
  });
  file.list("parameters", physics.parameters, [](auto& entry, auto& p) {
    entry.text("name", p.name);
    entry.number("start", p.start, Rule::kFinite);
    entry.flag("known", p.known);
    entry.number("sd", p.sd, Rule::kNullable);
    entry.number("factor", p.factor, Rule::kNullable);
    entry.number("low", p.low, Rule::kNullable);
    entry.number("high", p.high, Rule::kNullable);
    entry.text("unit", p.unit);
  });
}

/// What is declared about functions; files before version 4 have none of it.
template <class Archive, class Spec>
void describe_knowledge(Archive& file, Spec& spec) {
  file.optional("cyclic", [&] { file.texts("cyclic", spec.cyclic); });
  file.optional("depends_on", [&] {
    file.list("depends_on", spec.depends_on, [](auto& entry, auto& d) {
      entry.text("state", d.state);
      entry.texts("names", d.names);
    });
  });
  file.optional("odd", [&] { file.texts("odd", spec.odd); });
  file.optional("centres", [&] {
    file.list("centres", spec.centres, [](auto& entry, auto& c) {
      entry.text("name", c.name);
      entry.number("value", c.value, Rule::kFinite);
    });
  });
  file.optional("control_affine", [&] { file.texts("control_affine", spec.control_affine); });
  file.optional("coefficients", [&] {
    file.list("coefficients", spec.coefficients, [](auto& entry, auto& c) {
      entry.text("state", c.state);
      entry.text("name", c.name);
      entry.number("value", c.value, Rule::kFinite);
    });
  });
  file.optional("physics",
                [&] { file.object("physics", [&](auto& child) { describe_physics(child, spec.physics); }); });
}

template <class Archive, class Spec>
void describe_declarations(Archive& file, Spec& spec) {
  const Index D = size_of(spec.states);
  const Index E = size_of(spec.outputs);
  file.list("derivatives", spec.derivatives, [D](auto& entry, auto& derivative) {
    entry.count("velocity", derivative.velocity, 0, D - 1);
    entry.count("position", derivative.position, 0, D - 1);
  });
  file.require("derivatives", [&] { check_no_cycle(spec.derivatives, D); });
  file.optional("angles", [&] { file.texts("angles", spec.angles); });
  file.vector_or_empty("x0_mean", spec.x0_mean, D, Rule::kNullable);
  file.vector_or_empty("x0_sd", spec.x0_sd, D, Rule::kNullable);
  file.matrix_or_empty("C", spec.C, E, D, Rule::kFinite);
  file.vector_or_empty("d", spec.d, E, Rule::kNullable);
  file.flag("learn_C", spec.learn_C);
  file.flag("learn_d", spec.learn_d);
  file.vector_or_empty("output_sd", spec.output_sd, E, Rule::kNullable);
  file.vector_or_empty("process_sd", spec.process_sd, D, Rule::kNullable);
  file.list("ranges", spec.ranges, [](auto& entry, auto& range) {
    entry.text("name", range.name);
    entry.number("low", range.low, Rule::kFinite);
    entry.number("high", range.high, Rule::kFinite);
  });
  describe_knowledge(file, spec);
}

template <class Archive, class Spec>
void describe_spec(Archive& file, Spec& spec) {
  file.texts("inputs", spec.inputs);
  file.texts("outputs", spec.outputs);
  file.texts("states", spec.states);
  file.require("states", [&] {
    if (spec.states.empty() || size_of(spec.states) > ssm::kMaxStates) {
      throw InputError(fmt::format("expected 1 to {} names, found {}", ssm::kMaxStates, spec.states.size()));
    }
  });
  file.number("dt", spec.dt, Rule::kPositive);
  file.word("kernel", spec.kernel, kernels::kind_from_name);
  file.flag("linear_kernel", spec.linear_kernel);
  file.word("mean", spec.mean, ssm::mean_from_name);
  file.count("inducing", spec.inducing, 0, kMostInducing);
  describe_declarations(file, spec);
  file.word("nodes", spec.nodes, gp::node_rule_from_name);
  file.count("node_points", spec.node_points, 0, std::numeric_limits<Index>::max());
  file.require("inputs", [&] { spec.validate(); });
}

template <class Archive, class Scaling>
void describe_scaling(Archive& file, Scaling& scaling, const ssm::ModelSpec& spec) {
  const auto pair = [&file](const char* offset_key, auto& offset, const char* scale_key, auto& scale, Index size) {
    file.vector(offset_key, offset, size, Rule::kFinite);
    file.vector(scale_key, scale, size, Rule::kPositive);
  };
  pair("control_offset", scaling.control_offset, "control_scale", scaling.control_scale, size_of(spec.inputs));
  pair("output_offset", scaling.output_offset, "output_scale", scaling.output_scale, size_of(spec.outputs));
  pair("state_offset", scaling.state_offset, "state_scale", scaling.state_scale, size_of(spec.states));
}

template <class Archive, class Structure>
void describe_structure(Archive& file, Structure& s, const ssm::ModelSpec& spec, Index D, Index input_lags) {
  const Index P = size_of(spec.inputs) * (input_lags + 1);
  file.count("states", s.states, D, D);
  file.count("controls", s.controls, P, P);
  file.count("outputs", s.outputs, size_of(spec.outputs), size_of(spec.outputs));
  file.count("inducing", s.inducing, 0, kMostInducing);
  file.word("kernel", s.kernel, kernels::kind_from_name);
  file.flag("linear_kernel", s.linear_kernel);
  file.word("mean", s.mean, ssm::mean_from_name);
  file.list("kinematics", s.kinematics, [D](auto& entry, auto& k) {
    entry.count("position", k.position, 0, D - 1);
    entry.count("velocity", k.velocity, 0, D - 1);
    entry.number("half_step", k.half_step, Rule::kFinite);
  });
  file.optional("shifts", [&] {
    file.list("shifts", s.shifts, [D](auto& entry, auto& k) {
      entry.count("state", k.state, 0, D - 1);
      entry.count("source", k.source, 0, D - 1);
    });
  });
  file.optional("linear_rows", [&] { file.counts("linear_rows", s.linear_rows); });
  file.optional("angles", [&] {
    file.list("angles", s.angles, [D](auto& entry, auto& angle) {
      entry.count("state", angle.input, 0, D - 1);
      entry.number("omega", angle.omega, Rule::kPositive);
    });
  });
  file.vector("x0_mean", s.x0_mean, D, Rule::kFinite);
  file.vector("x0_sd", s.x0_sd, D, Rule::kPositive);
  file.require("kinematics", [&] {
    s.validate();
    check_no_cycle(s.kinematics, s.states);
  });
}

template <class Archive, class Parameters>
void describe_parameters(Archive& file, Parameters& p, const ssm::Structure& s) {
  const auto G = static_cast<Index>(s.gp_rows().size());
  const Index I = s.inputs();
  file.vector("log_variance", p.log_variance, G, Rule::kLogarithm);
  file.matrix("log_length_scales", p.log_length_scales, I, G, Rule::kLogarithm);
  file.matrix("log_linear_sd", p.log_linear_sd, s.linear_kernel ? I + 1 : 0, G, Rule::kLogarithm);
  file.matrix("mean_weights", p.mean_weights, I + 1, static_cast<Index>(s.mean_rows().size()), Rule::kFinite);
  file.matrix("Z", p.Z, s.inducing, I, Rule::kFinite);
  file.vector("log_q", p.log_q, s.states, Rule::kLogarithm);
  file.vector("log_r", p.log_r, s.outputs, Rule::kLogarithm);
  file.matrix("C", p.C, s.outputs, s.states, Rule::kFinite);
  file.vector("d", p.d, s.outputs, Rule::kFinite);
  file.optional("physics", [&] {
    file.vector_or_empty("physics", p.physics, s.physics ? s.physics->parameters() : 0, Rule::kFinite);
  });
  file.require("physics", [&] {
    if (s.physics && p.physics.size() != s.physics->parameters()) {
      throw InputError(fmt::format("expected {} values", s.physics->parameters()));
    }
  });
}

/// Of a structure that was read: what the declarations say about its functions. Identified states have none.
inline void attach_knowledge(const ssm::ModelSpec& spec, const ssm::Scaling& scaling, ssm::Structure& s) {
  s.forms = ssm::forms_of(spec, s);
  s.known_weights = ssm::known_weights_of(spec, scaling);
  if (!spec.physics.empty()) {
    s.physics = std::make_shared<const ssm::PhysicsMean>(spec, scaling);
  }
  s.validate();
}

template <class Archive, class Dynamics>
void describe_dynamics(Archive& file, Dynamics& dynamics, const ssm::ModelSpec& spec, const ssm::Scaling& scaling) {
  file.optional("dead_time", [&] { file.count("dead_time", dynamics.dead_time, 0, kMostDelay); });
  file.optional("input_lags", [&] { file.count("input_lags", dynamics.input_lags, 0, kMostDelay); });
  file.optional("spread",
                [&] { file.vector_or_empty("spread", dynamics.spread, size_of(spec.outputs), Rule::kPositive); });
  file.optional("state_names", [&] { file.texts("state_names", dynamics.state_names); });
  const Index D = dynamics.state_names.empty() ? size_of(spec.states) : size_of(dynamics.state_names);
  file.require("state_names", [D] {
    if (D > ssm::kMaxStates) {
      throw InputError(fmt::format("expected at most {} names, found {}", ssm::kMaxStates, D));
    }
  });
  file.object("structure",
              [&](auto& child) { describe_structure(child, dynamics.structure, spec, D, dynamics.input_lags); });
  if constexpr (!std::is_const_v<Dynamics>) {
    if (dynamics.state_names.empty() && ssm::has_knowledge(spec)) {
      file.require("structure", [&] { attach_knowledge(spec, scaling, dynamics.structure); });
    }
  }
  const ssm::Structure& s = dynamics.structure;
  file.object("parameters", [&](auto& child) { describe_parameters(child, dynamics.parameters, s); });
  file.optional("support", [&] {
    file.vector_or_empty("support", dynamics.support, static_cast<Index>(s.gp_rows().size()), Rule::kPositive);
  });
  const Index features = s.features();
  file.list("weights", dynamics.weights, static_cast<Index>(s.gp_rows().size()), [features](auto& entry, auto& v) {
    entry.vector("mu", v.mu, features, Rule::kFinite);
    entry.matrix("Sigma", v.Sigma, features, features, Rule::kFinite);
    entry.require("Sigma", [&v] {
      if (!(v.Sigma.diagonal().array() >= 0.0).all()) {
        throw InputError("expected variances of at least 0 on the diagonal");
      }
    });
  });
}

/// 0 = starts[0] < starts[1] < .. < starts[sequences] = rows, at least two rows a sequence.
inline void check_starts(const std::vector<Index>& starts) {
  bool right = starts.size() >= 2 && starts.front() == 0;
  for (std::size_t k = 1; right && k < starts.size(); ++k) {
    right = starts[k] >= 2 && starts[k] - 2 >= starts[k - 1];
  }
  if (!right) {
    throw InputError("expected 0, then the first row of every further sequence of two rows or more, then all rows");
  }
}

/// Shift rows have no noise, except in the first row of a sequence.
inline void check_diagonals(const ssm::StatePosterior& q, Index stochastic, const std::vector<Index>& starts) {
  for (Index column = 0; column < q.S_chol.cols(); ++column) {
    const Index state = column % q.states();
    const bool noisy = state < stochastic || std::binary_search(starts.begin(), starts.end(), column / q.states());
    if (noisy && !(q.S_chol(state, column) > 0.0)) {
      throw InputError(fmt::format("expected a positive diagonal in block {}", column / q.states()));
    }
  }
}

template <class Archive, class Posterior>
void describe_posterior(Archive& file, Posterior& q, const ssm::Structure& s, const std::vector<Index>& starts) {
  const Index states = s.states;
  const Index rows = starts.empty() ? 0 : starts.back();
  // The widths are products: beyond this no file can hold them, and they must not overflow.
  file.require("m", [rows] {
    if (rows > std::numeric_limits<Index>::max() / ssm::kMaxStates) {
      throw InputError(fmt::format("cannot have {} rows", rows));
    }
  });
  file.matrix("m", q.m, states, rows, Rule::kFinite);
  file.matrix("A", q.A, states, states * rows, Rule::kFinite);
  file.matrix("S_chol", q.S_chol, states, states * rows, Rule::kFinite);
  file.require("S_chol", [&] { check_diagonals(q, s.stochastic(), starts); });
}

template <class Archive, class Report>
void describe_report(Archive& file, Report& report, Index gp_rows) {
  file.list("settings", report.settings, [](auto& entry, auto& setting) {
    entry.text("name", setting.name);
    entry.text("value", setting.value);
  });
  file.word("status", report.status, ssm::fit_status_from_name);
  file.text("message", report.message);
  file.number("bound", report.bound, Rule::kNullable);
  file.number("objective", report.objective, Rule::kNullable);
  file.list("candidates", report.candidates, [](auto& entry, auto& candidate) {
    entry.text("name", candidate.name);
    entry.number("bound", candidate.bound, Rule::kNullable);
    entry.number("predictive_density", candidate.predictive_density, Rule::kNullable);
    entry.optional("validation", [&] { entry.number("validation", candidate.validation, Rule::kNullable); });
  });
  file.text("chosen", report.chosen);
  file.optional("structure", [&] { file.text("structure", report.structure); });
  file.optional("reason", [&] { file.text("reason", report.reason); });
  file.optional("calibration", [&] { file.text("calibration", report.calibration); });
  file.optional("held_out", [&] {
    file.object("held_out", [&](auto& child) {
      auto& held = report.held_out;
      child.count("runs", held.runs, 0, std::numeric_limits<int>::max());
      child.numbers("model", held.model, Rule::kNotNegative);
      child.numbers("linear", held.linear, Rule::kNotNegative);
      child.numbers("hold", held.hold, Rule::kNotNegative);
      child.require("hold", [&held] {
        if (held.model.size() != held.hold.size() || held.linear.size() != held.hold.size()) {
          throw InputError(fmt::format("{} values, expected as many as 'model' and 'linear' have", held.hold.size()));
        }
      });
    });
  });
  file.optional("parameters", [&] {
    file.list("parameters", report.parameters, [](auto& entry, auto& p) {
      entry.text("name", p.name);
      entry.text("unit", p.unit);
      entry.number("value", p.value, Rule::kFinite);
      entry.number("sd", p.sd, Rule::kNotNegative);
      entry.number("low", p.low, Rule::kFinite);
      entry.number("high", p.high, Rule::kFinite);
      entry.number("determined", p.determined, Rule::kNotNegative);
    });
  });
  file.optional("warnings", [&] { file.texts("warnings", report.warnings); });
  file.vector("explained", report.explained, gp_rows, Rule::kNullable);
  file.number("extra_jitter", report.extra_jitter, Rule::kNullable);
  file.count("evaluations", report.evaluations, 0, std::numeric_limits<int>::max());
  file.numbers("trace", report.trace, Rule::kNullable);
}

template <class Archive, class Model>
void describe_model(Archive& file, Model& model) {
  file.text("library", model.version);
  file.seed("seed", model.seed);
  file.object("spec", [&](auto& child) { describe_spec(child, model.spec); });
  file.object("scaling", [&](auto& child) { describe_scaling(child, model.scaling, model.spec); });
  file.object("gp", [&](auto& child) { describe_dynamics(child, model.gp, model.spec, model.scaling); });
  file.object("linear", [&](auto& child) { describe_dynamics(child, model.linear, model.spec, model.scaling); });
  file.object("mean", [&](auto& child) {
    child.vector("output_mean", model.output_mean, size_of(model.spec.outputs), Rule::kFinite);
    child.vector("output_sd", model.output_sd, size_of(model.spec.outputs), Rule::kNotNegative);
  });
  file.counts("starts", model.starts);
  file.require("starts", [&] { check_starts(model.starts); });
  file.object("states",
              [&](auto& child) { describe_posterior(child, model.states, model.gp.structure, model.starts); });
  file.object("report", [&](auto& child) {
    describe_report(child, model.report, static_cast<Index>(model.gp.structure.gp_rows().size()));
  });
}

}  // namespace gpilot::io
