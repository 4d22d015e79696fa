#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpilot/core/central_interval.hpp"
#include "gpilot/core/distributions.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/identify/structure_search.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::identify {

namespace {

constexpr double kWidest = 20.0;           ///< largest calibrated spread
constexpr double kNarrowest = 0.25;        ///< and smallest
constexpr double kIndependentRows = 25.0;  ///< rows of a free run that count as one observation of its error
constexpr double kFewestDegrees = 1.5;     ///< of freedom that are taken to be there

/// Half the width of a central 90 % interval of Student's t over that of the normal distribution: with few independent
/// stretches of data their errors tell little of the next one.
double student_factor(double degrees) {
  constexpr double kLevel = 0.95;
  return student_t_quantile(kLevel, degrees) / normal_quantile(kLevel);
}

/// "y", "y(t-1)", .. for delays; "x1", .. for subspace states.
std::vector<std::string> names_of(const StructureChoice& choice, const ssm::ModelSpec& spec,
                                  const ssm::Dynamics& dynamics) {
  std::vector<std::string> names;
  if (choice.kind == StateKind::kDelay) {
    for (Index j = 0; j < choice.output_lags; ++j) {
      for (const std::string& output : spec.outputs) {
        names.push_back(j == 0 ? output : fmt::format("{}(t-{})", output, j));
      }
    }
    return names;
  }
  names = dynamics.state_names;
  for (Index d = static_cast<Index>(names.size()); d < dynamics.structure.states; ++d) {
    names.push_back(fmt::format("x{}", d + 1));
  }
  return names;
}

}  // namespace

/// The factor that brings the sd of free runs to the errors that free runs over training rows had: the geometric mean
/// of what they were over rows trained on (for the degrees of freedom that training took) and over the second half from
/// a model of the first, the very task. No free run is taken to be less certain than the training mean is.
Vector StructureSearch::calibrate(const JudgedStructure& judged, const ssm::Dynamics& dynamics) {
  const Index E = unit_.size();
  const std::vector<Fold> halves = half_fold(data_);
  if (halves.empty() || stopped()) {
    return Vector::Ones(E);
  }
  ValidationErrors forward = judged.errors;
  try {
    const Problem half(halves.front().training, spec_);
    const FittedCandidate linear = fit_linear_candidate(half, judged.choice.linear, options_);
    const FittedCandidate candidate =
        fit_candidate(half, judged.choice, linear, spec_, options_,
                      {.iterations = options_.iterations, .coarse = true, .threads = options_.threads});
    forward = validate(spec_, half.scaling, candidate.dynamics, data_, halves.front(), unit_, options_.seed,
                       ssm::Detail::kDistribution);
  } catch (const NumericalError&) {  // the blocks left out must do
  } catch (const InputError&) {      // the order is more than half the rows bear
  }
  if (stopped()) {
    return Vector::Ones(E);
  }
  forward.absolute.resize(static_cast<std::size_t>(E));
  const ValidationErrors own = validate(spec_, whole_.scaling, dynamics, data_, halves.front(), unit_, options_.seed,
                                        ssm::Detail::kDistribution);
  const auto rows = static_cast<double>(this->rows());
  const ssm::Structure& s = dynamics.structure;
  const auto fitted = static_cast<double>(s.features() + s.inputs() + 1);
  const double trained = judged.in_sample * std::sqrt(rows / std::max(0.25 * rows, rows - fitted));
  const double student =
      student_factor(std::max(kFewestDegrees, rows / kIndependentRows - static_cast<double>(s.inputs())));
  Vector spread(E);
  for (Index e = 0; e < E; ++e) {
    const auto k = static_cast<std::size_t>(e);
    const double wanted = student * std::sqrt(std::min(1.0, trained) * std::min(1.0, spread_of(forward.absolute[k])));
    const double predicted = std::accumulate(own.sd[k].begin(), own.sd[k].end(), 0.0) /
                             static_cast<double>(std::max<std::size_t>(1, own.sd[k].size()));
    spread(e) = std::clamp(wanted / std::max(predicted, 1e-6), kNarrowest, kWidest);
  }
  return spread;
}

void StructureSearch::describe(const FoundStructures& found, const FittedCandidate& candidate,
                               const StructureSearch& judge, ssm::Model& model) const {
  const JudgedStructure& chosen = found.chosen;
  ssm::FitReport& r = model.report;
  for (const JudgedStructure& j : judge.judged_) {
    r.candidates.push_back({.name = j.choice.name(),
                            .bound = j.bound,
                            .predictive_density = kNaN,
                            .validation = judge.quarters_.empty() ? kNaN : j.validation});
  }
  r.chosen = chosen.choice.name();
  r.bound = candidate.bound;
  r.objective = candidate.objective;
  r.trace = candidate.trace;
  r.evaluations = candidate.evaluations;
  r.extra_jitter = candidate.extra_jitter;
  r.status = stopped()             ? ssm::FitStatus::kInterrupted
             : candidate.converged ? ssm::FitStatus::kConverged
                                   : ssm::FitStatus::kIterationLimit;
  if (stopped()) {
    r.message = "the choice was stopped; this is the best model so far";
  } else if (!candidate.converged) {
    r.message = fmt::format("as meant: more than {} joint steps overfit", options_.iterations);
  }
  if (!stopped() && !judge.quarters_.empty() && std::isfinite(chosen.validation)) {
    const BaselineErrors simple = baseline_errors(judge.data_, judge.quarters_, judge.unit_);
    if (!(chosen.validation < std::min(simple.hold, simple.mean))) {
      r.status = ssm::FitStatus::kNotUseful;
      r.message = fmt::format(
          "free runs over left-out training rows err by {:.3g} sd of the output, holding the last value by {:.3g}, the "
          "mean by {:.3g}: nothing that can be predicted so far ahead was found",
          chosen.validation, simple.hold, simple.mean);
    }
  }
  r.structure = std::string(name(chosen.choice.kind));
  r.explained = Vector::Constant(static_cast<Index>(model.gp.structure.gp_rows().size()), kNaN);
  const auto values = static_cast<double>(chosen.errors.count);
  if (judge.quarters_.empty()) {
    r.reason = fmt::format(
        "no recording has the {} rows that validation by left-out rows needs: of the orders that the rows bear, the "
        "one "
        "with the least final prediction error (Akaike) over the training rows",
        kShortestValidated);
  } else if (options_.structure != StateKind::kAuto) {
    r.reason = "asked for";
  } else if (chosen.choice.kind == StateKind::kLinear) {
    r.reason = fmt::format(
        "no Gaussian process lowered the error of free runs over training rows, seen and left out, by {:.0f} %",
        100.0 * (1.0 - kMargin));
  } else {
    r.reason = fmt::format(
        "its free runs over left-out training rows ({:.0f} values) err by {:.4g} sd of the output, the linear model's "
        "by {:.4g}",
        values, chosen.validation, found.linear.validation);
  }
  if (&judge != this) {
    r.reason +=
        fmt::format(" (structures were judged by {} of the {} rows, the model is of all)", judge.rows(), rows());
  }
  for (Index e = 0; e < unit_.size(); ++e) {
    const double factor = model.gp.spread.size() > 0 ? model.gp.spread(e) : 1.0;
    r.calibration +=
        fmt::format("{}{} x {:.3g}", e > 0 ? ", " : "", spec_.outputs[static_cast<std::size_t>(e)], factor);
  }
  r.calibration = fmt::format("the sd of free runs, as free runs over training rows showed: {}", r.calibration);
  const auto set = [&](const char* option, const auto& value) {
    r.settings.push_back({option, fmt::format("{}", value)});
  };
  set("structure", name(options_.structure));
  set("most_states", options_.states);
  set("order", options_.order ? fmt::format("{}", *options_.order) : "chosen");
  set("dead_time", options_.dead_time ? fmt::format("{}", *options_.dead_time) : "chosen");
  set("output_lags", options_.output_lags ? fmt::format("{}", *options_.output_lags) : "chosen");
  set("input_lags", options_.input_lags ? fmt::format("{}", *options_.input_lags) : "chosen");
  set("offset_per_sequence", options_.offset_per_sequence);
  set("iterations", options_.iterations);
}

/// The model of all rows. One that was stopped before is what was fitted by then; a Gaussian process that was fitted to
/// some rows only gives way to the linear model.
FittedCandidate StructureSearch::fit_all_rows(JudgedStructure& chosen, const JudgedStructure& linear,
                                              const StructureSearch& judge) {
  if (stopped() && chosen.fitted && &judge == this) {
    return *chosen.fitted;
  }
  if (stopped()) {
    chosen = linear;
  }
  return fit_candidate(whole_, chosen.choice, linear_of(0, chosen.choice.linear), spec_, options_,
                       {.iterations = options_.iterations, .threads = options_.threads});
}

ssm::Model StructureSearch::assemble(const FoundStructures& found, const StructureSearch& judge) {
  report("all rows", 0.0);
  FoundStructures kept = found;
  JudgedStructure& chosen = kept.chosen;
  ssm::Model model;
  model.spec = spec_;
  FittedCandidate candidate = fit_all_rows(chosen, kept.linear, judge);
  const FittedCandidate& base = linear_of(0, kept.linear.choice.linear);
  const FittedCandidate& start = linear_of(0, chosen.choice.linear);
  report("calibration", 0.8);
  model.linear = base.dynamics;
  model.linear.spread = calibrate(kept.linear, base.dynamics);
  model.gp = candidate.dynamics;
  model.gp.spread =
      chosen.choice.kind == StateKind::kLinear ? model.linear.spread : calibrate(chosen, candidate.dynamics);
  model.spec.states = names_of(chosen.choice, spec_, start.dynamics);
  model.gp.state_names.clear();
  model.spec.mean = ssm::MeanKind::kLinear;
  model.spec.linear_kernel = false;
  model.spec.inducing = candidate.dynamics.structure.inducing;
  const Index D = candidate.dynamics.structure.states;
  const Index E = unit_.size();
  model.scaling = whole_.scaling;
  model.scaling.state_offset = Vector::Zero(D);
  model.scaling.state_scale = Vector::Ones(D);
  model.spec.learn_C = model.spec.learn_d = chosen.choice.kind != StateKind::kDelay;
  model.spec.C = Matrix::Zero(E, D);
  if (chosen.choice.kind == StateKind::kDelay) {
    model.spec.C.leftCols(E).setIdentity();
    model.scaling.state_offset = whole_.scaling.output_offset.replicate(chosen.choice.output_lags, 1);
    model.scaling.state_scale = whole_.scaling.output_scale.replicate(chosen.choice.output_lags, 1);
  }
  model.output_mean.resize(E);
  model.output_sd.resize(E);
  for (Index e = 0; e < E; ++e) {
    ssm::column_statistics(data_, e, 0.0, model.output_mean(e), model.output_sd(e));
  }
  model.starts = {0};
  for (const ssm::Sequence& sequence : data_) {
    model.starts.push_back(model.starts.back() + sequence.rows());
  }
  model.seed = options_.seed;
  model.version = version();
  describe(kept, candidate, judge, model);
  model.states = std::move(candidate.q);
  return model;
}

}  // namespace gpilot::identify
