#include "gpilot/ssm/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/knowledge.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

namespace {

void check_names(const char* field, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) {
      throw InputError(fmt::format("{}: a name is empty", field));
    }
    if (!seen.insert(name).second) {
      throw InputError(fmt::format("{}: '{}' is named twice", field, name));
    }
  }
}

void check_size(const char* field, Index size, Index expected, const char* of) {
  if (size != 0 && size != expected) {
    throw InputError(fmt::format("{}: {} value(s), expected {} (one a {})", field, size, expected, of));
  }
}

void check_positive(const char* field, const Vector& values) {
  for (Index i = 0; i < values.size(); ++i) {
    if (!std::isnan(values(i)) && !(values(i) > 0.0 && std::isfinite(values(i)))) {
      throw InputError(fmt::format("{}: {} is not a positive number", field, values(i)));
    }
  }
}

/// States declared angles: known, once each, and such that the emission says what a turn of an output is.
void check_angles(const ModelSpec& spec) {
  check_names("angles", spec.angles);
  for (const std::string& angle : spec.angles) {
    if (std::find(spec.states.begin(), spec.states.end(), angle) == spec.states.end()) {
      throw InputError("angles: " + unknown_name_message("state", angle, spec.states));
    }
  }
  if (spec.angles.empty()) {
    return;
  }
  if (spec.learn_C) {
    throw InputError(
        "angles: the emission cannot be learned with them, since it says what a full turn of an output is");
  }
  if (spec.mean != MeanKind::kIdentity) {
    throw InputError(fmt::format(
        "angles: with the mean function {} the dynamics would not be the same after a full turn; expected identity",
        name(spec.mean)));
  }
  for (const DerivativeOf& k : spec.derivatives) {
    const std::string& velocity = spec.states[static_cast<std::size_t>(k.velocity)];
    if (std::find(spec.angles.begin(), spec.angles.end(), velocity) != spec.angles.end()) {
      throw InputError(fmt::format("angles: '{}' is declared a derivative, which has no turns", velocity));
    }
  }
}

/// As many states as there are outputs at least, or an emission of their sizes.
void check_dimensions(const ModelSpec& spec) {
  const auto D = static_cast<Index>(spec.states.size());
  const auto E = static_cast<Index>(spec.outputs.size());
  if (spec.outputs.empty()) {
    throw InputError("outputs: expected at least one name");
  }
  if (spec.states.empty() || D > kMaxStates) {
    throw InputError(fmt::format("states: {} given, expected 1 to {}", spec.states.size(), kMaxStates));
  }
  if (spec.C.size() == 0 && D < E) {
    throw InputError(
        fmt::format("states: {} given for {} outputs; by default the first states are what the outputs "
                    "measure, so expected at least {} (or give C)",
                    D, E, E));
  }
  if (spec.C.size() > 0 && (spec.C.rows() != E || spec.C.cols() != D || !spec.C.allFinite())) {
    throw InputError(fmt::format("C: {} x {}, expected {} x {} finite numbers (outputs x states)", spec.C.rows(),
                                 spec.C.cols(), E, D));
  }
}

void check_start_sd(const Vector& sd) {
  for (Index i = 0; i < sd.size(); ++i) {
    if (!std::isnan(sd(i)) && !(sd(i) >= 0.0 && std::isfinite(sd(i)))) {
      throw InputError(fmt::format("x0-sd: {} is not a standard deviation", sd(i)));
    }
  }
}

void check_derivatives(const ModelSpec& spec) {
  const auto D = static_cast<Index>(spec.states.size());
  for (const DerivativeOf& k : spec.derivatives) {
    if (k.velocity < 0 || k.velocity >= D || k.position < 0 || k.position >= D) {
      throw InputError(fmt::format("derivatives: state {} of state {}, expected indices from 0 to {}", k.velocity,
                                   k.position, D - 1));
    }
  }
}

void check_ranges(const ModelSpec& spec) {
  for (const Range& range : spec.ranges) {
    const auto named = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), range.name) != names.end();
    };
    if (!named(spec.inputs) && !named(spec.outputs) && !named(spec.states)) {
      throw InputError(fmt::format("range of '{}': no input, output or state has this name", range.name));
    }
    if (!(range.low < range.high) || !std::isfinite(range.low) || !std::isfinite(range.high)) {
      throw InputError(fmt::format("range of '{}': [{}, {}] is empty", range.name, range.low, range.high));
    }
  }
}

}  // namespace

std::string_view name(MeanKind kind) {
  switch (kind) {
    case MeanKind::kZero:
      return "zero";
    case MeanKind::kIdentity:
      return "identity";
    case MeanKind::kLinear:
      return "linear";
  }
  return "";
}

MeanKind mean_from_name(std::string_view text) {
  for (const MeanKind kind : {MeanKind::kZero, MeanKind::kIdentity, MeanKind::kLinear}) {
    if (text == name(kind)) {
      return kind;
    }
  }
  throw InputError(fmt::format("unknown mean function '{}': expected zero, identity or linear", text));
}

Matrix emission_of(const ModelSpec& spec) {
  const auto E = static_cast<Index>(spec.outputs.size());
  const auto D = static_cast<Index>(spec.states.size());
  return spec.C.size() > 0 ? spec.C : Matrix(Matrix::Identity(E, D));
}

Index observing_output(const Matrix& C, Index i) {
  for (Index e = 0; e < C.rows(); ++e) {
    if (C(e, i) == 1.0 && C.row(e).cwiseAbs().sum() == 1.0) {
      return e;
    }
  }
  return -1;
}

kernels::Angles angles_of(const ModelSpec& spec, const Vector& state_scale) {
  kernels::Angles angles;
  for (std::size_t i = 0; i < spec.states.size(); ++i) {
    if (std::find(spec.angles.begin(), spec.angles.end(), spec.states[i]) != spec.angles.end()) {
      const auto d = static_cast<Index>(i);
      angles.push_back({d, state_scale(d)});
    }
  }
  return angles;
}

Vector ModelSpec::turns() const {
  return output_turns(angles_of(*this, Vector::Ones(static_cast<Index>(states.size()))), emission_of(*this));
}

void ModelSpec::validate() const {
  const auto D = static_cast<Index>(states.size());
  const auto E = static_cast<Index>(outputs.size());
  check_names("inputs", inputs);
  check_names("outputs", outputs);
  check_names("states", states);
  check_dimensions(*this);
  if (!(dt > 0.0) || !std::isfinite(dt)) {
    throw InputError(fmt::format("dt: {} is not a positive number of seconds", dt));
  }
  if (inducing < 0 || inducing > 2000) {
    throw InputError(fmt::format("inducing: {} points, expected 0 to 2000", inducing));
  }
  if (inducing == 0 && !linear_kernel && mean != MeanKind::kLinear) {
    throw InputError("inducing: without inducing points, a linear kernel or a linear mean nothing can be learned");
  }
  check_size("x0", x0_mean.size(), D, "state");
  check_size("x0-sd", x0_sd.size(), D, "state");
  check_size("d", d.size(), E, "output");
  check_size("output noise", output_sd.size(), E, "output");
  check_size("process noise", process_sd.size(), D, "state");
  check_positive("output noise", output_sd);
  check_positive("process noise", process_sd);
  check_start_sd(x0_sd);
  check_derivatives(*this);
  check_angles(*this);
  check_knowledge(*this);
  check_ranges(*this);
}

}  // namespace gpilot::ssm
