#include "gpilot/identify/identify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/parallel.hpp"
#include "gpilot/identify/structure_search.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/linalg/eigenvalues.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::identify {

namespace {

constexpr double kRadii[] = {0.95, 0.99, 0.998, 0.9998};  ///< largest poles that linear models are tried with
constexpr Index kMostDeadTime = 5;                        ///< rows that are tried
constexpr std::size_t kDeadTimes = 3;                     ///< how many of them are validated, for each order
constexpr Index kMostGpDeadTime = 1;   ///< rows that are tried with a delay embedding, beside the linear model's
constexpr std::size_t kValidated = 3;  ///< Gaussian processes that are validated: the best in sample
/// Steps after which those are picked: the start from a linear model tells most. By trial on one
/// recording of 500 rows, where 20 picked worse.
constexpr int kScreenIterations = 30;
constexpr Index kScreenDraws = 8;  ///< of its free runs
/// How many are picked, to be trained to the end. Of twelve recordings 4, and three of them validated, led to the same
/// choice as 8 and four in all (docs/results/edges.md), for a fifth less time.
constexpr std::size_t kScreened = 4;
/// A candidate whose error over the first fold is so much that of the best is not tried on the others. By feel.
constexpr double kOutOfRace = 1.3;

/// Nothing can be identified of an output that never changes.
void check_outputs_change(const ssm::Dataset& data, const ssm::ModelSpec& spec) {
  for (std::size_t e = 0; e < spec.outputs.size(); ++e) {
    std::set<double> values;
    for (const ssm::Sequence& sequence : data) {
      for (const double y : sequence.outputs.col(static_cast<Index>(e))) {
        if (!std::isnan(y) && values.size() < 2) {
          values.insert(y);
        }
      }
    }
    if (values.size() < 2) {
      throw InputError(fmt::format(
          "output '{}': {}, so that there is no motion to learn; expected an output that changes", spec.outputs[e],
          values.empty() ? "it was never measured" : fmt::format("it is {} in all rows", *values.begin())));
    }
  }
}

std::string key_of(const LinearChoice& c) {
  return fmt::format("{}/{}/{}", c.order, c.dead_time, c.max_radius);
}

}  // namespace

void StructureSearch::report(const std::string& stage, double fraction) {
  if (options_.on_progress) {
    const std::scoped_lock one_at_a_time(report_mutex_);
    options_.on_progress({stage, fraction, 0.0});
  }
}

Index StructureSearch::rows() const {
  Index sum = 0;
  for (const ssm::Sequence& sequence : data_) {
    sum += sequence.rows();
  }
  return sum;
}

/// Linear models are fitted once for each problem (0: the whole) and kept. Candidates that are trained side by side
/// need the same ones: whoever comes second waits.
const FittedCandidate& StructureSearch::linear_of(std::size_t k, const LinearChoice& choice) {
  const std::scoped_lock fitted_once(linear_mutex_);
  const auto key = std::pair(k, key_of(choice));
  auto found = linear_models_.find(key);
  if (found == linear_models_.end()) {
    found = linear_models_.emplace(key, fit_linear_candidate(problem(k), choice, options_)).first;
  }
  return found->second;
}

/// The limits of poles that can make a difference: below them a model whose poles are well inside is the same.
std::vector<double> StructureSearch::radii_for(const LinearChoice& fitted) {
  const ssm::Dynamics& dynamics = linear_of(0, fitted).dynamics;
  const double radius = linalg::spectral_radius(inference::linear_part(dynamics.structure, dynamics.parameters).F);
  std::vector<double> radii;
  for (const double limit : kRadii) {
    if (limit == fitted.max_radius || limit < radius || radius > 0.999 * fitted.max_radius) {
      radii.push_back(limit);
    }
  }
  return radii;
}

/// Orders with the dead times that simulate the training rows best.
std::vector<LinearChoice> StructureSearch::linear_choices() {
  const Index most = options_.order.value_or(options_.states);
  std::vector<LinearChoice> choices;
  for (Index order = options_.order.value_or(1); order <= most; ++order) {
    std::vector<std::pair<double, Index>> dead_times;
    const Index last = spec_.inputs.empty() ? 0 : options_.dead_time.value_or(kMostDeadTime);
    for (Index k = options_.dead_time.value_or(0); k <= last; ++k) {
      if (stopped() && !linear_models_.empty()) {
        break;
      }
      report("linear models",
             0.5 * static_cast<double>((order - 1) * (last + 1) + k) / static_cast<double>(most * (last + 1)));
      try {
        dead_times.emplace_back(linear_of(0, {order, k, kRadii[2]}).mean_square, k);
      } catch (const NumericalError&) {  // an order or a dead time that the data do not bear
      } catch (const InputError&) {
        if (order == 1 || options_.order) {
          throw;
        }
      }
    }
    std::sort(dead_times.begin(), dead_times.end());
    dead_times.resize(std::min(dead_times.size(), kDeadTimes));
    for (const auto& [error, k] : dead_times) {
      for (const double radius : radii_for({order, k, kRadii[2]})) {
        choices.push_back({order, k, radius});
      }
    }
  }
  if (choices.empty()) {
    throw NumericalError("no linear model of the data could be fitted");
  }
  return choices;
}

/// RMSE of long free runs over the training rows by a model of them all: an unstable one betrays itself even in sample.
double StructureSearch::in_sample_error(const ssm::Dynamics& dynamics, Index draws) const {
  ValidationErrors errors;
  for (const double part : {0.125, 0.25, 0.5}) {
    Fold fold;
    for (std::size_t k = 0; k < data_.size(); ++k) {
      const Index begin = static_cast<Index>(part * static_cast<double>(data_[k].rows()));
      if (begin > 0) {
        fold.blocks.push_back({k, begin, data_[k].rows()});
      }
    }
    errors.add(
        validate(spec_, whole_.scaling, dynamics, data_, fold, unit_, options_.seed, ssm::Detail::kPoint, draws));
  }
  return std::sqrt(errors.mean_square());
}

/// Sets the error of free runs over rows left out, and the judgement: the geometric mean of it and of the error in
/// sample. Few folds are noisy judges, and the error in sample is a sharp but kind one. False where that is impossible.
bool StructureSearch::judge_by(std::size_t k, JudgedStructure& judged) {
  const auto give_up = [&judged] {
    judged.judgement = judged.validation = std::numeric_limits<double>::infinity();
    return false;
  };
  try {
    const FittedCandidate& linear = linear_of(k + 1, judged.choice.linear);
    const FittedCandidate candidate = fit_candidate(problem(k + 1), judged.choice, linear, spec_, options_,
                                                    {.iterations = options_.iterations, .coarse = true});
    if (stopped() && judged.choice.kind != StateKind::kLinear) {  // it may have been cut short
      return give_up();
    }
    judged.errors.add(validate(spec_, problem(k + 1).scaling, candidate.dynamics, data_, quarters_[k], unit_,
                               options_.seed, ssm::Detail::kPoint));
  } catch (const NumericalError&) {  // not among the candidates then
    return give_up();
  } catch (const InputError&) {  // an order that the rows of a fold do not bear
    return give_up();
  }
  judged.validation = std::sqrt(judged.errors.mean_square());
  judged.judgement = std::sqrt(judged.in_sample * judged.validation);
  return true;
}

void StructureSearch::judge(JudgedStructure& judged) {
  for (std::size_t k = 0; k < quarters_.size() && judge_by(k, judged); ++k) {
  }
}

/// Judges candidates fold by fold; those that fall far behind drop out.
void StructureSearch::race(std::vector<JudgedStructure>& candidates) {
  const auto less = [](const JudgedStructure& a, const JudgedStructure& b) { return a.judgement < b.judgement; };
  for (JudgedStructure& judged : candidates) {
    judged.judgement = 0.0;
  }
  for (std::size_t k = 0; k < quarters_.size(); ++k) {
    const double best = std::min_element(candidates.begin(), candidates.end(), less)->judgement;
    for_each_task(static_cast<Index>(candidates.size()), options_.threads, [&](Index task, Index /*worker*/) {
      const auto i = static_cast<std::size_t>(task);
      report(candidates[i].choice.name(), static_cast<double>(k * candidates.size() + i) /
                                              static_cast<double>(quarters_.size() * candidates.size()));
      if (k > 0 && candidates[i].judgement > kOutOfRace * best) {
        candidates[i].judgement = candidates[i].validation = std::numeric_limits<double>::infinity();
      } else {
        judge_by(k, candidates[i]);
      }
    });
  }
}

/// Akaike's final prediction error over the error in sample: the judge where there are too few rows to validate.
double StructureSearch::prediction_error_factor(const LinearChoice& choice) const {
  double rows = 0.0;
  for (const ssm::Sequence& sequence : data_) {
    rows += static_cast<double>(sequence.rows());
  }
  const auto columns = static_cast<double>(spec_.inputs.size() + spec_.outputs.size());
  const double fitted = static_cast<double>(choice.order) * columns + static_cast<double>(spec_.outputs.size());
  return (rows + fitted) / std::max(1.0, rows - fitted);
}

JudgedStructure StructureSearch::choose_linear() {
  const std::vector<LinearChoice> choices = linear_choices();
  std::map<Index, JudgedStructure> best_of_order;
  for (std::size_t k = 0; k < choices.size() && !(stopped() && !best_of_order.empty()); ++k) {
    report("linear models", 0.5 + 0.5 * static_cast<double>(k) / static_cast<double>(choices.size()));
    JudgedStructure judged{.choice = {.kind = StateKind::kLinear, .linear = choices[k]}};
    try {
      judged.in_sample = std::sqrt(linear_of(0, choices[k]).mean_square);
    } catch (const NumericalError&) {
      continue;
    }
    judged.judgement = judged.in_sample * std::sqrt(prediction_error_factor(choices[k]));
    if (!quarters_.empty()) {
      judge(judged);
    }
    const auto [best, is_first] = best_of_order.emplace(choices[k].order, judged);
    if (!is_first && judged.judgement < best->second.judgement) {
      best->second = judged;
    }
  }
  if (best_of_order.empty()) {
    throw NumericalError("no linear model of the data could be fitted");
  }
  JudgedStructure chosen = best_of_order.begin()->second;
  if (std::isinf(chosen.judgement) &&
      std::ranges::all_of(best_of_order, [](const auto& entry) { return std::isinf(entry.second.judgement); })) {
    throw NumericalError("no linear model could be fitted to the rows that validation leaves");
  }
  for (const auto& [order, judged] : best_of_order) {
    judged_.push_back(judged);
    if (judged.judgement < chosen.judgement) {
      chosen = judged;
    }
  }
  return chosen;
}

/// Lags of outputs with one past input and with as many as there is room for; the linear model's states.
std::vector<StructureChoice> StructureSearch::gp_choices(const LinearChoice& linear) {
  std::vector<StructureChoice> choices;
  const auto E = static_cast<Index>(spec_.outputs.size());
  const auto P = static_cast<Index>(spec_.inputs.size());
  const bool any = options_.structure == StateKind::kAuto;
  if (any || options_.structure == StateKind::kDelay) {
    std::set<Index> dead_times{options_.dead_time.value_or(linear.dead_time)};
    for (Index k = 0; k <= kMostGpDeadTime && P > 0 && !options_.dead_time; ++k) {
      dead_times.insert(k);
    }
    const Index most = std::max<Index>(1, options_.states / E);
    for (Index outputs = options_.output_lags.value_or(1); outputs <= options_.output_lags.value_or(most); ++outputs) {
      const Index room = P == 0 ? 0 : std::max<Index>(0, (options_.states - E * outputs) / P);
      std::set<Index> inputs{std::min<Index>(1, room), room};
      if (options_.input_lags) {
        inputs = {*options_.input_lags};
      }
      for (const Index lags : inputs) {
        for (const Index k : dead_times) {
          choices.push_back({.kind = StateKind::kDelay,
                             .linear = linear,
                             .dead_time = k,
                             .output_lags = outputs,
                             .input_lags = lags});
        }
      }
    }
  }
  if (any || options_.structure == StateKind::kSubspace) {
    choices.push_back({.kind = StateKind::kSubspace, .linear = linear});
  }
  return choices;
}

/// Trains a candidate on all rows that it is judged by, a little or to the end.
void StructureSearch::fit_in_sample(JudgedStructure& judged, bool to_the_end) {
  const int iterations = to_the_end ? options_.iterations : std::min(kScreenIterations, options_.iterations);
  try {
    auto fitted =
        std::make_shared<FittedCandidate>(fit_candidate(whole_, judged.choice, linear_of(0, judged.choice.linear),
                                                        spec_, options_, {.iterations = iterations, .coarse = true}));
    if (stopped()) {  // cut short
      return;
    }
    judged.bound = fitted->bound;
    judged.in_sample = judged.judgement =
        in_sample_error(fitted->dynamics, to_the_end ? kValidationDraws : kScreenDraws);
    judged.fitted = to_the_end ? std::move(fitted) : nullptr;
  } catch (const NumericalError&) {  // not among the candidates then
    judged.in_sample = judged.judgement = std::numeric_limits<double>::infinity();
  }
}

/// All are trained a little, those that run best over the training rows to the end, and the best of those are kept.
std::vector<JudgedStructure> StructureSearch::screen(const JudgedStructure& linear) {
  std::vector<JudgedStructure> trained;
  for (const StructureChoice& choice : gp_choices(linear.choice.linear)) {
    trained.push_back({.choice = choice});
  }
  const auto keep_best = [&trained](std::size_t count) {
    std::ranges::stable_sort(trained, {}, &JudgedStructure::judgement);
    trained.resize(std::min(trained.size(), count));
    std::erase_if(trained, [](const JudgedStructure& j) { return std::isinf(j.judgement); });
  };
  const auto fit_all = [&](bool to_the_end, double from) {
    const auto count = static_cast<Index>(trained.size());
    for_each_task(count, options_.threads, [&](Index k, Index /*worker*/) {
      if (!stopped()) {
        report("Gaussian processes", from + 0.5 * static_cast<double>(k) / static_cast<double>(count));
        fit_in_sample(trained[static_cast<std::size_t>(k)], to_the_end);
      }
    });
  };
  if (trained.size() > kScreened) {
    fit_all(false, 0.0);
    keep_best(kScreened);
  }
  fit_all(true, 0.5);
  keep_best(kValidated);
  return trained;
}

JudgedStructure StructureSearch::choose_gp(const JudgedStructure& linear) {
  std::vector<JudgedStructure> trained = screen(linear);
  if (trained.empty() || stopped()) {
    return {};
  }
  if (!quarters_.empty()) {
    race(trained);
  }
  judged_.insert(judged_.end(), trained.begin(), trained.end());
  return *std::min_element(trained.begin(), trained.end(), [](const JudgedStructure& a, const JudgedStructure& b) {
    return a.judgement < b.judgement;
  });
}

FoundStructures StructureSearch::choose() {
  JudgedStructure linear = choose_linear();
  JudgedStructure chosen = linear;
  const bool free = options_.structure == StateKind::kAuto;
  if (options_.structure != StateKind::kLinear && spec_.inducing > 0 && !(free && quarters_.empty())) {
    const JudgedStructure gp = choose_gp(linear);
    // Side by side, in sample too: free runs from the same rows.
    const double same_runs = in_sample_error(linear_of(0, linear.choice.linear).dynamics);
    linear.judgement = std::sqrt(same_runs * linear.validation);
    if (!free && std::isinf(gp.judgement) && !stopped()) {
      throw NumericalError(fmt::format("no model of the structure '{}' could be trained", name(options_.structure)));
    }
    const bool judged = gp.choice.kind != StateKind::kLinear && (!std::isinf(gp.validation) || quarters_.empty());
    if (judged && (!free || gp.judgement < kMargin * linear.judgement)) {
      chosen = gp;
    }
  }
  return {std::move(chosen), std::move(linear)};
}

ssm::Model identify(const ssm::Dataset& data, const ssm::ModelSpec& spec, const IdentifyOptions& options) {
  options.validate();
  ssm::concatenate(data);  // checks shapes and controls
  if (data.front().controls.cols() != static_cast<Index>(spec.inputs.size()) ||
      data.front().outputs.cols() != static_cast<Index>(spec.outputs.size())) {
    throw InputError(fmt::format("data: {} controls and {} outputs, expected {} and {} as named",
                                 data.front().controls.cols(), data.front().outputs.cols(), spec.inputs.size(),
                                 spec.outputs.size()));
  }
  check_outputs_change(data, spec);
  const auto begin = std::chrono::steady_clock::now();
  const ssm::Dataset part = judged_part(data);
  StructureSearch judge(part.empty() ? data : part, spec, options);
  const FoundStructures found = judge.choose();
  // Whoever stops it does not want to wait for all rows: the best so far is of the part.
  const bool stopped = options.stop != nullptr && *options.stop;
  ssm::Model model = part.empty() || stopped ? judge.assemble(found, judge)
                                             : StructureSearch(data, spec, options).assemble(found, judge);
  model.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return model;
}

}  // namespace gpilot::identify
