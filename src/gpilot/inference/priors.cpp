#include "gpilot/inference/priors.hpp"

namespace gpilot::inference {

namespace {

template <typename Block>
double normal(const Block& block, double mean, double sd, Block* bar) {
  if (bar != nullptr) {
    bar->array() -= (block.array() - mean) / (sd * sd);
  }
  return -0.5 * (block.array() - mean).square().sum() / (sd * sd);
}

template <typename Block>
double normal_around(const Block& block, const Block& centre, double sd, Block* bar) {
  if (bar != nullptr) {
    *bar -= (block - centre) / (sd * sd);
  }
  return -0.5 * (block - centre).squaredNorm() / (sd * sd);
}

}  // namespace

namespace {

/// The difference that the rows' own means make to the priors of their amplitudes.
double shifted(const Priors& priors, const ssm::Parameters& p, ssm::Parameters* bar) {
  double change = 0.0;
  const auto add = [&](double value, double mean, double moved, double sd, double* out) {
    change += 0.5 * ((value - mean) * (value - mean) - (value - moved) * (value - moved)) / (sd * sd);
    if (out != nullptr) {
      *out += (moved - mean) / (sd * sd);
    }
  };
  for (Index g = 0; g < priors.shift.size(); ++g) {
    add(p.log_variance(g), priors.log_variance.mean, priors.log_variance_mean(g), priors.log_variance.sd,
        bar != nullptr ? &bar->log_variance(g) : nullptr);
    for (Index i = 0; i < p.log_linear_sd.rows(); ++i) {
      add(p.log_linear_sd(i, g), priors.log_linear_sd.mean, priors.log_linear_sd_mean(g), priors.log_linear_sd.sd,
          bar != nullptr ? &bar->log_linear_sd(i, g) : nullptr);
    }
  }
  return change;
}

}  // namespace

double Priors::log_density(const ssm::Parameters& p, ssm::Parameters* bar) const {
  const auto member = [&](auto ssm::Parameters::*block) { return bar != nullptr ? &(bar->*block) : nullptr; };
  using ssm::Parameters;
  return normal(p.log_variance, log_variance.mean, log_variance.sd, member(&Parameters::log_variance)) +
         normal(p.log_length_scales, log_length_scale.mean, log_length_scale.sd,
                member(&Parameters::log_length_scales)) +
         normal(p.log_linear_sd, log_linear_sd.mean, log_linear_sd.sd, member(&Parameters::log_linear_sd)) +
         normal_around(p.log_q, centre.log_q, log_q_sd, member(&Parameters::log_q)) +
         normal_around(p.log_r, centre.log_r, log_r_sd, member(&Parameters::log_r)) +
         normal(p.Z, 0.0, Z_sd, member(&Parameters::Z)) +
         normal_around(p.mean_weights, centre.mean_weights, mean_weight_sd, member(&Parameters::mean_weights)) +
         normal_around(p.C, centre.C, emission_sd, member(&Parameters::C)) +
         normal_around(p.d, centre.d, emission_sd, member(&Parameters::d)) +
         normal(p.physics, 0.0, 1.0, member(&Parameters::physics)) + shifted(*this, p, bar);
}

}  // namespace gpilot::inference
