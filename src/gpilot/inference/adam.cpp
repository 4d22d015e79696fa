#include "gpilot/inference/adam.hpp"

#include <cmath>
#include <utility>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/tied.hpp"
#include "gpilot/inference/whitening.hpp"
#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

namespace {

// As Kingma and Ba (2015) recommend.
constexpr double kFirstDecay = 0.9;
constexpr double kSecondDecay = 0.999;
constexpr double kEpsilon = 1e-8;

/// Flat coordinates of q(v): mu, then the lower triangle of chol(Sigma) with its diagonal as logarithms.
Index weights_size(Index features) {
  return features + features * (features + 1) / 2;
}

void weights_from(VectorRef flat, Index features, gp::Weights& v, Matrix& L) {
  v.mu = flat.head(features);
  L.setZero(features, features);
  Index k = features;
  for (Index j = 0; j < features; ++j) {
    L(j, j) = std::exp(flat(k++));
    for (Index i = j + 1; i < features; ++i) {
      L(i, j) = flat(k++);
    }
  }
  v.Sigma.noalias() = L * L.transpose();
}

/// The inverse of weights_from.
void weights_to(const gp::Weights& v, Eigen::Ref<Vector> flat) {
  const Index features = v.mu.size();
  Matrix L;
  linalg::cholesky(v.Sigma, L, "covariance of the inducing points");
  flat.head(features) = v.mu;
  Index k = features;
  for (Index j = 0; j < features; ++j) {
    flat(k++) = std::log(L(j, j));
    for (Index i = j + 1; i < features; ++i) {
      flat(k++) = L(i, j);
    }
  }
}

void weights_pull_back(const gp::Weights& bar, const Matrix& L, Eigen::Ref<Vector> flat) {
  const Index features = bar.mu.size();
  flat.head(features) = bar.mu;
  const Matrix L_bar = 2.0 * bar.Sigma * L;
  Index k = features;
  for (Index j = 0; j < features; ++j) {
    flat(k++) = L_bar(j, j) * L(j, j);
    for (Index i = j + 1; i < features; ++i) {
      flat(k++) = L_bar(i, j);
    }
  }
}

}  // namespace

Adam::Adam(Index size, double learning_rate)
    : learning_rate_(learning_rate), first_(Vector::Zero(size)), second_(Vector::Zero(size)) {}

void Adam::step(VectorRef gradient, Eigen::Ref<Vector> x) {
  ++count_;
  first_ = kFirstDecay * first_ + (1.0 - kFirstDecay) * gradient;
  second_ = kSecondDecay * second_ + (1.0 - kSecondDecay) * gradient.cwiseAbs2();
  const double first_scale = 1.0 / (1.0 - std::pow(kFirstDecay, count_));
  const double second_scale = 1.0 / (1.0 - std::pow(kSecondDecay, count_));
  x.array() += learning_rate_ * first_scale * first_.array() / ((second_scale * second_.array()).sqrt() + kEpsilon);
}

SampledResult train_sampled(ssm::Elbo& elbo, const Priors& priors, const ssm::Free& free, ssm::Parameters p,
                            const ssm::StatePosterior& q, const SampledOptions& options,
                            const std::vector<gp::Weights>& weights) {
  const ssm::Structure& structure = elbo.structure();
  const Index features = structure.features();
  const auto rows = static_cast<Index>(structure.gp_rows().size());
  SampledResult result{std::move(p), q, {}, {}, 0};
  result.weights.resize(static_cast<std::size_t>(rows));
  if (options.tied) {
    result.states = tied_states(structure, elbo.series(), result.parameters);
  }
  const StateWhitening whitening(result.states, elbo.series());
  const Index of_parameters = ssm::free_count(result.parameters, free);
  const Index of_states = options.tied ? 0 : whitening.size();
  const Index of_weights = weights_size(features);
  Vector x = Vector::Zero(of_parameters + of_states + rows * of_weights);  // 0: q(v) is its prior
  Vector gradient(x.size());
  ssm::pack(result.parameters, free, x.head(of_parameters));
  for (std::size_t g = 0; g < weights.size(); ++g) {
    weights_to(weights[g], x.segment(of_parameters + of_states + static_cast<Index>(g) * of_weights, of_weights));
  }

  std::vector<Matrix> L(static_cast<std::size_t>(rows));
  const auto unpack_all = [&] {
    ssm::unpack(x.head(of_parameters), free, result.parameters);
    if (options.tied) {
      result.states = tied_states(structure, elbo.series(), result.parameters);
    } else {
      whitening.to_states(x.segment(of_parameters, of_states), result.states);
    }
    for (Index g = 0; g < rows; ++g) {
      weights_from(x.segment(of_parameters + of_states + g * of_weights, of_weights), features,
                   result.weights[static_cast<std::size_t>(g)], L[static_cast<std::size_t>(g)]);
    }
  };

  Adam adam(x.size(), options.learning_rate);
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  std::vector<gp::Weights> v_bar;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    unpack_all();
    elbo.set_nodes(gp::make_nodes(gp::NodeRule::kSamples, structure.states, options.samples, options.seed,
                                  static_cast<std::uint32_t>(epoch)));
    double objective = elbo.gradient(result.parameters, result.states, p_bar, q_bar, &result.weights);
    elbo.weights_gradient(result.parameters, v_bar);
    objective += priors.log_density(result.parameters, &p_bar);
    if (options.tied) {
      tied_pull_back(elbo.series(), result.parameters, result.states, q_bar, p_bar);
    } else {
      whitening.pull_back(x.segment(of_parameters, of_states), q_bar, gradient.segment(of_parameters, of_states));
    }
    ssm::pack(p_bar, free, gradient.head(of_parameters));
    for (Index g = 0; g < rows; ++g) {
      weights_pull_back(v_bar[static_cast<std::size_t>(g)], L[static_cast<std::size_t>(g)],
                        gradient.segment(of_parameters + of_states + g * of_weights, of_weights));
    }
    adam.step(gradient, x);
    result.trace.push_back(objective);
    ++result.evaluations;
    if (options.on_epoch && !options.on_epoch(epoch + 1, objective)) {
      break;
    }
  }
  unpack_all();
  return result;
}

}  // namespace gpilot::inference
