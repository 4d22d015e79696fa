#include "gpilot/inference/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/inference/candidate_search.hpp"
#include "gpilot/inference/parameter_errors.hpp"
#include "gpilot/inference/stability.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/ssm/knowledge.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::inference {

namespace {

constexpr double kLeastVariance = 1e-12;  ///< of a function, scaled units: nothing is as certain as that
constexpr double kExplainedLimit = 0.5;   ///< below this share of explained motion, half, the user is warned; by feel

/// Doublings over the training rows from which a linear model is called unstable: sixteen times as large. The estimate
/// of an integrator doubles a little, too; anything from 2 to 8 would do.
constexpr double kUnstableDoublings = 4.0;

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
  if (o.process_noise != ProcessNoise::kAny) {
    add("process_noise", name(o.process_noise));
  }
  add("rounds", o.rounds);
  add("e_steps", o.e_steps);
  add("m_iterations", o.m_iterations);
  add("polish", o.polish);
  add("horizon", o.horizon);
  if (o.paper_start) {
    add("paper_start_variance", o.paper_start->variance);
    add("paper_start_length_scale", o.paper_start->length_scale);
  }
  add("warm_start", warm);
  return settings;
}

void check_previous(const ssm::Model& previous, const ssm::ModelSpec& spec) {
  const ssm::ModelSpec& old = previous.spec;
  if (!previous.report.structure.empty()) {
    throw InputError("the model to start from has identified states: identify it again, from all the data");
  }
  if (old.inputs != spec.inputs || old.outputs != spec.outputs || old.states != spec.states ||
      old.derivatives != spec.derivatives || old.angles != spec.angles || old.linear_kernel != spec.linear_kernel ||
      old.kernel != spec.kernel) {
    throw InputError("the model to start from has other inputs, outputs, states, derivatives, angles or kernel");
  }
  if (ssm::describe_knowledge(old) != ssm::describe_knowledge(spec) ||
      ssm::parameter_names(old) != ssm::parameter_names(spec)) {
    throw InputError("the model to start from was told other things about its functions (docs/knowledge.md)");
  }
}

}  // namespace

/// Per GP row, the share of the squared motion x' - x that the function explains: V / (V + q).
Vector CandidateSearch::explained(const TrainedCandidate& trained) const {
  const ssm::Transition transition(trained.dynamics.structure, trained.dynamics.parameters, trained.dynamics.weights);
  const Matrix X = transition_inputs(structure_, series_, trained.q);
  Matrix mean;
  Matrix variance;
  transition.moments(X, mean, variance);
  const std::vector<Index>& rows = transition.row_states();
  Vector share(static_cast<Index>(rows.size()));
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const Index d = rows[g];
    const double motion = (mean.col(d) - X.col(d)).squaredNorm() / static_cast<double>(X.rows());
    share(static_cast<Index>(g)) = motion / (motion + std::exp(trained.dynamics.parameters.log_q(d)));
  }
  return share;
}

/// The largest variance of each function at a training row: what is less certain than that is not supported by data.
Vector CandidateSearch::support(const TrainedCandidate& trained) const {
  const ssm::Transition transition(trained.dynamics.structure, trained.dynamics.parameters, trained.dynamics.weights);
  Matrix mean;
  Matrix variance;
  transition.moments(transition_inputs(structure_, series_, trained.q), mean, variance);
  return variance.colwise().maxCoeff().transpose()(transition.row_states()).cwiseMax(kLeastVariance);
}

/// Whether an output ever changed.
bool CandidateSearch::moves() const {
  for (Index e = 0; e < series_.outputs.rows(); ++e) {
    double first = kNaN;
    for (const double y : series_.outputs.row(e)) {
      first = std::isnan(first) ? y : first;
      if (!std::isnan(y) && y != first) {
        return true;
      }
    }
  }
  return false;
}

/// Status and message in words.
void CandidateSearch::describe(const TrainedCandidate& best, ssm::FitReport& report) const {
  report.explained = explained(best);
  Index worst = 0;
  const double least = report.explained.minCoeff(&worst);
  const std::string& state =
      spec_.states[static_cast<std::size_t>(structure_.gp_rows()[static_cast<std::size_t>(worst)])];
  if (progress_.stopped()) {
    report.status = ssm::FitStatus::kInterrupted;
    report.message = fmt::format("training was stopped at '{}'; this is the best model so far", progress_.stage());
  } else if (!moves()) {
    report.status = ssm::FitStatus::kNotUseful;
    report.message = "no output ever changed";
  } else if (report.held_out.runs >= kFewestRuns && !(report.held_out.model_ratio() < 1.0)) {
    report.status = ssm::FitStatus::kNotUseful;
    report.message = fmt::format(
        "free runs over rows that it had not learned from err {:.2f} times as much as holding the last value: more "
        "data, declared derivatives or more excitation may help",
        report.held_out.model_ratio());
  } else if (least < kExplainedLimit) {
    report.status = ssm::FitStatus::kMotionAsNoise;
    report.message = fmt::format(
        "the model explains {:.0f} % of how '{}' changes from row to row and takes the rest for random disturbance: "
        "predictions beyond a few steps will be poor; more data, declared derivatives or stronger inputs may help",
        100.0 * least, state);
  } else if (options_.method == Method::kAdam) {
    report.status = ssm::FitStatus::kIterationLimit;
    report.message =
        fmt::format("all {} epochs are done; whether the bound has settled Adam does not test", options_.epochs);
  } else if (!best.converged) {
    report.status = ssm::FitStatus::kIterationLimit;
    report.message = fmt::format("training stopped before the bound settled ({})",
                                 report.message.empty() ? "iteration limit reached" : report.message);
  } else {
    report.status = ssm::FitStatus::kConverged;
    report.message = fmt::format("the model explains {:.0f} % or more of how every state changes", 100.0 * least);
    if (report.held_out.runs < kFewestRuns) {
      report.message += "; the rows are too few to judge it by free runs over rows that it had not learned from";
    }
  }
  const std::optional<double> doubling = doubling_rows(best.dynamics);
  if (doubling && *doubling * kUnstableDoublings < static_cast<double>(series_.rows())) {
    report.message += fmt::format(
        "; it is unstable: a deviation doubles every {:.3g} row(s), so free runs of many more say little", *doubling);
  }
}

std::vector<TrainedCandidate> CandidateSearch::train_all() {
  std::vector<TrainedCandidate> all;
  all.push_back(train_linear("linear", 0, priors_));
  if (options_.method == Method::kAdam) {
    all.push_back(train_paper(TrainedCandidate(all.front())));
    return all;
  }
  if (structure_.physics && !progress_.stopped()) {
    all.push_back(train_linear("formulas alone", 0, formulas_alone()));
  }
  if (structure_.inducing > 0 && !progress_.stopped()) {
    all.push_back(train_gp("gp", gp_start(all.front(), 0), all.front().q));
    if (continues() && !progress_.stopped()) {
      all.push_back(warm_start());
    }
    for (int k = 1; k < options_.restarts && !progress_.stopped(); ++k) {
      const TrainedCandidate linear = train_linear("linear", k, priors_);
      all.push_back(
          train_gp(fmt::format("gp, restart {}", k), gp_start(linear, static_cast<std::uint32_t>(k)), linear.q));
    }
  }
  const std::size_t best = choose(all);
  if (all[best].dynamics.structure.inducing > 0 && !progress_.stopped()) {
    for (TrainedCandidate& t : noise_path(TrainedCandidate(all[best]))) {
      all.push_back(std::move(t));
    }
  }
  return all;
}

/// A Gaussian process has to predict better a few steps ahead, its weights paid for, and must not be worse than the
/// linear model in free runs over rows that it had not learned from.
std::size_t CandidateSearch::choose(const std::vector<TrainedCandidate>& all) {
  const RollingRuns& linear = all.front().rolling;
  std::size_t best = 0;
  for (std::size_t k = 1; k < all.size(); ++k) {
    const bool worse = linear.runs >= kFewestRuns && all[k].rolling.rmse() > linear.rmse();
    if (!worse && all[k].density > all[best].density) {
      best = k;
    }
  }
  return best;
}

ssm::Model CandidateSearch::run() {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<TrainedCandidate> all = train_all();
  // The paper's training has no candidates beside the baseline: what it arrives at is the model.
  ssm::Model model = model_of(all, options_.method == Method::kAdam ? 1 : choose(all));
  model.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return model;
}

ssm::Model CandidateSearch::model_of(const std::vector<TrainedCandidate>& all, std::size_t chosen) {
  const TrainedCandidate* best = &all[chosen];
  chosen_free_ = best->free;
  progress_.complete(best->report.objective);
  ssm::Model model;
  model.report = best->report;
  for (std::size_t k = options_.method == Method::kAdam ? 1 : 0; k < all.size(); ++k) {
    model.report.candidates.push_back({all[k].name, all[k].report.bound, all[k].density, all[k].rolling.rmse()});
  }
  model.report.chosen = best->name;
  model.report.settings = settings_of(options_, previous_ != nullptr);
  if (best->rolling.runs > 0) {
    model.report.held_out = {.model = best->rolling.rmse_by_step(),
                             .linear = all.front().rolling.rmse_by_step(),
                             .hold = best->rolling.hold_rmse_by_step(),
                             .runs = best->rolling.runs};
  }
  describe(*best, model.report);
  report_parameters(best->dynamics, series_, best->q, model.report);
  model.spec = spec_;
  model.scaling = scaling_;
  model.gp = best->dynamics;
  model.gp.support = support(*best);
  model.linear = all.front().dynamics;
  model.linear.support = support(all.front());
  model.output_mean = output_mean_;
  model.output_sd = output_sd_;
  model.states = best->q;
  model.starts = series_.start;
  model.seed = options_.seed;
  model.version = version();
  return model;
}

ssm::Model fit(const ssm::Dataset& data, const ssm::ModelSpec& spec, const FitOptions& options,
               const ssm::Model* previous) {
  spec.validate();
  options.validate();
  if (data.empty()) {
    throw InputError("no data: expected at least one sequence");
  }
  for (std::size_t k = 0; k < data.size(); ++k) {
    if (data[k].controls.cols() != static_cast<Index>(spec.inputs.size()) ||
        data[k].outputs.cols() != static_cast<Index>(spec.outputs.size())) {
      throw InputError(fmt::format("sequence {}: {} controls and {} outputs, expected {} and {} as named", k,
                                   data[k].controls.cols(), data[k].outputs.cols(), spec.inputs.size(),
                                   spec.outputs.size()));
    }
  }
  if (previous != nullptr) {
    check_previous(*previous, spec);
  }
  if (options.paper_start && !spec.derivatives.empty()) {
    throw InputError("the paper's start knows no derivatives: declare none with it");
  }
  if (options.paper_start && ssm::has_knowledge(spec)) {
    throw InputError("the paper's start knows nothing about functions: declare nothing about them with it");
  }
  if (options.tied && (spec.learn_C || spec.learn_d)) {
    throw InputError("tied q(x) needs a given emission: do not learn C or d with it");
  }
  CandidateSearch search(data, spec, options, previous);
  return search.run();
}

}  // namespace gpilot::inference
