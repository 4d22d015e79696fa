#include "gpilot/ssm/model.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/knowledge.hpp"
#include "gpilot/ssm/physics_mean.hpp"

namespace gpilot::ssm {

namespace {

/// Below this (scaled), a standard deviation is taken as this: precisions stay within what doubles carry.
constexpr double kSmallestSd = 1e-5;

}  // namespace

Sequence Dynamics::delayed(Sequence scaled) const {
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
  s.forms = forms_of(spec, s);
  s.known_weights = known_weights_of(spec, scaling);
  if (!spec.physics.empty()) {
    s.physics = std::make_shared<const PhysicsMean>(spec, scaling);
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
