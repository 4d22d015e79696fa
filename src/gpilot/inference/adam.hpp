#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpilot/inference/priors.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

/// Adam (Kingma and Ba 2015): one step of gradient ascent at a time.
class Adam {
 public:
  Adam(Index size, double learning_rate);
  void step(VectorRef gradient, Eigen::Ref<Vector> x);

 private:
  double learning_rate_;
  Vector first_, second_;
  int count_ = 0;
};

struct SampledOptions {
  int epochs = 200;
  double learning_rate = 0.01;
  Index samples = 50;
  bool tied = false;
  std::uint64_t seed = 0;
  std::function<bool(int epoch, double objective)> on_epoch;  ///< returns whether to go on
};

struct SampledResult {
  ssm::Parameters parameters;
  ssm::StatePosterior states;
  std::vector<gp::Weights> weights;
  std::vector<double> trace;  ///< the sampled objective of every epoch: it is noisy, so it may fall
  int evaluations = 0;
};

/// The paper's training: Adam on the bound whose expectations are taken over random samples, drawn anew every epoch,
/// with q(u) a free Gaussian of its own and q(x) free or tied; one full-batch step an epoch. q(u) starts at `weights`,
/// or at its prior where there are none.
SampledResult train_sampled(ssm::Elbo& elbo, const Priors& priors, const ssm::Free& free, ssm::Parameters p,
                            const ssm::StatePosterior& q, const SampledOptions& options,
                            const std::vector<gp::Weights>& weights = {});

}  // namespace gpilot::inference
