#include "gpilot/trials/system_model.hpp"

namespace gpilot::trials {

ssm::ModelSpec model_spec(const systems::System& system, bool declare_derivatives, bool declare_angles) {
  const systems::SystemSpec& s = system.spec();
  ssm::ModelSpec spec;
  spec.inputs = systems::channel_names(s.controls);
  spec.outputs = systems::channel_names(s.outputs);
  spec.states = systems::channel_names(s.states);
  spec.dt = s.dt;
  spec.C = s.emission;
  spec.x0_mean = s.x0_mean;
  spec.x0_sd = s.x0_sd;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const auto p = static_cast<Index>(i);
    spec.ranges.push_back({spec.inputs[i], s.control_box.low(p), s.control_box.high(p)});
  }
  for (std::size_t e = 0; e < spec.outputs.size(); ++e) {
    const auto row = s.emission.row(static_cast<Index>(e));
    spec.ranges.push_back({spec.outputs[e], row.dot(s.region.low), row.dot(s.region.high)});
  }
  if (declare_derivatives) {
    for (const systems::DerivativeRelation& d : s.derivatives) {
      spec.derivatives.push_back({d.velocity, d.position});
      const std::string& velocity = spec.states[static_cast<std::size_t>(d.velocity)];
      spec.ranges.push_back({velocity, s.region.low(d.velocity), s.region.high(d.velocity)});
    }
  }
  for (const Index d : declare_angles ? s.angles : std::vector<Index>{}) {
    spec.angles.push_back(spec.states[static_cast<std::size_t>(d)]);
  }
  return spec;
}

void apply_paper_settings(const systems::System& system, ssm::ModelSpec& spec, inference::FitOptions& fit) {
  const systems::PaperSettings& paper = system.spec().paper;
  spec.kernel = kernels::kind_from_name(paper.kernel);
  spec.linear_kernel = false;
  spec.mean = ssm::MeanKind::kIdentity;
  spec.derivatives.clear();
  spec.inducing = 20;
  fit.method = inference::Method::kAdam;
  fit.epochs = paper.epochs;
  fit.samples = 50;
  fit.learning_rate = 0.01;
  fit.paper_start = {paper.initial_variance, paper.initial_length_scale};
}

}  // namespace gpilot::trials
