#include "gpilot/ssm/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/suggest.hpp"

namespace gpilot::ssm {

namespace {

/// Below this (scaled), a standard deviation is taken as this: precisions stay within what doubles carry.
constexpr double kSmallestSd = 1e-5;

const double kUniformSd = std::sqrt(1.0 / 12.0);

bool given(const Vector& v, Index i) {
  return i < v.size() && !std::isnan(v(i));
}

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

struct Spread {
  double mean = 0.0;
  double sd = 0.0;
  Index count = 0;
};

/// Mean and standard deviation of value(sequence, t) over all rows where it is not NaN, in two passes.
template <typename Value>
Spread spread(const Dataset& data, Value&& value) {
  Spread s;
  for (const Sequence& sequence : data) {
    for (Index t = 0; t < sequence.rows(); ++t) {
      const double v = value(sequence, t);
      if (!std::isnan(v)) {
        ++s.count;
        s.mean += (v - s.mean) / static_cast<double>(s.count);
      }
    }
  }
  double squares = 0.0;
  for (const Sequence& sequence : data) {
    for (Index t = 0; t < sequence.rows(); ++t) {
      const double v = value(sequence, t);
      if (!std::isnan(v)) {
        squares += (v - s.mean) * (v - s.mean);
      }
    }
  }
  s.sd = s.count > 1 ? std::sqrt(squares / static_cast<double>(s.count)) : 0.0;
  return s;
}

/// Of output e. An angle's values count within the turn about their mean direction: where a recording was cut, or how
/// often it turned over, says nothing.
Spread output_spread(const Dataset& data, Index e, double turn) {
  if (turn == 0.0) {
    return spread(data, [e](const Sequence& q, Index t) { return q.outputs(t, e); });
  }
  const double to_radians = 2.0 * std::numbers::pi / turn;
  const Spread sine = spread(data, [=](const Sequence& q, Index t) { return std::sin(to_radians * q.outputs(t, e)); });
  const Spread cosine =
      spread(data, [=](const Sequence& q, Index t) { return std::cos(to_radians * q.outputs(t, e)); });
  const double direction = std::atan2(sine.mean, cosine.mean) / to_radians;
  return spread(data, [=](const Sequence& q, Index t) { return nearest_turn(q.outputs(t, e), direction, turn); });
}

/// A scale that is never 0: a column that does not vary is scaled by its size.
double scale_of(const Spread& s) {
  const double size = std::abs(s.mean);
  if (s.sd > 1e-9 * size && s.sd > 0.0) {
    return s.sd;
  }
  return size > 0.0 ? size : 1.0;
}

/// A range of an angle wider than a turn is a turn.
void column_scale(const ModelSpec& spec, const std::string& name, const Spread& statistics, double turn, double& offset,
                  double& scale) {
  for (const Range& range : spec.ranges) {
    if (range.name == name) {
      const double width = range.high - range.low;
      offset = 0.5 * (range.low + range.high);
      scale = (turn > 0.0 ? std::min(width, turn) : width) * kUniformSd;
      return;
    }
  }
  offset = statistics.mean;
  scale = scale_of(statistics);
}

Matrix emission_of(const ModelSpec& spec) {
  const auto E = static_cast<Index>(spec.outputs.size());
  const auto D = static_cast<Index>(spec.states.size());
  return spec.C.size() > 0 ? spec.C : Matrix(Matrix::Identity(E, D));
}

/// The output that measures state i and nothing else, or -1.
Index observing_output(const Matrix& C, Index i) {
  for (Index e = 0; e < C.rows(); ++e) {
    if (C(e, i) == 1.0 && C.row(e).cwiseAbs().sum() == 1.0) {
      return e;
    }
  }
  return -1;
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

/// The states declared angles, in order, with the scale of each.
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

}  // namespace

Vector ModelSpec::turns() const {
  return output_turns(angles_of(*this, Vector::Ones(static_cast<Index>(states.size()))), emission_of(*this));
}

void ModelSpec::validate() const {
  const auto D = static_cast<Index>(states.size());
  const auto E = static_cast<Index>(outputs.size());
  check_names("inputs", inputs);
  check_names("outputs", outputs);
  check_names("states", states);
  if (outputs.empty()) {
    throw InputError("outputs: expected at least one name");
  }
  if (states.empty() || D > kMaxStates) {
    throw InputError(fmt::format("states: {} given, expected 1 to {}", states.size(), kMaxStates));
  }
  if (C.size() == 0 && D < E) {
    throw InputError(
        fmt::format("states: {} given for {} outputs; by default the first states are what the outputs "
                    "measure, so expected at least {} (or give C)",
                    D, E, E));
  }
  if (C.size() > 0 && (C.rows() != E || C.cols() != D || !C.allFinite())) {
    throw InputError(
        fmt::format("C: {} x {}, expected {} x {} finite numbers (outputs x states)", C.rows(), C.cols(), E, D));
  }
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
  for (Index i = 0; i < x0_sd.size(); ++i) {
    if (!std::isnan(x0_sd(i)) && !(x0_sd(i) >= 0.0 && std::isfinite(x0_sd(i)))) {
      throw InputError(fmt::format("x0-sd: {} is not a standard deviation", x0_sd(i)));
    }
  }
  for (const DerivativeOf& k : derivatives) {
    if (k.velocity < 0 || k.velocity >= D || k.position < 0 || k.position >= D) {
      throw InputError(fmt::format("derivatives: state {} of state {}, expected indices from 0 to {}", k.velocity,
                                   k.position, D - 1));
    }
  }
  check_angles(*this);
  for (const Range& range : ranges) {
    const auto named = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), range.name) != names.end();
    };
    if (!named(inputs) && !named(outputs) && !named(states)) {
      throw InputError(fmt::format("range of '{}': no input, output or state has this name", range.name));
    }
    if (!(range.low < range.high) || !std::isfinite(range.low) || !std::isfinite(range.high)) {
      throw InputError(fmt::format("range of '{}': [{}, {}] is empty", range.name, range.low, range.high));
    }
  }
}

Sequence Scaling::to_scaled(const Sequence& user) const {
  Sequence s = user;
  for (Index i = 0; i < s.controls.cols(); ++i) {
    s.controls.col(i) = (s.controls.col(i).array() - control_offset(i)) / control_scale(i);
  }
  for (Index e = 0; e < s.outputs.cols(); ++e) {
    s.outputs.col(e) = (s.outputs.col(e).array() - output_offset(e)) / output_scale(e);
  }
  return s;
}

Scaling Scaling::identity(const ModelSpec& spec) {
  const auto P = static_cast<Index>(spec.inputs.size());
  const auto E = static_cast<Index>(spec.outputs.size());
  const auto D = static_cast<Index>(spec.states.size());
  return {Vector::Zero(P), Vector::Ones(P), Vector::Zero(E), Vector::Ones(E), Vector::Zero(D), Vector::Ones(D)};
}

Sequence Component::delayed(Sequence scaled) const {
  if (dead_time == 0 && input_lags == 0) {
    return scaled;
  }
  const Index P = scaled.controls.cols();
  Matrix controls(scaled.controls.rows(), P * (input_lags + 1));
  for (Index t = 0; t < controls.rows(); ++t) {
    for (Index lag = 0; lag <= input_lags; ++lag) {
      controls.row(t).segment(P * lag, P) = scaled.controls.row(std::max<Index>(0, t - dead_time - lag));
    }
  }
  scaled.controls = std::move(controls);
  return scaled;
}

void column_statistics(const Dataset& data, Index e, double turn, double& mean, double& sd) {
  const Spread statistics = output_spread(data, e, turn);
  mean = statistics.mean;
  sd = scale_of(statistics);
}

Scaling make_scaling(const ModelSpec& spec, const Dataset& data) {
  const auto P = static_cast<Index>(spec.inputs.size());
  const auto E = static_cast<Index>(spec.outputs.size());
  const auto D = static_cast<Index>(spec.states.size());
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Vector turns = spec.turns();
  Scaling s{Vector(P), Vector(P), Vector(E), Vector(E), Vector::Zero(D), Vector::Ones(D)};
  for (Index i = 0; i < P; ++i) {
    const Spread statistics =
        spread(data, [i](const Sequence& q, Index t) { return t + 1 < q.rows() ? q.controls(t, i) : kNan; });
    column_scale(spec, spec.inputs[static_cast<std::size_t>(i)], statistics, 0.0, s.control_offset(i),
                 s.control_scale(i));
  }
  for (Index e = 0; e < E; ++e) {
    const Spread statistics = output_spread(data, e, turns(e));
    if (statistics.count == 0) {
      throw InputError(fmt::format("output '{}' has no value at all", spec.outputs[static_cast<std::size_t>(e)]));
    }
    column_scale(spec, spec.outputs[static_cast<std::size_t>(e)], statistics, turns(e), s.output_offset(e),
                 s.output_scale(e));
  }
  const Matrix C = emission_of(spec);
  for (Index i = 0; i < D; ++i) {
    const Index e = observing_output(C, i);
    if (e >= 0) {
      s.state_offset(i) = s.output_offset(e) - (given(spec.d, e) ? spec.d(e) : 0.0);
      s.state_scale(i) = s.output_scale(e);
    }
  }
  for (const DerivativeOf& derivative : spec.derivatives) {
    if (observing_output(C, derivative.velocity) >= 0) {
      // The kinematic row is homogeneous in the velocity: no offset, whatever the mean of its measurements.
      s.state_offset(derivative.velocity) = 0.0;
      continue;
    }
    const Index e = observing_output(C, derivative.position);
    // Without a measured position nothing says how fast it moves: a twentieth of its scale a step.
    double rate = s.state_scale(derivative.position) / (20.0 * spec.dt);
    if (e >= 0) {
      const double turn = turns(e);
      const Spread statistics = spread(data, [e, turn](const Sequence& q, Index t) {
        return t + 1 < q.rows() ? nearest_turn(q.outputs(t + 1, e) - q.outputs(t, e), 0.0, turn) : kNan;
      });
      if (statistics.sd > 0.01 * s.output_scale(e)) {
        rate = statistics.sd / spec.dt;
      }
    }
    column_scale(spec, spec.states[static_cast<std::size_t>(derivative.velocity)], {0.0, rate, 2}, 0.0,
                 s.state_offset(derivative.velocity), s.state_scale(derivative.velocity));
    s.state_offset(derivative.velocity) = 0.0;
  }
  return s;
}

Structure make_structure(const ModelSpec& spec, const Scaling& scaling, Index transitions) {
  Structure s;
  s.states = static_cast<Index>(spec.states.size());
  s.controls = static_cast<Index>(spec.inputs.size());
  s.outputs = static_cast<Index>(spec.outputs.size());
  s.inducing = std::min(spec.inducing, transitions);
  s.kernel = spec.kernel;
  s.linear_kernel = spec.linear_kernel;
  s.mean = spec.mean;
  for (const DerivativeOf& k : spec.derivatives) {
    s.kinematics.push_back(
        {k.position, k.velocity, 0.5 * spec.dt * scaling.state_scale(k.velocity) / scaling.state_scale(k.position)});
  }
  s.angles = angles_of(spec, scaling.state_scale);
  s.x0_mean = Vector::Zero(s.states);
  s.x0_sd = Vector::Ones(s.states);
  for (Index i = 0; i < s.states; ++i) {
    if (given(spec.x0_mean, i)) {
      s.x0_mean(i) = (spec.x0_mean(i) - scaling.state_offset(i)) / scaling.state_scale(i);
    }
    if (given(spec.x0_sd, i)) {
      s.x0_sd(i) = std::max(spec.x0_sd(i) / scaling.state_scale(i), kSmallestSd);
    }
  }
  s.validate();
  return s;
}

Parameters make_parameters(const ModelSpec& spec, const Scaling& scaling, const Structure& s, Free& free) {
  Parameters p = default_parameters(s);
  free = Free::defaults(s);
  free.C = spec.learn_C;
  free.d = spec.learn_d;
  const Matrix C = emission_of(spec);
  const Vector d = spec.d.size() > 0 ? spec.d : Vector(Vector::Zero(s.outputs));
  // y = C x + d in user units becomes y_s = S_y^-1 (C S_x) x_s + S_y^-1 (C o_x + d - o_y).
  const auto inverse = scaling.output_scale.cwiseInverse().asDiagonal();
  p.C = inverse * C * scaling.state_scale.asDiagonal();
  p.d = inverse * Vector(C * scaling.state_offset + d - scaling.output_offset);
  for (Index e = 0; e < s.outputs; ++e) {
    if (given(spec.output_sd, e)) {
      p.log_r(e) = 2.0 * std::log(std::max(spec.output_sd(e) / scaling.output_scale(e), kSmallestSd));
      free.r(e) = 0.0;
    }
  }
  for (Index i = 0; i < s.states; ++i) {
    if (given(spec.process_sd, i)) {
      p.log_q(i) = 2.0 * std::log(std::max(spec.process_sd(i) / scaling.state_scale(i), kSmallestSd));
      free.q(i) = 0.0;
    }
  }
  return p;
}

}  // namespace gpilot::ssm
