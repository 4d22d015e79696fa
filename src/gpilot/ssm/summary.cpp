#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "gpilot/ssm/declared.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/report.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

namespace {

/// States of the dynamics' own are in scaled units.
Vector state_offset(const Scaling& s, const Dynamics& dynamics) {
  return dynamics.state_names.empty() ? s.state_offset : Vector(Vector::Zero(dynamics.structure.states));
}

Vector state_scale(const Scaling& s, const Dynamics& dynamics) {
  return dynamics.state_names.empty() ? s.state_scale : Vector(Vector::Ones(dynamics.structure.states));
}

/// "u", "u(t-3)" of the inputs that the transition takes.
void append_controls(const ModelSpec& spec, const Dynamics& dynamics, std::vector<std::string>& names) {
  for (Index lag = dynamics.dead_time; lag <= dynamics.dead_time + dynamics.input_lags; ++lag) {
    for (const std::string& name : spec.inputs) {
      names.push_back(lag == 0 ? name : fmt::format("{}(t-{})", name, lag));
    }
  }
}

/// Offsets and scales of the transition's inputs, states first.
struct InputScaling {
  InputScaling(const Scaling& s, const Dynamics& dynamics)
      : offset(dynamics.structure.inputs()), scale(dynamics.structure.inputs()) {
    const Index copies = dynamics.input_lags + 1;
    offset << state_offset(s, dynamics), s.control_offset.replicate(copies, 1);
    scale << state_scale(s, dynamics), s.control_scale.replicate(copies, 1);
  }

  Vector offset;  ///< [I]
  Vector scale;   ///< [I]
};

/// The linear part of a row in scaled units: the mean function plus the linear kernel's posterior mean, of the inputs
/// and the constant [I + 1], and of the angles' sines and cosines, in turn [2 A].
struct LinearWeights {
  Vector inputs, angles;
};

/// `row` counts the rows with a mean function, `g` those with a Gaussian process (-1: it has none).
LinearWeights linear_weights(const Dynamics& dynamics, Index row, Index g) {
  const Structure& s = dynamics.structure;
  const Index I = s.inputs();
  LinearWeights w{dynamics.parameters.mean_weights.col(row), Vector::Zero(2 * static_cast<Index>(s.angles.size()))};
  if (!s.linear_kernel || g < 0) {
    return w;
  }
  const Vector sd = dynamics.parameters.log_linear_sd.col(g).array().exp();
  const Vector mu = dynamics.weights[static_cast<std::size_t>(g)].mu.tail(s.embedded_inputs() + 1);
  Vector of_inputs(I + 1);
  of_inputs << mu.head(I), mu(s.embedded_inputs());
  for (std::size_t a = 0; a < s.angles.size(); ++a) {
    const Index input = s.angles[a].input;
    const auto k = static_cast<Index>(a);
    w.angles(2 * k) = sd(input) * mu(input);
    w.angles(2 * k + 1) = sd(input) * mu(I + k);
    of_inputs(input) = 0.0;
  }
  w.inputs += sd.cwiseProduct(of_inputs);
  return w;
}

void describe_mean_row(const Dynamics& dynamics, const InputScaling& inputs, Index state, Index mean_row, Index g,
                       RowSummary& row) {
  const Index I = dynamics.structure.inputs();
  const LinearWeights linear = linear_weights(dynamics, mean_row, g);
  const Vector& w = linear.inputs;
  const double s_d = inputs.scale(state);
  // x'_d = o_d + s_d (w_0 + sum_i w_i (u_i - o_i) / s_i)
  row.weights = s_d * w.head(I).cwiseQuotient(inputs.scale);
  row.offset = inputs.offset(state) + s_d * w(I) - row.weights.dot(inputs.offset);
  row.weights.conservativeResize(I + linear.angles.size());
  for (std::size_t a = 0; a < dynamics.structure.angles.size(); ++a) {
    // .. + s_d / omega (w_s sin(u - o) + w_c (cos(u - o) - 1)), in sin(u) and cos(u)
    const kernels::Angle& angle = dynamics.structure.angles[a];
    const auto k = 2 * static_cast<Index>(a);
    const double o = inputs.offset(angle.input);
    const double w_s = s_d / angle.omega * linear.angles(k);
    const double w_c = s_d / angle.omega * linear.angles(k + 1);
    row.weights(I + k) = w_s * std::cos(o) + w_c * std::sin(o);
    row.weights(I + k + 1) = w_c * std::cos(o) - w_s * std::sin(o);
    row.offset -= w_c;
  }
  if (dynamics.structure.inducing > 0 && g >= 0) {
    row.function_sd = s_d * std::exp(0.5 * dynamics.parameters.log_variance(g));
    row.relative_length_scales = dynamics.parameters.log_length_scales.col(g).array().exp();
    for (const Index i : dynamics.structure.form(g).excluded) {
      row.relative_length_scales(i) = std::numeric_limits<double>::infinity();
    }
    row.length_scales = row.relative_length_scales.cwiseProduct(inputs.scale);
  }
}

std::vector<RowSummary> describe_rows(const Model& model, const Dynamics& dynamics) {
  const Structure& s = dynamics.structure;
  const InputScaling inputs(model.scaling, dynamics);
  const std::vector<std::string>& names = dynamics.state_names.empty() ? model.spec.states : dynamics.state_names;
  const std::vector<Index> gp_rows = s.gp_rows();
  const std::vector<Index> mean_rows = s.mean_rows();
  std::vector<RowSummary> rows(static_cast<std::size_t>(s.states));
  for (Index d = 0; d < s.states; ++d) {
    RowSummary& row = rows[static_cast<std::size_t>(d)];
    row.state = names[static_cast<std::size_t>(d)];
    row.process_sd = d < s.stochastic() ? std::exp(0.5 * dynamics.parameters.log_q(d)) * inputs.scale(d) : 0.0;
    row.process_fixed = given(model.spec.process_sd, d);
  }
  for (const Shift& k : s.shifts) {
    rows[static_cast<std::size_t>(k.state)].copied = k.source;
  }
  for (const Kinematics& k : s.kinematics) {
    rows[static_cast<std::size_t>(k.position)].velocity = k.velocity;
  }
  for (std::size_t k = 0; k < mean_rows.size(); ++k) {
    RowSummary& row = rows[static_cast<std::size_t>(mean_rows[k])];
    const auto found = std::find(gp_rows.begin(), gp_rows.end(), mean_rows[k]);
    const Index g = found == gp_rows.end() ? -1 : found - gp_rows.begin();
    describe_mean_row(dynamics, inputs, mean_rows[k], static_cast<Index>(k), g, row);
    if (g >= 0 && &dynamics == &model.gp && given(model.report.explained, g)) {
      row.explained = model.report.explained(g);
    }
  }
  return rows;
}

/// y = C x + d in user units: as declared, to the last bit, where it was not learned.
void describe_emission(const Model& model, const Dynamics& dynamics, Summary& summary) {
  const Scaling& scaling = model.scaling;
  const ModelSpec& spec = model.spec;
  const Parameters& p = dynamics.parameters;
  // y_s = C_s x_s + d_s in scaled units
  summary.C = scaling.output_scale.asDiagonal() * p.C * state_scale(scaling, dynamics).cwiseInverse().asDiagonal();
  summary.d = scaling.output_offset + scaling.output_scale.cwiseProduct(p.d) -
              Vector(summary.C * state_offset(scaling, dynamics));
  if (!dynamics.state_names.empty()) {
    return;
  }
  if (!spec.learn_C) {
    summary.C = spec.C.size() > 0 ? spec.C : Matrix(Matrix::Identity(p.C.rows(), p.C.cols()));
  }
  for (Index e = 0; e < summary.d.size() && !spec.learn_d; ++e) {
    summary.d(e) = given(spec.d, e) ? spec.d(e) : 0.0;
  }
}

}  // namespace

Summary summarize(const Model& model, const Dynamics& dynamics) {
  const Scaling& scaling = model.scaling;
  const Parameters& p = dynamics.parameters;
  Summary summary;
  summary.sequences = static_cast<Index>(model.starts.size()) - 1;
  summary.rows = model.starts.back();
  for (const Setting& setting : model.report.settings) {
    Index* const count = setting.name == kRowsSetting        ? &summary.rows
                         : setting.name == kSequencesSetting ? &summary.sequences
                                                             : nullptr;
    if (count != nullptr) {
      std::from_chars(setting.value.data(), setting.value.data() + setting.value.size(), *count);
    }
  }
  summary.inputs = dynamics.state_names.empty() ? model.spec.states : dynamics.state_names;
  append_controls(model.spec, dynamics, summary.inputs);
  summary.terms = summary.inputs;
  for (const kernels::Angle& angle : dynamics.structure.angles) {
    const std::string& name = summary.inputs[static_cast<std::size_t>(angle.input)];
    summary.terms.push_back(fmt::format("sin({})", name));
    summary.terms.push_back(fmt::format("cos({})", name));
  }
  summary.states = describe_rows(model, dynamics);
  describe_emission(model, dynamics, summary);
  summary.output_sd = scaling.output_scale.array() * (0.5 * p.log_r.array()).exp();
  for (Index e = 0; e < p.log_r.size(); ++e) {
    summary.output_fixed.push_back(given(model.spec.output_sd, e));
  }
  const Structure& s = dynamics.structure;
  const Vector scale = state_scale(scaling, dynamics);
  summary.x0_mean = state_offset(scaling, dynamics) + scale.cwiseProduct(s.x0_mean);
  summary.x0_sd = scale.cwiseProduct(s.x0_sd);
  return summary;
}

}  // namespace gpilot::ssm
