#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "gpilot/error.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/ssm/transition.hpp"
#include "gpilot/version.hpp"
#include "identifier.hpp"

namespace gpilot::inference {

namespace {

constexpr double kWidest = 20.0;           ///< largest calibrated spread
constexpr double kNarrowest = 0.25;        ///< and smallest
constexpr double kIndependentRows = 25.0;  ///< rows of a free run that count as one observation of its error
constexpr double kFewestDegrees = 1.5;     ///< of freedom that are taken to be there

/// Half the width of a central 90 % interval of Student's t over that of the normal distribution: with few independent
/// stretches of data their errors tell little of the next one.
double student_factor(double degrees) {
  constexpr double kLevel = 0.95;
  return boost::math::quantile(boost::math::students_t(degrees), kLevel) /
         boost::math::quantile(boost::math::normal(), kLevel);
}

/// "y", "y(t-1)", .. for delays; "x1", .. for subspace states.
std::vector<std::string> names_of(const Recipe& recipe, const ssm::ModelSpec& spec, const ssm::Component& component) {
  std::vector<std::string> names;
  if (recipe.kind == StateKind::kDelay) {
    for (Index j = 0; j < recipe.output_lags; ++j) {
      for (const std::string& output : spec.outputs) {
        names.push_back(j == 0 ? output : fmt::format("{}(t-{})", output, j));
      }
    }
    return names;
  }
  names = component.state_names;
  for (Index d = static_cast<Index>(names.size()); d < component.structure.states; ++d) {
    names.push_back(fmt::format("x{}", d + 1));
  }
  return names;
}

}  // namespace

/// The factor that brings the sd of free runs to the errors that free runs over training rows had: the geometric mean
/// of what they were over rows trained on (for the degrees of freedom that training took) and over the second half from
/// a model of the first, the very task. No free run is taken to be less certain than the training mean is.
Vector Identifier::calibrate(const Judged& judged, const ssm::Component& component) {
  const Index E = unit_.size();
  const std::vector<Fold> halves = half_fold(data_);
  if (halves.empty()) {
    return Vector::Ones(E);
  }
  ValidationErrors forward = judged.errors;
  try {
    const Problem half(halves.front().training, spec_);
    const Cooked linear = cook_linear(half, judged.recipe.linear, options_);
    const Cooked cooked = cook(half, judged.recipe, linear, spec_, options_);
    forward = validate(spec_, half.scaling, cooked.component, data_, halves.front(), unit_, options_.seed);
  } catch (const NumericalError&) {  // the blocks left out must do
  }
  const ValidationErrors own = validate(spec_, whole_.scaling, component, data_, halves.front(), unit_, options_.seed);
  const auto rows = static_cast<double>(std::accumulate(
      data_.begin(), data_.end(), Index{0}, [](Index sum, const ssm::Sequence& s) { return sum + s.rows(); }));
  const ssm::Structure& s = component.structure;
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

void Identifier::describe(const Judged& chosen, const Judged& linear, const Cooked& cooked, ssm::Model& model) const {
  ssm::FitReport& r = model.report;
  for (const Judged& j : judged_) {
    r.candidates.push_back({.name = j.recipe.name(),
                            .bound = j.bound,
                            .predictive_density = std::numeric_limits<double>::quiet_NaN(),
                            .validation = j.validation});
  }
  r.chosen = chosen.recipe.name();
  r.bound = cooked.bound;
  r.objective = cooked.objective;
  r.trace = cooked.trace;
  r.evaluations = cooked.evaluations;
  r.extra_jitter = cooked.extra_jitter;
  r.status = stopped() ? "interrupted" : cooked.converged ? "converged" : "iteration limit";
  if (stopped()) {
    r.message = "the choice was stopped; this is the best model so far";
  } else if (!cooked.converged) {
    r.message = fmt::format("as meant: more than {} joint steps overfit", options_.iterations);
  }
  r.structure = std::string(name(chosen.recipe.kind));
  r.explained = Vector::Constant(static_cast<Index>(model.gp.structure.gp_rows().size()),
                                 std::numeric_limits<double>::quiet_NaN());
  const auto rows = static_cast<double>(chosen.errors.count);
  if (quarters_.empty()) {
    r.reason = fmt::format("no recording has the {} rows that validation needs", kShortestValidated);
  } else if (options_.structure != StateKind::kAuto) {
    r.reason = "asked for";
  } else if (chosen.recipe.kind == StateKind::kLinear) {
    r.reason = fmt::format(
        "no Gaussian process lowered the error of free runs over training rows, seen and left out, by {:.0f} %",
        100.0 * (1.0 - kMargin));
  } else {
    r.reason = fmt::format(
        "its free runs over left-out training rows ({:.0f} values) err by {:.4g} sd of the output, the linear model's "
        "by {:.4g}",
        rows, chosen.validation, linear.validation);
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

ssm::Model Identifier::assemble(const Judged& chosen, const Judged& linear) {
  report("calibration", 0.0);
  ssm::Model model;
  model.spec = spec_;
  const Cooked& base = linear_of(0, linear.recipe.linear);
  const Cooked& start = linear_of(0, chosen.recipe.linear);
  Cooked cooked = cook(whole_, chosen.recipe, start, spec_, options_);
  model.linear = base.component;
  model.linear.spread = calibrate(linear, base.component);
  model.gp = cooked.component;
  model.gp.spread =
      chosen.recipe.kind == StateKind::kLinear ? model.linear.spread : calibrate(chosen, cooked.component);
  model.spec.states = names_of(chosen.recipe, spec_, start.component);
  model.gp.state_names.clear();
  model.spec.mean = ssm::MeanKind::kLinear;
  model.spec.linear_kernel = false;
  model.spec.inducing = cooked.component.structure.inducing;
  const Index D = cooked.component.structure.states;
  const Index E = unit_.size();
  model.scaling = whole_.scaling;
  model.scaling.state_offset = Vector::Zero(D);
  model.scaling.state_scale = Vector::Ones(D);
  model.spec.learn_C = model.spec.learn_d = chosen.recipe.kind != StateKind::kDelay;
  model.spec.C = Matrix::Zero(E, D);
  if (chosen.recipe.kind == StateKind::kDelay) {
    model.spec.C.leftCols(E).setIdentity();
    model.scaling.state_offset = whole_.scaling.output_offset.replicate(chosen.recipe.output_lags, 1);
    model.scaling.state_scale = whole_.scaling.output_scale.replicate(chosen.recipe.output_lags, 1);
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
  describe(chosen, linear, cooked, model);
  model.states = std::move(cooked.q);
  return model;
}

}  // namespace gpilot::inference
