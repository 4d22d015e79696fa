#include "gpilot/inference/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "gpilot/error.hpp"
#include "gpilot/inference/adam.hpp"
#include "gpilot/inference/predictive_density.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/inference/trainer.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/transition.hpp"
#include "gpilot/version.hpp"

namespace gpilot::inference {

namespace {

constexpr double kGpNoise = 0.08;         ///< prior centre of a GP row's process sd, scaled
constexpr double kKinematicNoise = 0.02;  ///< the same of a kinematic row
constexpr double kRoundTolerance = 0.01;  ///< a round that gains less ends the rounds
constexpr double kNoiseCut = 0.25;        ///< factor on the process variance along the noise path
constexpr double kTrustedRatio = 10.0;    ///< values per determined weight from which in-sample densities are trusted
constexpr double kExplainedLimit = 0.5;   ///< below this share of explained motion the user is warned
constexpr double kDrifts[] = {0.5, 0.15, 1.5, 0.05};  ///< velocity drift a step of each restart's smoother, scaled

/// A model that training arrived at.
struct Trained {
  std::string name;
  ssm::Component component;
  ssm::StatePosterior q;
  ssm::FitReport report;
  bool converged = false;
  double density = 0.0;     ///< predictive, less the price of the determined weights
  double determined = 0.0;  ///< how many weights the data determine
};

class Fitter {
 public:
  Fitter(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options, const ssm::Model* previous);

  ssm::Model run();

 private:
  void report_progress(const std::string& stage, double fraction, double objective) const;
  Trained finish(std::string name, Trainer& trainer, const ssm::Elbo& elbo) const;
  Trained judged(Trained trained) const;
  void train(Trainer& trainer) const;
  Trained train_linear(double drift_sd);
  Trained train_gp(std::string name, ssm::Parameters p, ssm::StatePosterior q);
  Trained train_paper(const Trained& linear);
  Trained warm_start();
  ssm::Parameters gp_start(const Trained& linear, std::uint32_t restart) const;
  bool nodes_suffice(const Trainer& trainer, int level) const;
  std::vector<Trained> noise_path(const Trained& start);
  double observed_values() const;
  Vector explained(const Trained& trained) const;
  void describe(const Trained& best, ssm::FitReport& report) const;

  const ssm::ModelSpec& spec_;
  const FitOptions& options_;
  const ssm::Model* previous_;
  ssm::Scaling scaling_;
  ssm::Series series_;
  ssm::Structure structure_;
  gp::Nodes nodes_;
  int node_level_ = 0;
  ssm::Parameters start_;
  ssm::Free free_;
  Priors priors_;
  Vector output_mean_, output_sd_;
};

bool contains(const std::vector<Index>& rows, Index d) {
  return std::find(rows.begin(), rows.end(), d) != rows.end();
}

Fitter::Fitter(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
               const ssm::Model* previous)
    : spec_(spec),
      options_(options),
      previous_(previous),
      // A warm start keeps its scales: the model must not shift under its own history.
      scaling_(previous != nullptr ? previous->scaling : ssm::make_scaling(spec, data)) {
  ssm::Dataset scaled;
  for (const ssm::Sequence& sequence : data) {
    scaled.push_back(scaling_.to_scaled(sequence));
  }
  series_ = ssm::concatenate(scaled);
  structure_ = ssm::make_structure(spec, scaling_, series_.transitions());
  nodes_ = gp::make_nodes(spec.nodes, structure_.states, spec.node_points, options.seed);
  start_ = ssm::make_parameters(spec, scaling_, structure_, free_);
  const Vector guess = output_variance_guess(series_);
  start_.log_r = (free_.r.array() != 0.0).select(guess.array().log().matrix(), start_.log_r);
  const std::vector<Index> rows = structure_.gp_rows();
  for (Index d = 0; d < structure_.states; ++d) {
    if (free_.q(d) != 0.0) {
      start_.log_q(d) = 2.0 * std::log(contains(rows, d) ? kGpNoise : kKinematicNoise);
    }
  }
  priors_.centre = start_;
  output_mean_.resize(structure_.outputs);
  output_sd_.resize(structure_.outputs);
  for (Index e = 0; e < structure_.outputs; ++e) {
    ssm::column_statistics(data, e, output_mean_(e), output_sd_(e));
  }
}

void Fitter::report_progress(const std::string& stage, double fraction, double objective) const {
  if (options_.on_progress) {
    options_.on_progress({stage, fraction, objective});
  }
}

double Fitter::observed_values() const {
  return static_cast<double>(series_.outputs.size() - series_.outputs.array().isNaN().count());
}

/// Judges a model by its predictions a few steps ahead. They are in-sample, so every weight that the data determine is
/// paid for, as in Akaike's criterion.
Trained Fitter::judged(Trained t) const {
  const ssm::Transition transition(t.component.structure, t.component.parameters, t.component.weights);
  for (const gp::Weights& v : t.component.weights) {
    t.determined += static_cast<double>(v.mu.size()) - v.Sigma.trace();
  }
  t.density = predictive_density(transition, series_, nodes_, options_.horizon) - t.determined / observed_values();
  report_progress(t.name, 1.0, t.report.objective);
  return t;
}

Trained Fitter::finish(std::string name, Trainer& trainer, const ssm::Elbo& elbo) const {
  Trained t;
  t.name = std::move(name);
  t.component = {elbo.structure(), trainer.parameters(), trainer.weights()};
  t.q = trainer.states();
  t.converged = trainer.converged();
  t.report.bound = trainer.bound();
  t.report.objective = trainer.objective();
  t.report.trace = trainer.trace();
  t.report.evaluations = trainer.evaluations();
  t.report.message = trainer.message();
  t.report.extra_jitter = elbo.regression().extra_jitter();
  return judged(std::move(t));
}

void Fitter::train(Trainer& trainer) const {
  if (options_.method == Method::kEm) {
    trainer.rounds(options_.rounds, options_.e_steps, options_.m_iterations, kRoundTolerance);
  }
  trainer.finish(options_.polish);
}

/// The model without its GP: linear rows with Bayesian weights.
Trained Fitter::train_linear(double drift_sd) {
  report_progress("linear", 0.0, 0.0);
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
  p.log_linear_sd.setConstant(priors_.log_linear_sd.mean);
  for (const Index d : linear.gp_rows()) {
    if (free.q(d) != 0.0) {
      p.log_q(d) = 2.0 * std::log(drift_sd);
    }
  }
  ssm::StatePosterior q = kinematic_start(linear, series_, p, drift_sd);
  ssm::Elbo elbo(linear, series_, nodes_, options_.threads);
  Trainer trainer(elbo, priors_, free, std::move(p), std::move(q));
  train(trainer);
  return finish("linear", trainer, elbo);
}

/// The GP begins where the linear model ended, with its inducing points at the smoothed states.
ssm::Parameters Fitter::gp_start(const Trained& linear, std::uint32_t restart) const {
  ssm::Parameters p = start_;
  const ssm::Parameters& from = linear.component.parameters;
  p.C = from.C;
  p.d = from.d;
  p.log_r = from.log_r;
  p.log_q = from.log_q;
  if (structure_.linear_kernel) {
    p.log_linear_sd = from.log_linear_sd;
  }
  if (free_.mean) {
    p.mean_weights = from.mean_weights;
  }
  p.log_variance.setConstant(priors_.log_variance.mean);
  p.log_length_scales.setConstant(priors_.log_length_scale.mean);
  p.Z = inducing_start(structure_, series_, linear.q, options_.seed, restart);
  return p;
}

/// Wide posteriors and short length scales fool a coarse rule: the bound then rises where it should not. Compares with
/// the next finer rule; more than a hundredth of a nat a value is too much.
bool Fitter::nodes_suffice(const Trainer& trainer, int level) const {
  gp::Nodes finer;
  if (spec_.nodes != gp::NodeRule::kAuto || spec_.node_points > 0 ||
      !gp::refined_nodes(structure_.states, level + 1, finer)) {
    return true;
  }
  ssm::Elbo check(structure_, series_, finer, options_.threads);
  return std::abs(check.value(trainer.parameters(), trainer.states()) - trainer.bound()) <
         0.5 + 0.01 * observed_values();
}

Trained Fitter::train_gp(std::string name, ssm::Parameters p, ssm::StatePosterior q) {
  for (;;) {
    report_progress(name, 0.0, 0.0);
    ssm::Elbo elbo(structure_, series_, nodes_, options_.threads);
    Trainer trainer(elbo, priors_, free_, p, q);
    train(trainer);
    if (nodes_suffice(trainer, node_level_)) {
      return finish(std::move(name), trainer, elbo);
    }
    gp::refined_nodes(structure_.states, ++node_level_, nodes_);
  }
}

/// The paper's training, from the same start.
Trained Fitter::train_paper(const Trained& linear) {
  ssm::Elbo elbo(structure_, series_,
                 gp::make_nodes(gp::NodeRule::kSamples, structure_.states, options_.samples, options_.seed),
                 options_.threads);
  const SampledOptions sampled{.epochs = options_.epochs,
                               .learning_rate = options_.learning_rate,
                               .samples = options_.samples,
                               .tied = options_.tied,
                               .seed = options_.seed,
                               .on_epoch = [&](int epoch, double objective) {
                                 report_progress("adam", static_cast<double>(epoch) / options_.epochs, objective);
                               }};
  SampledResult result = train_sampled(elbo, priors_, free_, gp_start(linear, 0), linear.q, sampled);
  Trained t;
  t.name = options_.tied ? "adam, tied q(x)" : "adam";
  ssm::Elbo exact(structure_, series_, nodes_, options_.threads);
  t.report.bound = exact.value(result.parameters, result.states, &result.weights);
  t.report.objective = t.report.bound + priors_.log_density(result.parameters, nullptr);
  t.report.trace = std::move(result.trace);
  t.report.evaluations = result.evaluations;
  t.report.extra_jitter = exact.regression().extra_jitter();
  t.component = {structure_, std::move(result.parameters), std::move(result.weights)};
  t.q = std::move(result.states);
  t.converged = true;  // a fixed number of epochs is all that is asked for
  return judged(std::move(t));
}

/// From the previous model: its parameters, and its q(x) where the rows are the same. Inducing points are placed anew
/// when their number changed (more rows, or the previous model had none).
Trained Fitter::warm_start() {
  ssm::Parameters p = previous_->gp.parameters;
  if (previous_->gp.structure.linear_kernel != structure_.linear_kernel) {
    p.log_linear_sd = start_.log_linear_sd;
  }
  if (previous_->gp.structure.inducing == 0) {
    p.log_variance.setConstant(priors_.log_variance.mean);
    p.log_length_scales.setConstant(priors_.log_length_scale.mean);
  }
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
  if (p.Z.rows() != structure_.inducing) {
    p.Z = inducing_start(structure_, series_, q, options_.seed);
  }
  return train_gp("warm start", std::move(p), std::move(q));
}

/// The bound overrates process noise: a Gaussian q(x) pays for every nonlinearity, and noise makes it cheap. So cut it,
/// hold it, train the rest again, and go on while the predictions improve (docs/decisions/process-noise.md).
std::vector<Trained> Fitter::noise_path(const Trained& start) {
  std::vector<Trained> path;
  path.reserve(static_cast<std::size_t>(options_.noise_path));  // `last` points into it
  ssm::Free free = free_;
  for (const Index d : structure_.gp_rows()) {
    free.q(d) = 0.0;
  }
  const Trained* last = &start;
  for (int k = 1; k <= options_.noise_path; ++k) {
    if (observed_values() < kTrustedRatio * last->determined || free.q == free_.q) {
      break;
    }
    std::string name = fmt::format("{}, process noise / {:g}", start.name, std::pow(1.0 / std::sqrt(kNoiseCut), k));
    report_progress(name, 0.0, last->report.objective);
    ssm::Parameters p = last->component.parameters;
    for (const Index d : structure_.gp_rows()) {
      if (free_.q(d) != 0.0) {
        p.log_q(d) += std::log(kNoiseCut);
      }
    }
    ssm::Elbo elbo(structure_, series_, nodes_, options_.threads);
    Trainer trainer(elbo, priors_, free, std::move(p), last->q);
    train(trainer);
    path.push_back(finish(std::move(name), trainer, elbo));
    if (path.back().density <= last->density) {
      break;
    }
    last = &path.back();
  }
  return path;
}

/// Per GP row, the share of the squared motion x' - x that the function explains: V / (V + q).
Vector Fitter::explained(const Trained& trained) const {
  const ssm::Transition transition(trained.component.structure, trained.component.parameters,
                                   trained.component.weights);
  const Matrix X = transition_inputs(structure_, series_, trained.q);
  Matrix mean;
  Matrix variance;
  transition.moments(X, mean, variance);
  const std::vector<Index>& rows = transition.row_states();
  Vector share(static_cast<Index>(rows.size()));
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const Index d = rows[g];
    const double motion = (mean.col(d) - X.col(d)).squaredNorm() / static_cast<double>(X.rows());
    share(static_cast<Index>(g)) = motion / (motion + std::exp(trained.component.parameters.log_q(d)));
  }
  return share;
}

/// Status and message in words.
void Fitter::describe(const Trained& best, ssm::FitReport& report) const {
  report.explained = explained(best);
  Index worst = 0;
  const double least = report.explained.minCoeff(&worst);
  const std::string& state =
      spec_.states[static_cast<std::size_t>(structure_.gp_rows()[static_cast<std::size_t>(worst)])];
  if (least < kExplainedLimit) {
    report.status = "motion as noise";
    report.message = fmt::format(
        "the function explains {:.0f} % of the motion of '{}', the rest is process noise: predictions beyond a few "
        "steps "
        "will be poor; more data, declared derivatives or more excitation may help",
        100.0 * least, state);
  } else if (!best.converged) {
    report.status = "iteration limit";
    report.message = fmt::format("training stopped before the bound settled ({})",
                                 report.message.empty() ? "iteration limit reached" : report.message);
  } else {
    report.status = "converged";
    report.message = fmt::format("the function explains {:.0f} % or more of the motion of every state", 100.0 * least);
  }
}

/// All options that the result depends on, threads apart.
std::vector<ssm::Setting> settings_of(const FitOptions& o, bool warm) {
  std::vector<ssm::Setting> settings{{"method", std::string(name(o.method))}};
  const auto add = [&](const char* option, const auto& value) {
    settings.push_back({option, fmt::format("{}", value)});
  };
  if (o.method == Method::kAdam) {
    add("epochs", o.epochs);
    add("samples", o.samples);
    add("learning_rate", o.learning_rate);
    add("tied", o.tied);
  } else {
    add("restarts", o.restarts);
    add("noise_path", o.noise_path);
  }
  add("rounds", o.rounds);
  add("e_steps", o.e_steps);
  add("m_iterations", o.m_iterations);
  add("polish", o.polish);
  add("horizon", o.horizon);
  add("warm_start", warm);
  return settings;
}

ssm::Model Fitter::run() {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Trained> all;
  all.push_back(train_linear(kDrifts[0]));
  ssm::Component baseline = all.front().component;
  if (options_.method == Method::kAdam) {
    all.front() = train_paper(Trained(all.front()));
  } else if (structure_.inducing > 0) {
    all.push_back(train_gp("gp", gp_start(all.front(), 0), all.front().q));
    if (previous_ != nullptr) {
      all.push_back(warm_start());
    }
    for (int k = 1; k < options_.restarts; ++k) {
      const Trained linear = train_linear(kDrifts[static_cast<std::size_t>(k) % std::size(kDrifts)]);
      all.push_back(
          train_gp(fmt::format("gp, restart {}", k), gp_start(linear, static_cast<std::uint32_t>(k)), linear.q));
    }
  }
  const auto less = [](const Trained& a, const Trained& b) { return a.density < b.density; };
  auto best = std::max_element(all.begin(), all.end(), less);
  if (options_.method != Method::kAdam && best->component.structure.inducing > 0) {
    for (Trained& t : noise_path(Trained(*best))) {
      all.push_back(std::move(t));
    }
    best = std::max_element(all.begin(), all.end(), less);
  }

  ssm::Model model;
  model.report = best->report;
  for (const Trained& t : all) {
    model.report.candidates.push_back({t.name, t.report.bound, t.density});
  }
  model.report.chosen = best->name;
  model.report.settings = settings_of(options_, previous_ != nullptr);
  describe(*best, model.report);
  model.spec = spec_;
  model.scaling = scaling_;
  model.gp = best->component;
  model.linear = std::move(baseline);
  model.output_mean = output_mean_;
  model.output_sd = output_sd_;
  model.states = best->q;
  model.starts = series_.start;
  model.seed = options_.seed;
  model.version = version();
  model.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return model;
}

void check_previous(const ssm::Model& previous, const ssm::ModelSpec& spec) {
  const ssm::ModelSpec& old = previous.spec;
  if (old.inputs != spec.inputs || old.outputs != spec.outputs || old.states != spec.states ||
      old.derivatives != spec.derivatives || old.linear_kernel != spec.linear_kernel || old.kernel != spec.kernel) {
    throw InputError("the model to start from has other inputs, outputs, states, derivatives or kernel");
  }
}

}  // namespace

void FitOptions::validate() const {
  const auto at_least = [](const char* field, double value, double lowest) {
    if (!(value >= lowest)) {
      throw InputError(fmt::format("{}: {} is below {}", field, value, lowest));
    }
  };
  at_least("rounds", rounds, 0);
  at_least("e-steps", e_steps, 1);
  at_least("m-iterations", m_iterations, 1);
  at_least("polish", polish, 1);
  at_least("restarts", restarts, 1);
  at_least("noise-path", noise_path, 0);
  at_least("horizon", horizon, 1);
  at_least("epochs", epochs, 1);
  at_least("samples", static_cast<double>(samples), 1);
  at_least("threads", threads, 1);
  if (!(learning_rate > 0.0)) {
    throw InputError(fmt::format("learning-rate: {} is not positive", learning_rate));
  }
  if (tied && method != Method::kAdam) {
    throw InputError("tied q(x) goes with method adam only");
  }
}

std::string_view name(Method method) {
  switch (method) {
    case Method::kEm:
      return "em";
    case Method::kLbfgs:
      return "lbfgs";
    case Method::kAdam:
      return "adam";
  }
  return "";
}

Method method_from_name(std::string_view text) {
  for (const Method method : {Method::kEm, Method::kLbfgs, Method::kAdam}) {
    if (text == name(method)) {
      return method;
    }
  }
  throw InputError(fmt::format("unknown method '{}': expected em, lbfgs or adam", text));
}

ssm::Model fit(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
               const ssm::Model* previous) {
  spec.validate();
  options.validate();
  if (data.empty()) {
    throw InputError("no data: expected at least one sequence");
  }
  if (previous != nullptr) {
    check_previous(*previous, spec);
  }
  if (options.tied && (spec.learn_C || spec.learn_d)) {
    throw InputError("tied q(x) needs a given emission: do not learn C or d with it");
  }
  Fitter fitter(data, spec, options, previous);
  return fitter.run();
}

}  // namespace gpilot::inference
