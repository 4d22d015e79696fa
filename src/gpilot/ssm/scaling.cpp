#include "gpilot/ssm/scaling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/knowledge.hpp"

namespace gpilot::ssm {

namespace {

const double kUniformSd = std::sqrt(1.0 / 12.0);  ///< of a variable in [0, 1]

// Of a velocity that is not measured (docs/math/model.md, Scaling). By feel: kernels learn their length scales, so the
// scale need only be of the right order.
constexpr double kStepsAcross = 20.0;  ///< in which it moves its position by the position's scale, where no data say so
constexpr double kLeastMotion = 0.01;  ///< of the position's scale a step; below, data say more of noise than of motion

struct Spread {
  double mean = 0.0;
  double sd = 0.0;
  Index count = 0;
};

/// Mean and standard deviation of value(sequence, t) over all rows where it is not NaN, in two passes: the second takes
/// deviations from the first's mean, so that a large offset costs no digits.
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
  double left = 0.0;  // what rounding left of the mean
  for (const Sequence& sequence : data) {
    for (Index t = 0; t < sequence.rows(); ++t) {
      const double v = value(sequence, t);
      if (!std::isnan(v)) {
        squares += (v - s.mean) * (v - s.mean);
        left += v - s.mean;
      }
    }
  }
  s.mean += s.count > 0 ? left / static_cast<double>(s.count) : 0.0;
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

/// Standard deviation of what output e changes by in a step.
double step_sd(const Dataset& data, Index e, double turn) {
  return spread(data,
                [e, turn](const Sequence& q, Index t) {
                  return t + 1 < q.rows() ? nearest_turn(q.outputs(t + 1, e) - q.outputs(t, e), 0.0, turn) : kNaN;
                })
      .sd;
}

/// A scale that is never 0: a column that does not vary is scaled by its size.
double scale_of(const Spread& s) {
  const double size = std::abs(s.mean);
  constexpr double kRounding = 16.0 * std::numeric_limits<double>::epsilon();
  if (s.sd > kRounding * size && s.sd > 0.0) {
    return s.sd;
  }
  return size > 0.0 ? size : 1.0;
}

/// A range of an angle wider than a turn is a turn.
void column_scale(const ModelSpec& spec, const std::string& name, const Spread& statistics, double turn, double& offset,
                  double& scale) {
  if (const Range* range = range_of(spec, name)) {
    const double width = range->high - range->low;
    offset = 0.5 * (range->low + range->high);
    scale = (turn > 0.0 ? std::min(width, turn) : width) * kUniformSd;
    return;
  }
  offset = statistics.mean;
  scale = scale_of(statistics);
}

/// A state has the scale of the output that measures it. Velocities that none measures follow, by their positions.
void scale_states(const ModelSpec& spec, const Matrix& C, Scaling& s) {
  for (Index i = 0; i < s.state_scale.size(); ++i) {
    const Index e = observing_output(C, i);
    if (e >= 0) {
      s.state_offset(i) = s.output_offset(e) - (given(spec.d, e) ? spec.d(e) : 0.0);
      s.state_scale(i) = s.output_scale(e);
    } else if (std::find(spec.outputs.begin(), spec.outputs.end(), spec.states[static_cast<std::size_t>(i)]) ==
               spec.outputs.end()) {  // nothing but a declared range says where a latent state is
      column_scale(spec, spec.states[static_cast<std::size_t>(i)], {0.0, 1.0, 2}, 0.0, s.state_offset(i),
                   s.state_scale(i));
    }
  }
}

void scale_velocities(const ModelSpec& spec, const Matrix& C, const Dataset& data, const Vector& turns, Scaling& s) {
  for (const DerivativeOf& derivative : spec.derivatives) {
    if (observing_output(C, derivative.velocity) >= 0) {
      // The kinematic row is homogeneous in the velocity: no offset, whatever the mean of its measurements.
      s.state_offset(derivative.velocity) = 0.0;
      continue;
    }
    const Index e = observing_output(C, derivative.position);
    const double moved = e >= 0 ? step_sd(data, e, turns(e)) : 0.0;
    const double rate = e >= 0 && moved > kLeastMotion * s.output_scale(e)
                            ? moved / spec.dt
                            : s.state_scale(derivative.position) / (kStepsAcross * spec.dt);
    column_scale(spec, spec.states[static_cast<std::size_t>(derivative.velocity)], {0.0, rate, 2}, 0.0,
                 s.state_offset(derivative.velocity), s.state_scale(derivative.velocity));
    s.state_offset(derivative.velocity) = 0.0;
  }
}

}  // namespace

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

void column_statistics(const Dataset& data, Index e, double turn, double& mean, double& sd) {
  const Spread statistics = output_spread(data, e, turn);
  mean = statistics.mean;
  sd = scale_of(statistics);
}

Scaling make_scaling(const ModelSpec& spec, const Dataset& data) {
  const auto P = static_cast<Index>(spec.inputs.size());
  const auto E = static_cast<Index>(spec.outputs.size());
  const auto D = static_cast<Index>(spec.states.size());
  const Vector turns = spec.turns();
  Scaling s{Vector(P), Vector(P), Vector(E), Vector(E), Vector::Zero(D), Vector::Ones(D)};
  for (Index i = 0; i < P; ++i) {
    const Spread statistics =
        spread(data, [i](const Sequence& q, Index t) { return t + 1 < q.rows() ? q.controls(t, i) : kNaN; });
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
  scale_states(spec, C, s);
  scale_velocities(spec, C, data, turns, s);
  centre(spec, s);
  return s;
}

}  // namespace gpilot::ssm
