#include "gpilot/study/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/study/region.hpp"
#include "gpilot/study/standpoint.hpp"

namespace gpilot::study {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void check_box(const Box& box, const std::vector<std::string>& inputs) {
  const auto P = static_cast<Index>(inputs.size());
  if (P == 0) {
    throw InputError("exploration needs at least one control to choose");
  }
  if (box.low.size() != P || box.high.size() != P) {
    throw InputError(fmt::format("control box: {} lower and {} upper limits, expected {}, one a control",
                                 box.low.size(), box.high.size(), P));
  }
  for (Index p = 0; p < P; ++p) {
    if (!std::isfinite(box.low(p)) || !std::isfinite(box.high(p)) || !(box.low(p) < box.high(p))) {
      throw InputError(fmt::format("control box: [{}, {}] of '{}' is empty", box.low(p), box.high(p),
                                   inputs[static_cast<std::size_t>(p)]));
    }
  }
}

void check_values(const char* what, VectorRef values, std::size_t expected, bool missing_allowed) {
  if (values.size() != static_cast<Index>(expected)) {
    throw InputError(fmt::format("{}: {} values, expected {}", what, values.size(), expected));
  }
  for (const double value : values) {
    if (std::isinf(value) || (std::isnan(value) && !missing_allowed)) {
      throw InputError(fmt::format("{}: {} is not a number that can be measured", what, value));
    }
  }
}

std::unique_ptr<acquisition::Strategy> named_strategy(const ExplorationOptions& options) {
  std::unique_ptr<acquisition::Strategy> strategy = acquisition::make_strategy(options.strategy);
  const std::string wrong = acquisition::no_reference_sd(options.strategy);
  if (!std::isnan(options.until_sd) && !wrong.empty()) {
    throw InputError(fmt::format("until-sd: {}", wrong));
  }
  return strategy;
}

}  // namespace

void ExplorationOptions::validate() const {
  if (retrain_every < 1) {
    throw InputError(fmt::format("retrain-every: {} steps, expected at least 1", retrain_every));
  }
  if (!std::isnan(until_sd) && !(until_sd > 0.0)) {
    throw InputError(fmt::format("until-sd: {}, expected a positive number", until_sd));
  }
  fit.validate();
  planning.validate();
}

std::string sure_enough_words(double reference_sd, double until_sd, Index steps) {
  return fmt::format(
      "the model's standard deviation on the reference is {:.3g}, below {:.3g}: stopped after {} step(s)", reference_sd,
      until_sd, steps);
}

struct Exploration::State {
  ssm::ModelSpec spec;
  Box box;  ///< user units
  ssm::Sequence data;
  ExplorationOptions options;
  std::unique_ptr<acquisition::Strategy> strategy;
  std::optional<Standpoint> standpoint;  ///< with the newest model
  std::vector<ExplorationStep> steps;
  std::optional<ExplorationStep> pending;  ///< asked, not yet observed
  Index since_training = 0;
  Matrix plan;          ///< what is left of the newest one, the next control first
  Index committed = 0;  ///< controls of it that are applied before another is made

  void train(ExplorationStep& step);
  void filter_on(ExplorationStep& step);
  ExplorationStep choose();
  void append(VectorRef applied, VectorRef outputs);
  void advance_plan();
};

/// Between two trainings the filter carries the belief over the newest row. Where it fails the belief stays.
void Exploration::State::filter_on(ExplorationStep& step) {
  try {
    const Index T = data.rows() - 1;
    standpoint->follow(data.controls.row(T - 1).transpose(), data.outputs.row(T).transpose());
  } catch (const NumericalError& error) {
    const bool training_failed = step.status.starts_with("training failed");
    step.status = fmt::format("{}filter failed: {}", training_failed ? step.status + "; " : "", error.what());
  }
}

/// A training that fails costs its improvement, not the exploration: the model at hand goes on.
void Exploration::State::train(ExplorationStep& step) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    standpoint.emplace(inference::fit({data}, spec, options.fit, standpoint ? &standpoint->model() : nullptr),
                       options.seed);
    if (options.limits) {
      standpoint->limit(*options.limits);
    }
    since_training = 0;
    step.trained = true;
    step.status = standpoint->model().report.status;
  } catch (const NumericalError& error) {
    if (!standpoint) {
      throw;
    }
    step.status = fmt::format("training failed: {}", error.what());
    filter_on(step);
  }
  step.chosen = standpoint->model().report.chosen;
  step.train_seconds = seconds_since(begin);
}

ExplorationStep Exploration::State::choose() {
  const auto begin = std::chrono::steady_clock::now();
  ExplorationStep step;
  step.step = static_cast<Index>(steps.size());
  if (committed > 0 && plan.rows() > 0) {
    step.asked = plan.row(0).transpose();
    step.criterion = kNaN;
    return step;
  }
  const ssm::Dataset history{data};
  acquisition::Choice choice = standpoint->choose(*strategy, {.box = box,
                                                              .history = &history,
                                                              .planning = options.planning,
                                                              .previous_plan = plan.rows() > 0 ? &plan : nullptr,
                                                              .region = &options.region,
                                                              .seed = options.seed,
                                                              .trial = options.trial,
                                                              .step = static_cast<std::uint32_t>(step.step)});
  plan = choice.plan;
  committed = options.planning.commit;
  step.asked = std::move(choice.control);
  step.criterion = choice.value;
  step.evaluations = choice.evaluations;
  step.violation = choice.violation;
  step.safe = choice.safe;
  step.reference_sd = choice.reference_sd;
  if (options.landscape) {
    step.landscape = std::move(choice.landscape);
  }
  step.choose_seconds = seconds_since(begin);
  return step;
}

Exploration::Exploration(ssm::ModelSpec spec, Box box, ssm::Sequence initial, ExplorationOptions options)
    : Exploration(std::move(spec), std::move(box), std::move(initial), options, named_strategy(options)) {}

Exploration::Exploration(ssm::ModelSpec spec, Box box, ssm::Sequence initial, ExplorationOptions options,
                         std::unique_ptr<acquisition::Strategy> strategy)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  spec.validate();
  options.validate();
  check_box(box, spec.inputs);
  if (initial.rows() < 2) {
    throw InputError(fmt::format("initial data: {} rows, expected at least 2", initial.rows()));
  }
  if (options.limits) {
    options.limits->validate(spec.outputs);
  }
  check_region(spec, options.region);
  s.strategy = std::move(strategy);
  s.spec = std::move(spec);
  s.box = std::move(box);
  s.data = std::move(initial);
  s.data.controls.bottomRows(1).setConstant(kNaN);
  s.options = std::move(options);
  s.options.fit.seed = s.options.seed;
  ExplorationStep first;
  first.criterion = kNaN;
  s.train(first);
  s.steps.push_back(std::move(first));
}

Exploration::~Exploration() = default;
Exploration::Exploration(Exploration&&) noexcept = default;

const Vector& Exploration::ask() {
  if (!state_->pending) {
    state_->pending = state_->choose();
  }
  return state_->pending->asked;
}

bool Exploration::sure_enough() {
  ask();
  return state_->pending->reference_sd < state_->options.until_sd;
}

const ExplorationStep& Exploration::choice() const {
  if (!state_->pending) {
    throw std::logic_error("Exploration::choice: nothing was asked since the last observation");
  }
  return *state_->pending;
}

/// The plan goes on from the next row.
void Exploration::State::advance_plan() {
  plan = plan.rows() > 1 ? Matrix(plan.bottomRows(plan.rows() - 1)) : Matrix();
  committed = std::max<Index>(committed - 1, 0);
}

/// The newest row, on its way before anything can fail.
void Exploration::State::append(VectorRef applied, VectorRef outputs) {
  const Index T = data.rows();
  data.controls.row(T - 1) = applied.transpose();
  data.controls.conservativeResize(T + 1, Eigen::NoChange);
  data.controls.row(T).setConstant(kNaN);
  data.outputs.conservativeResize(T + 1, Eigen::NoChange);
  data.outputs.row(T) = outputs.transpose();
}

const ExplorationStep& Exploration::observe(VectorRef applied, VectorRef outputs) {
  State& s = *state_;
  check_values("applied control", applied, s.spec.inputs.size(), false);
  check_values("outputs", outputs, s.spec.outputs.size(), true);
  ExplorationStep step;
  step.step = static_cast<Index>(s.steps.size());
  step.criterion = kNaN;
  if (s.pending) {
    step = std::move(*s.pending);
    s.pending.reset();
  }
  step.applied = applied;
  step.outputs = outputs;
  step.status = s.standpoint->model().report.status;
  step.chosen = s.standpoint->model().report.chosen;
  s.append(applied, outputs);
  s.advance_plan();
  s.steps.push_back(std::move(step));
  if (++s.since_training >= s.options.retrain_every) {
    s.train(s.steps.back());
  } else {
    s.filter_on(s.steps.back());
  }
  return s.steps.back();
}

const ssm::Model& Exploration::model() const {
  return state_->standpoint->model();
}
const ssm::Sequence& Exploration::data() const {
  return state_->data;
}
const std::vector<ExplorationStep>& Exploration::steps() const {
  return state_->steps;
}

}  // namespace gpilot::study
