#include "gpilot/study/system_model.hpp"

namespace gpilot::study {

namespace {

std::vector<std::string> names_of(const std::vector<systems::Channel>& channels) {
  std::vector<std::string> names;
  for (const systems::Channel& channel : channels) {
    names.push_back(channel.name);
  }
  return names;
}

}  // namespace

ssm::ModelSpec model_spec(const systems::System& system, bool declare_derivatives) {
  const systems::SystemSpec& s = system.spec();
  ssm::ModelSpec spec;
  spec.inputs = names_of(s.controls);
  spec.outputs = names_of(s.outputs);
  spec.states = names_of(s.states);
  spec.dt = s.dt;
  spec.C = s.emission;
  spec.x0_mean = s.x0_mean;
  spec.x0_sd = s.x0_sd;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    const auto p = static_cast<Index>(i);
    spec.ranges.push_back({spec.inputs[i], s.control_box.low(p), s.control_box.high(p)});
  }
  if (declare_derivatives) {
    for (const systems::DerivativeRelation& d : s.derivatives) {
      spec.derivatives.push_back({d.velocity, d.position});
    }
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

}  // namespace gpilot::study
