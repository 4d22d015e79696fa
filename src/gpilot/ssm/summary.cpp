#include "gpilot/ssm/summary.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gpilot::ssm {

namespace {

bool given(const Vector& values, Index i) {
  return i < values.size() && !std::isnan(values(i));
}

/// Offsets and scales of the transition's inputs, states first.
struct InputScaling {
  explicit InputScaling(const Scaling& s)
      : offset(s.state_offset.size() + s.control_offset.size()), scale(offset.size()) {
    offset << s.state_offset, s.control_offset;
    scale << s.state_scale, s.control_scale;
  }

  Vector offset;  ///< [I]
  Vector scale;   ///< [I]
};

/// The linear part of GP row g in scaled units: the mean function plus the linear kernel's posterior mean [I + 1].
Vector linear_weights(const Component& component, Index g) {
  const Structure& s = component.structure;
  Vector w = component.parameters.mean_weights.col(g);
  if (s.linear_kernel) {
    const Vector sd = component.parameters.log_linear_sd.col(g).array().exp();
    w += sd.cwiseProduct(component.weights[static_cast<std::size_t>(g)].mu.tail(s.inputs() + 1));
  }
  return w;
}

void describe_gp_row(const Component& component, const InputScaling& inputs, Index state, Index g, RowSummary& row) {
  const Index I = component.structure.inputs();
  const Vector w = linear_weights(component, g);
  const double s_d = inputs.scale(state);
  // x'_d = o_d + s_d (w_0 + sum_i w_i (u_i - o_i) / s_i)
  row.weights = s_d * w.head(I).cwiseQuotient(inputs.scale);
  row.offset = inputs.offset(state) + s_d * w(I) - row.weights.dot(inputs.offset);
  if (component.structure.inducing > 0) {
    row.function_sd = s_d * std::exp(0.5 * component.parameters.log_variance(g));
    row.relative_length_scales = component.parameters.log_length_scales.col(g).array().exp();
    row.length_scales = row.relative_length_scales.cwiseProduct(inputs.scale);
  }
}

std::vector<RowSummary> describe_rows(const Model& model, const Component& component) {
  const Structure& s = component.structure;
  const InputScaling inputs(model.scaling);
  const std::vector<Index> gp_rows = s.gp_rows();
  std::vector<RowSummary> rows(static_cast<std::size_t>(s.states));
  for (Index d = 0; d < s.states; ++d) {
    RowSummary& row = rows[static_cast<std::size_t>(d)];
    row.state = model.spec.states[static_cast<std::size_t>(d)];
    row.process_sd = std::exp(0.5 * component.parameters.log_q(d)) * model.scaling.state_scale(d);
    row.process_fixed = given(model.spec.process_sd, d);
  }
  for (const Kinematics& k : s.kinematics) {
    rows[static_cast<std::size_t>(k.position)].velocity = k.velocity;
  }
  for (std::size_t g = 0; g < gp_rows.size(); ++g) {
    RowSummary& row = rows[static_cast<std::size_t>(gp_rows[g])];
    describe_gp_row(component, inputs, gp_rows[g], static_cast<Index>(g), row);
    if (&component == &model.gp && given(model.report.explained, static_cast<Index>(g))) {
      row.explained = model.report.explained(static_cast<Index>(g));
    }
  }
  return rows;
}

/// y = C x + d in user units: as declared, to the last bit, where it was not learned.
void describe_emission(const Model& model, const Parameters& p, Summary& summary) {
  const Scaling& scaling = model.scaling;
  const ModelSpec& spec = model.spec;
  // y_s = C_s x_s + d_s in scaled units
  summary.C = scaling.output_scale.asDiagonal() * p.C * scaling.state_scale.cwiseInverse().asDiagonal();
  summary.d = scaling.output_offset + scaling.output_scale.cwiseProduct(p.d) - Vector(summary.C * scaling.state_offset);
  if (!spec.learn_C) {
    summary.C = spec.C.size() > 0 ? spec.C : Matrix(Matrix::Identity(p.C.rows(), p.C.cols()));
  }
  for (Index e = 0; e < summary.d.size() && !spec.learn_d; ++e) {
    summary.d(e) = given(spec.d, e) ? spec.d(e) : 0.0;
  }
}

}  // namespace

Summary summarize(const Model& model, const Component& component) {
  const Scaling& scaling = model.scaling;
  const Parameters& p = component.parameters;
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
  summary.inputs = model.spec.states;
  summary.inputs.insert(summary.inputs.end(), model.spec.inputs.begin(), model.spec.inputs.end());
  summary.states = describe_rows(model, component);
  describe_emission(model, p, summary);
  summary.output_sd = scaling.output_scale.array() * (0.5 * p.log_r.array()).exp();
  for (Index e = 0; e < p.log_r.size(); ++e) {
    summary.output_fixed.push_back(given(model.spec.output_sd, e));
  }
  const Structure& s = component.structure;
  summary.x0_mean = scaling.state_offset + scaling.state_scale.cwiseProduct(s.x0_mean);
  summary.x0_sd = scaling.state_scale.cwiseProduct(s.x0_sd);
  return summary;
}

}  // namespace gpilot::ssm
