#include "gpilot/inference/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "gpilot/error.hpp"
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
constexpr double kRoundTolerance = 0.01;  ///< a round that gains less ends a start
constexpr double kNoiseCut = 0.25;        ///< factor on the process variance along the noise path

/// A model that training arrived at.
struct Trained {
  std::string name;
  ssm::Component component;
  ssm::StatePosterior q;
  ssm::FitReport report;
  double density = 0.0;
};

class Fitter {
 public:
  Fitter(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options)
      : spec_(spec), options_(options), scaling_(ssm::make_scaling(spec, data)) {
    ssm::Dataset scaled;
    for (const ssm::Sequence& sequence : data) {
      scaled.push_back(scaling_.to_scaled(sequence));
    }
    series_ = ssm::concatenate(scaled);
    structure_ = ssm::make_structure(spec, scaling_, series_.transitions());
    nodes_ = gp::make_nodes(spec.nodes, structure_.states, spec.node_points, options.seed);
    start_ = ssm::make_parameters(spec, scaling_, structure_, free_);
    const Vector guess = output_variance_guess(series_);
    for (Index e = 0; e < structure_.outputs; ++e) {
      if (free_.r(e) != 0.0) {
        start_.log_r(e) = std::log(guess(e));
      }
    }
    for (Index d = 0; d < structure_.states; ++d) {
      if (free_.q(d) != 0.0) {
        start_.log_q(d) = 2.0 * std::log(is_gp_row(d) ? kGpNoise : kKinematicNoise);
      }
    }
    priors_.centre = start_;
  }

  ssm::Model run(const ssm::Model* previous);

 private:
  bool is_gp_row(Index d) const {
    const std::vector<Index> rows = structure_.gp_rows();
    return std::find(rows.begin(), rows.end(), d) != rows.end();
  }
  Trained finish(std::string name, Trainer& trainer, const ssm::Elbo& elbo) const;
  Trained train_linear(double drift_sd);
  Trained train_gp(const Trained& linear, std::string name);
  std::vector<Trained> noise_path(const Trained& start);
  Vector explained(const Trained& trained) const;

  const ssm::ModelSpec& spec_;
  const FitOptions& options_;
  ssm::Scaling scaling_;
  ssm::Series series_;
  ssm::Structure structure_;
  gp::Nodes nodes_;
  ssm::Parameters start_;
  ssm::Free free_;
  Priors priors_;
};

Trained Fitter::finish(std::string name, Trainer& trainer, const ssm::Elbo& elbo) const {
  Trained t;
  t.name = std::move(name);
  t.component = {elbo.structure(), trainer.parameters(), trainer.weights()};
  t.q = trainer.states();
  t.report.bound = trainer.bound();
  t.report.objective = trainer.objective();
  t.report.trace = trainer.trace();
  t.report.evaluations = trainer.evaluations();
  t.report.message = trainer.message();
  t.report.extra_jitter = elbo.regression().extra_jitter();
  const ssm::Transition transition(t.component.structure, t.component.parameters, t.component.weights);
  t.density = predictive_density(transition, series_, nodes_, options_.horizon);
  return t;
}

/// The model without its GP: linear rows with Bayesian weights.
Trained Fitter::train_linear(double drift_sd) {
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
  Priors priors = priors_;
  priors.centre.mean_weights = p.mean_weights;
  for (const Index d : linear.gp_rows()) {
    if (free.q(d) != 0.0) {
      p.log_q(d) = 2.0 * std::log(drift_sd);
    }
  }
  ssm::StatePosterior q = kinematic_start(linear, series_, p, drift_sd);
  ssm::Elbo elbo(linear, series_, nodes_, options_.threads);
  Trainer trainer(elbo, priors, free, std::move(p), std::move(q));
  trainer.rounds(options_.rounds, options_.e_steps, options_.m_iterations, kRoundTolerance);
  trainer.polish(options_.polish);
  return finish("linear", trainer, elbo);
}

Trained Fitter::train_gp(const Trained& linear, std::string name) {
  ssm::Parameters p = start_;
  const ssm::Parameters& from = linear.component.parameters;
  p.C = from.C;
  p.d = from.d;
  p.log_r = from.log_r;
  p.log_q = from.log_q;
  if (structure_.linear_kernel) {
    p.log_linear_sd = from.log_linear_sd;
  }
  p.log_variance.setConstant(priors_.log_variance.mean);
  p.log_length_scales.setConstant(priors_.log_length_scale.mean);
  p.Z = inducing_start(structure_, series_, linear.q, options_.seed);
  ssm::Elbo elbo(structure_, series_, nodes_, options_.threads);
  Trainer trainer(elbo, priors_, free_, std::move(p), linear.q);
  trainer.rounds(options_.rounds, options_.e_steps, options_.m_iterations, kRoundTolerance);
  trainer.polish(options_.polish);
  return finish(std::move(name), trainer, elbo);
}

/// The bound overrates process noise. Cut it, hold it, train the rest again; go on while the predictions improve.
std::vector<Trained> Fitter::noise_path(const Trained& start) {
  std::vector<Trained> path;
  path.reserve(static_cast<std::size_t>(options_.noise_path));  // `last` points into it
  ssm::Free free = free_;
  for (const Index d : structure_.gp_rows()) {
    free.q(d) = 0.0;
  }
  ssm::Elbo elbo(structure_, series_, nodes_, options_.threads);
  const Trained* last = &start;
  for (int k = 1; k <= options_.noise_path; ++k) {
    ssm::Parameters p = last->component.parameters;
    for (const Index d : structure_.gp_rows()) {
      if (free_.q(d) != 0.0) {
        p.log_q(d) += std::log(kNoiseCut);
      }
    }
    Trainer trainer(elbo, priors_, free, std::move(p), last->q);
    trainer.rounds(options_.rounds, options_.e_steps, options_.m_iterations, kRoundTolerance);
    trainer.polish(options_.polish);
    Trained next = finish(fmt::format("{}, process noise cut {:g} times", start.name, std::pow(1.0 / kNoiseCut, k)),
                          trainer, elbo);
    const bool better = next.density > last->density;
    path.push_back(std::move(next));
    if (!better) {
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
  Matrix X(series_.transitions(), structure_.inputs());
  Index n = 0;
  for (Index t = 1; t < series_.rows(); ++t) {
    if (!series_.first[static_cast<std::size_t>(t)]) {
      X.row(n).head(structure_.states) = trained.q.m.col(t - 1).transpose();
      X.row(n++).tail(structure_.controls) = series_.controls.col(t - 1).transpose();
    }
  }
  Matrix mean;
  Matrix variance;
  transition.moments(X, mean, variance);
  const std::vector<Index>& rows = transition.row_states();
  Vector share(static_cast<Index>(rows.size()));
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const Index d = rows[g];
    const double motion = (mean.col(d) - X.col(d)).squaredNorm() / static_cast<double>(n);
    share(static_cast<Index>(g)) = motion / (motion + std::exp(trained.component.parameters.log_q(d)));
  }
  return share;
}

ssm::Model Fitter::run(const ssm::Model* previous) {
  (void)previous;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Trained> all;
  all.push_back(train_linear(0.5));
  if (structure_.inducing > 0) {
    all.reserve(static_cast<std::size_t>(2 + options_.noise_path));
    all.push_back(train_gp(all.front(), "gp"));
    for (Trained& t : noise_path(all.back())) {
      all.push_back(std::move(t));
    }
  }
  std::size_t best = 0;
  for (std::size_t k = 1; k < all.size(); ++k) {
    if (all[k].density > all[best].density) {
      best = k;
    }
  }
  ssm::Model model;
  model.spec = spec_;
  model.scaling = scaling_;
  model.linear = all.front().component;
  model.report = all[best].report;
  for (const Trained& t : all) {
    model.report.candidates.push_back({t.name, t.report.bound, t.density});
  }
  model.report.chosen = all[best].name;
  model.report.explained = explained(all[best]);
  model.gp = all[best].component;
  model.states = all[best].q;
  model.starts = series_.start;
  model.seed = options_.seed;
  model.version = version();
  model.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return model;
}

}  // namespace

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
  Fitter fitter(data, spec, options);
  return fitter.run(previous);
}

}  // namespace gpilot::inference
