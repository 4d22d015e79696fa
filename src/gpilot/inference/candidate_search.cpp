#include "gpilot/inference/candidate_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/adam.hpp"
#include "gpilot/inference/predictive_density.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/inference/tied.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::inference {

namespace {

// Cut and trusted ratio are by trial on kink and TRAS (docs/decisions/process-noise.md). The rest is by feel, not
// measured; the three noises are centres of weak priors (docs/math/model.md).
constexpr double kGpNoise = 0.08;         ///< prior centre of a GP row's process sd, scaled
constexpr double kSmallNoise = 0.01;      ///< the same where it is declared small: .3 % of a range
constexpr double kSmallNoiseSd = 1.0;     ///< of its log variance then: three times the noise costs 2.4 nats
constexpr double kKinematicNoise = 0.02;  ///< the same of a kinematic row
constexpr double kRoundTolerance = 0.01;  ///< a round that gains less ends the rounds
constexpr double kNoiseCut = 0.25;        ///< factor on the process variance along the noise path
constexpr double kTrustedRatio = 10.0;    ///< values per determined weight from which in-sample densities are trusted
constexpr double kNodeError = 0.5;        ///< of the bound, nats: a coarse rule of nodes may be wrong by this ..
constexpr double kNodeErrorPerValue = 0.01;           ///< .. and by this for each value
constexpr double kDrifts[] = {0.5, 0.15, 1.5, 0.05};  ///< velocity drift a step of each restart's smoother, scaled

/// Candidates that may be trained, the linear model included.
double most_stages(const FitOptions& options, const ssm::ModelSpec& spec, bool continues) {
  if (options.method == Method::kAdam) {
    return 2.0;
  }
  const double linear = spec.physics.empty() ? 1.0 : 2.0;
  return spec.inducing == 0 ? linear : linear + options.restarts + options.noise_path + (continues ? 1.0 : 0.0);
}

bool contains(const std::vector<Index>& rows, Index d) {
  return std::find(rows.begin(), rows.end(), d) != rows.end();
}

/// Amplitudes and length scales that training moved.
double kernel_parameters(const TrainedCandidate& t) {
  if (t.dynamics.structure.inducing == 0 || !t.free.kernel) {
    return 0.0;
  }
  const ssm::Parameters& p = t.dynamics.parameters;
  const bool all = t.free.length_scales.size() == 0;
  return static_cast<double>(p.log_variance.size()) +
         (all ? static_cast<double>(p.log_length_scales.size()) : t.free.length_scales.sum());
}

}  // namespace

CandidateSearch::CandidateSearch(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
                                 const ssm::Model* previous)
    : spec_(spec),
      options_(options),
      previous_(previous),
      // A warm start keeps its scales: the model must not shift under its own history.
      scaling_(previous != nullptr   ? previous->scaling
               : options.paper_start ? ssm::Scaling::identity(spec)
                                     : ssm::make_scaling(spec, data)),
      progress_(options, most_stages(options, spec, continues())) {
  ssm::Dataset scaled;
  for (const ssm::Sequence& sequence : data) {
    scaled.push_back(scaling_.to_scaled(sequence));
  }
  series_ = ssm::concatenate(scaled);
  structure_ = ssm::make_structure(spec, scaling_, series_.transitions());
  nodes_ = gp::make_nodes(spec.nodes, structure_.states, spec.node_points, options.seed);
  start_ = ssm::make_parameters(spec, scaling_, structure_, free_);
  if (!structure_.angles.empty()) {
    for (ssm::Sequence& sequence : scaled) {
      ssm::unwrap(structure_, start_, sequence);
    }
    series_ = ssm::concatenate(scaled);
  }
  const Vector guess = output_variance_guess(series_);
  start_.log_r = (free_.r.array() != 0.0).select(guess.array().log().matrix(), start_.log_r);
  const std::vector<Index> rows = structure_.gp_rows();
  const bool small_noise = options.process_noise == ProcessNoise::kSmall;
  const double gp_noise = small_noise ? kSmallNoise : kGpNoise;
  for (Index d = 0; d < structure_.states; ++d) {
    if (free_.q(d) != 0.0) {
      start_.log_q(d) = 2.0 * std::log(contains(rows, d) ? gp_noise : std::min(gp_noise, kKinematicNoise));
    }
  }
  priors_.centre = start_;
  if (small_noise) {
    priors_.log_q_sd = kSmallNoiseSd;
  }
  if (structure_.physics) {
    priors_.shift = Vector::Zero(static_cast<Index>(rows.size()));
    for (std::size_t g = 0; g < rows.size(); ++g) {
      if (contains(structure_.physics->rows(), rows[g])) {
        priors_.shift(static_cast<Index>(g)) = Priors::kPhysicsShift;
      }
    }
  }
  const Vector turns = spec.turns();
  output_mean_.resize(structure_.outputs);
  output_sd_.resize(structure_.outputs);
  for (Index e = 0; e < structure_.outputs; ++e) {
    ssm::column_statistics(data, e, turns(e), output_mean_(e), output_sd_(e));
  }
}

double CandidateSearch::observed_values() const {
  return static_cast<double>(series_.outputs.size() - series_.outputs.array().isNaN().count());
}

/// Judges a model by its predictions a few steps ahead. They are in-sample, so every weight that the data determine and
/// every learned parameter of the kernel is paid for, as in Akaike's criterion (its correction for few data would hold
/// a Gaussian process back too long).
TrainedCandidate CandidateSearch::judged(TrainedCandidate t) const {
  const ssm::Transition transition(t.dynamics.structure, t.dynamics.parameters, t.dynamics.weights);
  for (const gp::Weights& v : t.dynamics.weights) {
    t.determined += static_cast<double>(v.mu.size()) - v.Sigma.trace();
  }
  t.density = predictive_density(transition, series_, nodes_, options_.horizon) -
              (t.determined + kernel_parameters(t)) / observed_values();
  t.rolling = rolling_runs(t.dynamics, t.q, series_, nodes_, {.threads = options_.threads});
  t.dynamics.spread = calibrated_spread(t.rolling);
  progress_.end(t.report.objective);
  return t;
}

TrainedCandidate CandidateSearch::finish(std::string name, BoundOptimiser& optimiser, const ssm::Elbo& elbo) const {
  return judged(result_of(std::move(name), optimiser, elbo));
}

TrainedCandidate CandidateSearch::result_of(std::string name, BoundOptimiser& optimiser, const ssm::Elbo& elbo) {
  TrainedCandidate t;
  t.name = std::move(name);
  t.dynamics = {elbo.structure(), optimiser.parameters(), optimiser.weights()};
  t.q = optimiser.states();
  t.free = optimiser.free();
  t.converged = optimiser.converged();
  t.report.bound = optimiser.bound();
  t.report.objective = optimiser.objective();
  t.report.trace = optimiser.trace();
  t.report.evaluations = optimiser.evaluations();
  t.report.message = optimiser.message();
  t.report.extra_jitter = elbo.regression().extra_jitter();
  return t;
}

TrainedCandidate CandidateSearch::retrain(const ssm::Dynamics& from, const ssm::Free& free, const gp::Nodes& nodes,
                                          const ssm::StatePosterior& q) {
  progress_.begin("batch", 0.0);
  ssm::Elbo elbo(from.structure, series_, nodes, options_.threads);
  BoundOptimiser optimiser(elbo, priors_, free, from.parameters, q);
  train(optimiser);
  return result_of("batch", optimiser, elbo);
}

void CandidateSearch::train(BoundOptimiser& optimiser) const {
  optimiser.on_evaluation([this](double objective) { return progress_.evaluated(objective); });
  if (options_.method == Method::kEm) {
    optimiser.rounds(options_.rounds, options_.e_steps, options_.m_iterations, kRoundTolerance);
  }
  optimiser.finish(options_.polish);
}

/// What is declared as physics may be all there is: rows with a formula get no function beside it.
Priors CandidateSearch::formulas_alone() const {
  Priors priors = priors_;
  const std::vector<Index> rows = structure_.gp_rows();
  for (std::size_t g = 0; g < rows.size(); ++g) {
    if (contains(structure_.physics->rows(), rows[g])) {
      priors.shift(static_cast<Index>(g)) = Priors::kNothing;
    }
  }
  return priors;
}

/// The model without its GP: linear rows with Bayesian weights.
TrainedCandidate CandidateSearch::train_linear(const std::string& name, int restart, const Priors& priors) {
  const double drift_sd = kDrifts[static_cast<std::size_t>(restart) % std::size(kDrifts)];
  progress_.begin(name, 0.0);
  ssm::Structure linear = structure_;
  linear.inducing = 0;
  linear.linear_kernel = true;
  ssm::Free free = ssm::Free::defaults(linear);
  free.q = free_.q;
  free.r = free_.r;
  free.C = free_.C;
  free.d = free_.d;
  ssm::Parameters p = ssm::default_parameters(linear);
  p.C = start_.C;
  p.d = start_.d;
  p.log_r = start_.log_r;
  p.log_q = start_.log_q;
  for (Index g = 0; g < p.log_linear_sd.cols(); ++g) {
    p.log_linear_sd.col(g).setConstant(priors.log_linear_sd_mean(g));
  }
  for (const Index d : linear.gp_rows()) {
    if (free.q(d) != 0.0) {
      p.log_q(d) = 2.0 * std::log(drift_sd);
    }
  }
  ssm::StatePosterior q = kinematic_start(linear, series_, p, drift_sd);
  check_formulas(spec_, scaling_, linear, p, transition_inputs(linear, series_, q));
  ssm::Elbo elbo(linear, series_, nodes_, options_.threads);
  BoundOptimiser optimiser(elbo, priors, free, std::move(p), std::move(q));
  train(optimiser);
  return finish(name, optimiser, elbo);
}

/// The GP begins where the linear model ended, with its inducing points at the smoothed states.
ssm::Parameters CandidateSearch::gp_start(const TrainedCandidate& linear, std::uint32_t restart) const {
  ssm::Parameters p = start_;
  const ssm::Parameters& from = linear.dynamics.parameters;
  p.C = from.C;
  p.d = from.d;
  p.log_r = from.log_r;
  p.log_q = from.log_q;
  p.physics = from.physics;
  if (structure_.linear_kernel) {
    p.log_linear_sd = from.log_linear_sd;
  }
  if (free_.mean) {
    p.mean_weights = from.mean_weights;
  }
  set_initial_kernel(p);
  p.Z = inducing_start(structure_, series_, linear.q, options_.seed, restart);
  return p;
}

void CandidateSearch::set_initial_kernel(ssm::Parameters& p) const {
  const auto& paper = options_.paper_start;
  for (Index g = 0; g < p.log_variance.size(); ++g) {
    p.log_variance(g) = paper ? std::log(paper->variance) : priors_.log_variance_mean(g);
  }
  p.log_length_scales.setConstant(paper ? std::log(paper->length_scale) : priors_.log_length_scale.mean);
}

/// Wide posteriors and short length scales fool a coarse rule: the bound then rises where it should not. Compares with
/// the next finer rule.
bool CandidateSearch::nodes_suffice(const BoundOptimiser& optimiser, int level) const {
  gp::Nodes finer;
  if (spec_.nodes != gp::NodeRule::kAuto || spec_.node_points > 0 ||
      !gp::refined_nodes(structure_.states, level + 1, finer)) {
    return true;
  }
  ssm::Elbo check(structure_, series_, finer, options_.threads);
  return std::abs(check.value(optimiser.parameters(), optimiser.states()) - optimiser.bound()) <
         kNodeError + kNodeErrorPerValue * observed_values();
}

TrainedCandidate CandidateSearch::train_gp(std::string name, const ssm::Parameters& p, const ssm::StatePosterior& q) {
  for (;;) {
    progress_.begin(name, 0.0);
    ssm::Elbo elbo(structure_, series_, nodes_, options_.threads);
    BoundOptimiser optimiser(elbo, priors_, free_, p, q);
    train(optimiser);
    if (optimiser.stopped() || nodes_suffice(optimiser, node_level_)) {
      return finish(std::move(name), optimiser, elbo);
    }
    gp::refined_nodes(structure_.states, ++node_level_, nodes_);
  }
}

/// The paper's training: from our start or from its own, or on from the previous model.
TrainedCandidate CandidateSearch::train_paper(const TrainedCandidate& linear) {
  ssm::Parameters p;
  ssm::StatePosterior q;
  std::vector<gp::Weights> weights;
  ssm::Elbo exact(structure_, series_, nodes_, options_.threads);
  if (continues()) {
    p = previous_->gp.parameters;
    q = continued_states(p);
    weights = previous_->gp.weights;
    if (p.Z.rows() != structure_.inducing) {  // other inducing points: the best q(v) for them
      p.Z = inducing_start(structure_, series_, q, options_.seed);
      exact.value(p, q);
      weights = exact.weights();
    }
  } else {
    p = gp_start(linear, 0);
    q = options_.paper_start ? tied_states(structure_, series_, p) : linear.q;
  }
  ssm::Elbo elbo(structure_, series_,
                 gp::make_nodes(gp::NodeRule::kSamples, structure_.states, options_.samples, options_.seed),
                 options_.threads);
  const SampledOptions sampled{.epochs = options_.epochs,
                               .learning_rate = options_.learning_rate,
                               .samples = options_.samples,
                               .tied = options_.tied,
                               .seed = options_.seed,
                               .on_epoch = [&](int epoch, double objective) {
                                 return progress_.reached(static_cast<double>(epoch) / options_.epochs, objective);
                               }};
  progress_.begin("adam", 0.0);
  SampledResult result = train_sampled(elbo, priors_, free_, std::move(p), q, sampled, weights);
  TrainedCandidate t;
  t.name = options_.tied ? "adam, tied q(x)" : "adam";
  t.report.bound = exact.value(result.parameters, result.states, &result.weights);
  t.report.objective = t.report.bound + priors_.log_density(result.parameters, nullptr);
  t.report.trace = std::move(result.trace);
  t.report.evaluations = result.evaluations;
  t.report.extra_jitter = exact.regression().extra_jitter();
  t.dynamics = {structure_, std::move(result.parameters), std::move(result.weights)};
  t.q = std::move(result.states);
  t.converged = false;  // it does the epochs that are asked for, and has no test of it
  return judged(std::move(t));
}

/// The previous model's q(x) where the rows are the same, a constant-velocity smoother's beyond.
ssm::StatePosterior CandidateSearch::continued_states(const ssm::Parameters& p) const {
  ssm::StatePosterior q = kinematic_start(structure_, series_, p, kDrifts[0]);
  const ssm::StatePosterior& old = previous_->states;
  const Index D = structure_.states;
  const Index shared = std::min(old.rows(), series_.rows());
  for (Index t = 0; t < shared; ++t) {
    const bool was_first = std::find(previous_->starts.begin(), previous_->starts.end(), t) != previous_->starts.end();
    if (was_first != series_.first[static_cast<std::size_t>(t)]) {
      break;
    }
    q.m.col(t) = old.m.col(t);
    q.A.middleCols(D * t, D) = old.A.middleCols(D * t, D);
    q.S_chol.middleCols(D * t, D) = old.S_chol.middleCols(D * t, D);
  }
  return q;
}

/// From the previous model: its parameters and its q(x). Inducing points are placed anew when their number changed
/// (more rows, or the previous model had none).
TrainedCandidate CandidateSearch::warm_start() {
  ssm::Parameters p = previous_->gp.parameters;
  const ssm::StatePosterior q = continued_states(p);
  if (p.Z.rows() != structure_.inducing) {
    p.Z = inducing_start(structure_, series_, q, options_.seed);
  }
  return train_gp("warm start", p, q);
}

/// The bound overrates process noise: a Gaussian q(x) pays for every nonlinearity, and noise makes it cheap. So cut it,
/// hold it, train the rest again, and go on while the predictions improve (docs/decisions/process-noise.md).
std::vector<TrainedCandidate> CandidateSearch::noise_path(const TrainedCandidate& start) {
  std::vector<TrainedCandidate> path;
  path.reserve(static_cast<std::size_t>(options_.noise_path));  // `last` points into it
  ssm::Free free = free_;
  for (const Index d : structure_.gp_rows()) {
    free.q(d) = 0.0;
  }
  const TrainedCandidate* last = &start;
  for (int k = 1; k <= options_.noise_path; ++k) {
    if (observed_values() < kTrustedRatio * last->determined || free.q == free_.q) {
      break;
    }
    std::string name = fmt::format("{}, process noise / {:g}", start.name, std::pow(1.0 / std::sqrt(kNoiseCut), k));
    progress_.begin(name, last->report.objective);
    ssm::Parameters p = last->dynamics.parameters;
    for (const Index d : structure_.gp_rows()) {
      if (free_.q(d) != 0.0) {
        p.log_q(d) += std::log(kNoiseCut);
      }
    }
    ssm::Elbo elbo(structure_, series_, nodes_, options_.threads);
    BoundOptimiser optimiser(elbo, priors_, free, std::move(p), last->q);
    train(optimiser);
    path.push_back(finish(std::move(name), optimiser, elbo));
    if (path.back().density <= last->density || progress_.stopped()) {
      break;
    }
    last = &path.back();
  }
  return path;
}

}  // namespace gpilot::inference
