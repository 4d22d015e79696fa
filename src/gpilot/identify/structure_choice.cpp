#include "gpilot/identify/structure_choice.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/bound_optimiser.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/linalg/eigenvalues.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::identify {

namespace {

constexpr double kStartAmplitude = 0.15;   ///< of the curved part, in standard deviations of the outputs
constexpr double kStartLengthScale = 3.5;  ///< in standard deviations of the inputs
constexpr double kMeanWeightSd = 0.5;      ///< of the linear part about the linear fit
constexpr double kLargestRadius = 0.9995;  ///< of the linear part
constexpr double kWidestStart = 3.0;       ///< sd of the first state, scaled
/// States from which degree 3 does for candidates. With one or two it errs where a state is hardly known (the ball
/// beam, where it chose a Gaussian process of twice the linear model's error), and little is gained.
constexpr Index kFewestCoarseStates = 3;

ssm::Series series_of(const ssm::Dataset& scaled, const ssm::Dynamics& dynamics) {
  ssm::Dataset delayed;
  delayed.reserve(scaled.size());
  for (const ssm::Sequence& sequence : scaled) {
    delayed.push_back(dynamics.delayed(sequence));
  }
  return ssm::concatenate(delayed);
}

/// The exact posterior of dynamics without their Gaussian process.
ssm::StatePosterior smoothed(const ssm::Dynamics& dynamics, const ssm::Series& series) {
  ssm::StatePosterior q = inference::smooth(inference::linear_part(dynamics.structure, dynamics.parameters), series);
  inference::snap_shifts(dynamics.structure, series, q);
  return q;
}

/// State e + E j is output e, j rows ago.
ssm::Structure delay_structure(const StructureChoice& choice, const ssm::ModelSpec& spec, const ssm::Series& series) {
  const Index E = series.outputs.rows();
  ssm::Structure s;
  s.states = E * choice.output_lags;
  s.controls = series.controls.rows();
  s.outputs = E;
  s.inducing = std::min(spec.inducing, series.transitions());
  s.kernel = spec.kernel;
  s.linear_kernel = false;
  s.mean = ssm::MeanKind::kLinear;
  for (Index d = E; d < s.states; ++d) {
    s.shifts.push_back({d, d - E});
  }
  s.x0_mean = Vector::Zero(s.states);
  s.x0_sd = Vector::Constant(s.states, kWidestStart);
  s.validate();
  return s;
}

/// Regression of the outputs that a linear model smoothed on their own past and the inputs: the linear part's start,
/// and the variance of what it leaves.
void regress_delays(const ssm::Structure& s, const ssm::Series& series, const Matrix& outputs, ssm::Parameters& p) {
  const Index E = s.outputs;
  const Index lags = s.states / E;
  const Index I = s.inputs();
  Matrix normal = Matrix::Zero(I + 1, I + 1);
  Matrix right = Matrix::Zero(I + 1, E);
  Vector squares = Vector::Zero(E);
  Vector row(I + 1);
  Index count = 0;
  Index age = 0;  // rows since the first of the sequence
  for (Index t = 0; t < series.rows(); ++t) {
    age = series.first[static_cast<std::size_t>(t)] ? 0 : age + 1;
    if (age < lags) {
      continue;
    }
    for (Index j = 0; j < lags; ++j) {
      row.segment(E * j, E) = outputs.col(t - 1 - j);
    }
    row.segment(s.states, s.controls) = series.controls.col(t - 1);
    row(I) = 1.0;
    normal += row * row.transpose();
    right += row * outputs.col(t).transpose();
    squares += outputs.col(t).cwiseAbs2();
    ++count;
  }
  normal.diagonal().array() += 1e-6 * static_cast<double>(std::max<Index>(1, count));
  p.mean_weights = normal.ldlt().solve(right);
  const Vector left = squares - (right.cwiseProduct(p.mean_weights)).colwise().sum().transpose();
  const Vector variance = left / static_cast<double>(std::max<Index>(1, count));
  p.log_q.head(E) = variance.cwiseMax(1e-5).cwiseMin(0.1).array().log();
}

/// Poles of the linear part beyond the limit are pulled towards 0, all by one factor.
void keep_stable(const ssm::Structure& s, ssm::Parameters& p) {
  const double radius = linalg::spectral_radius(inference::linear_part(s, p).F);
  if (radius <= kLargestRadius) {
    return;
  }
  const double factor = kLargestRadius / radius;
  if (s.shifts.empty()) {
    p.mean_weights.topRows(s.states) *= factor;
    return;
  }
  const Index E = s.outputs;
  double power = 1.0;
  for (Index j = 0; j < s.states / E; ++j) {  // the coefficient of lag j + 1 scales with the power j + 1 of the poles
    power *= factor;
    p.mean_weights.middleRows(E * j, E) *= power;
  }
}

/// Joint quasi-Newton steps on the bound from a linear start.
void train(const Problem& problem, const ssm::ModelSpec& spec, const IdentifyOptions& options, const Effort& effort,
           ssm::Free free, FittedCandidate& candidate) {
  ssm::Dynamics& c = candidate.dynamics;
  const ssm::Series series = series_of(problem.scaled, c);
  keep_stable(c.structure, c.parameters);
  ssm::StatePosterior q = smoothed(c, series);
  ssm::Parameters& p = c.parameters;
  inference::Priors priors;
  priors.log_variance = {2.0 * std::log(kStartAmplitude), 1.5};
  priors.log_length_scale = {std::log(kStartLengthScale), 1.0};
  priors.mean_weight_sd = kMeanWeightSd;
  p.log_variance.setConstant(priors.log_variance.mean);
  p.log_length_scales.setConstant(priors.log_length_scale.mean);
  p.Z = inference::inducing_start(c.structure, series, q, options.seed);
  priors.centre = p;
  const bool coarse = effort.coarse && spec.nodes == gp::NodeRule::kAuto && c.structure.states >= kFewestCoarseStates;
  ssm::Elbo elbo(c.structure, series,
                 gp::make_nodes(coarse ? gp::NodeRule::kCubature3 : spec.nodes, c.structure.states, spec.node_points,
                                options.seed),
                 effort.threads);
  inference::BoundOptimiser optimiser(elbo, priors, std::move(free), p, std::move(q));
  optimiser.on_evaluation([&options](double /*objective*/) { return options.stop == nullptr || !*options.stop; });
  optimiser.polish(effort.iterations, 1e-5);
  p = optimiser.parameters();
  keep_stable(c.structure, p);
  candidate.q = optimiser.states();
  candidate.bound = elbo.value(p, candidate.q);
  c.weights = elbo.weights();
  candidate.objective = candidate.bound + priors.log_density(p, nullptr);
  candidate.converged = optimiser.converged();
  candidate.evaluations = optimiser.evaluations();
  candidate.trace = optimiser.trace();
  candidate.extra_jitter = elbo.regression().extra_jitter();
}

FittedCandidate cook_delay(const Problem& problem, const StructureChoice& choice, const FittedCandidate& linear,
                           const ssm::ModelSpec& spec, const IdentifyOptions& options, const Effort& effort) {
  FittedCandidate candidate;
  ssm::Dynamics& c = candidate.dynamics;
  c.dead_time = choice.dead_time;
  c.input_lags = choice.input_lags;
  const ssm::Series series = series_of(problem.scaled, c);
  c.structure = delay_structure(choice, spec, series);
  c.parameters = ssm::default_parameters(c.structure);
  // The linear model smooths noise away and fills gaps.
  const ssm::Parameters& from = linear.dynamics.parameters;
  Matrix outputs = from.C * linear.q.m;
  outputs.colwise() += from.d;
  regress_delays(c.structure, series, outputs, c.parameters);
  const Vector guess = inference::output_variance_guess(series);
  c.parameters.log_r = guess.cwiseMin(from.log_r.array().exp().matrix()).cwiseMax(1e-5).array().log();
  ssm::Free free = ssm::Free::defaults(c.structure);
  train(problem, spec, options, effort, std::move(free), candidate);
  return candidate;
}

FittedCandidate cook_subspace(const Problem& problem, const FittedCandidate& linear, const ssm::ModelSpec& spec,
                              const IdentifyOptions& options, const Effort& effort) {
  FittedCandidate candidate;
  ssm::Dynamics& c = candidate.dynamics;
  c.dead_time = linear.dynamics.dead_time;
  c.structure = linear.dynamics.structure;
  ssm::Structure& s = c.structure;
  s.inducing = std::min(spec.inducing, series_of(problem.scaled, c).transitions());
  s.kernel = spec.kernel;
  s.linear_rows.erase(s.linear_rows.begin());  // the first state, the one that moves most, gains a Gaussian process
  c.parameters = linear.dynamics.parameters;
  const ssm::Parameters shape = ssm::default_parameters(s);
  c.parameters.log_variance = shape.log_variance;
  c.parameters.log_length_scales = shape.log_length_scales;
  c.parameters.log_linear_sd = shape.log_linear_sd;
  c.parameters.log_q = c.parameters.log_q.cwiseMax(std::log(1e-5));
  ssm::Free free = ssm::Free::defaults(s);
  free.C = true;
  train(problem, spec, options, effort, std::move(free), candidate);
  return candidate;
}

}  // namespace

std::string StructureChoice::name() const {
  const Index k = kind == StateKind::kDelay ? dead_time : linear.dead_time;
  const std::string dead = k > 0 ? fmt::format(", dead time {}", k) : "";
  switch (kind) {
    case StateKind::kDelay:
      return fmt::format("delay, {} output and {} input lags{}", output_lags, input_lags, dead);
    case StateKind::kSubspace:
      return fmt::format("subspace, {} states{}", linear.order, dead);
    case StateKind::kLinear:
    case StateKind::kAuto:
      break;
  }
  return fmt::format("linear, {} states{}", linear.order, dead);
}

Problem::Problem(const ssm::Dataset& data, const ssm::ModelSpec& spec) {
  ssm::ModelSpec columns = spec;  // states are nobody's business here
  columns.states = {"x"};
  columns.C = Matrix::Zero(static_cast<Index>(spec.outputs.size()), 1);
  columns.derivatives.clear();
  scaling = ssm::make_scaling(columns, data);
  for (const ssm::Sequence& sequence : data) {
    scaled.push_back(scaling.to_scaled(sequence));
  }
}

FittedCandidate fit_linear_candidate(const Problem& problem, const LinearChoice& choice,
                                     const IdentifyOptions& options) {
  LinearFit fit = fit_linear(problem.scaled, choice, options.offset_per_sequence);
  FittedCandidate candidate;
  candidate.dynamics = std::move(fit.dynamics);
  candidate.mean_square = fit.mean_square;
  candidate.singular_values = std::move(fit.singular_values);
  candidate.bound = candidate.objective = kNaN;
  candidate.q = smoothed(candidate.dynamics, series_of(problem.scaled, candidate.dynamics));
  return candidate;
}

FittedCandidate fit_candidate(const Problem& problem, const StructureChoice& choice, const FittedCandidate& linear,
                              const ssm::ModelSpec& spec, const IdentifyOptions& options, const Effort& effort) {
  switch (choice.kind) {
    case StateKind::kDelay:
      return cook_delay(problem, choice, linear, spec, options, effort);
    case StateKind::kSubspace:
      return cook_subspace(problem, linear, spec, options, effort);
    case StateKind::kLinear:
    case StateKind::kAuto:
      break;
  }
  return linear;
}

}  // namespace gpilot::identify
