#include "gpilot/study/exploration.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::study {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kAbsurdState = 1e6;  ///< scaled: a measurement that leads there is no basis for a choice

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

}  // namespace

void ExplorationOptions::validate() const {
  if (retrain_every < 1) {
    throw InputError(fmt::format("retrain-every: {} steps, expected at least 1", retrain_every));
  }
  fit.validate();
}

struct Exploration::State {
  ssm::ModelSpec spec;
  Box box;  ///< user units
  ssm::Sequence data;
  ExplorationOptions options;
  std::unique_ptr<acquisition::Strategy> strategy;
  std::optional<ssm::Model> model;
  std::optional<ssm::Transition> transition;
  gp::Nodes nodes;
  ssm::StateBelief belief;
  std::vector<ExplorationStep> steps;
  std::optional<ExplorationStep> pending;  ///< asked, not yet observed
  Index since_training = 0;

  void train(ExplorationStep& step);
  void adopt(ssm::Model fitted);
  void filter_on(ExplorationStep& step);
  ExplorationStep choose();
  void append(VectorRef applied, VectorRef outputs);
  Box scaled_box() const;
};

/// Takes a fitted model: its function, and q(x_T) as what is known about the current state.
void Exploration::State::adopt(ssm::Model fitted) {
  model = std::move(fitted);
  transition.emplace(model->gp.structure, model->gp.parameters, model->gp.weights);
  nodes = gp::make_nodes(spec.nodes, model->gp.structure.states, spec.node_points, options.seed);
  const Index D = model->states.states();
  const Index last = model->states.rows() - 1;
  belief = {model->states.m.col(last), ssm::marginal_covariances(model->states).middleCols(D * last, D)};
  since_training = 0;
}

/// Between two trainings the filter carries the belief over the newest row. Where it fails the belief stays.
void Exploration::State::filter_on(ExplorationStep& step) {
  try {
    const ssm::Sequence scaled = model->scaling.to_scaled({data.controls.bottomRows(2), data.outputs.bottomRows(2)});
    const ssm::Filter filter(*transition, nodes);
    ssm::StateBelief next = filter.predict(belief, scaled.controls.row(0).transpose());
    filter.update(next, scaled.outputs.row(1).transpose());
    if (!next.covariance.allFinite() || !(next.mean.cwiseAbs().maxCoeff() < kAbsurdState)) {
      throw NumericalError("the newest outputs lead to no sensible state");
    }
    belief = std::move(next);
  } catch (const NumericalError& error) {
    const bool training_failed = step.status.starts_with("training failed");
    step.status = fmt::format("{}filter failed: {}", training_failed ? step.status + "; " : "", error.what());
  }
}

/// A training that fails costs its improvement, not the exploration: the model at hand goes on.
void Exploration::State::train(ExplorationStep& step) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    adopt(inference::fit({data}, spec, options.fit, model ? &*model : nullptr));
    step.trained = true;
    step.status = model->report.status;
  } catch (const NumericalError& error) {
    if (!model) {
      throw;
    }
    step.status = fmt::format("training failed: {}", error.what());
    filter_on(step);
  }
  step.chosen = model->report.chosen;
  step.train_seconds = seconds_since(begin);
}

Box Exploration::State::scaled_box() const {
  const auto to_scaled = [this](const Vector& user) -> Vector {
    return (user - model->scaling.control_offset).cwiseQuotient(model->scaling.control_scale);
  };
  return {to_scaled(box.low), to_scaled(box.high)};
}

ExplorationStep Exploration::State::choose() {
  const auto begin = std::chrono::steady_clock::now();
  ExplorationStep step;
  step.step = static_cast<Index>(steps.size());
  const Box inside = scaled_box();
  const ssm::Series history = ssm::concatenate({model->scaling.to_scaled(data)});
  const acquisition::Choice choice = strategy->choose({.transition = *transition,
                                                       .nodes = nodes,
                                                       .belief = belief,
                                                       .box = inside,
                                                       .history = &history,
                                                       .q = &model->states,
                                                       .seed = options.seed,
                                                       .trial = options.trial,
                                                       .step = static_cast<std::uint32_t>(step.step)});
  const ssm::Scaling& scaling = model->scaling;
  // Rounding on the way through scaled units must not leave the box.
  step.asked = (scaling.control_offset + scaling.control_scale.cwiseProduct(choice.control))
                   .cwiseMax(box.low)
                   .cwiseMin(box.high);
  step.criterion = choice.value;
  step.evaluations = choice.evaluations;
  if (options.landscape && choice.landscape.rows() > 0) {
    step.landscape = choice.landscape;
    for (Index p = 0; p < box.low.size(); ++p) {
      step.landscape.col(p) = (scaling.control_offset(p) + scaling.control_scale(p) * choice.landscape.col(p).array())
                                  .cwiseMax(box.low(p))
                                  .cwiseMin(box.high(p));
    }
  }
  step.choose_seconds = seconds_since(begin);
  return step;
}

Exploration::Exploration(ssm::ModelSpec spec, Box box, ssm::Sequence initial, ExplorationOptions options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  spec.validate();
  options.validate();
  check_box(box, spec.inputs);
  if (initial.rows() < 2) {
    throw InputError(fmt::format("initial data: {} rows, expected at least 2", initial.rows()));
  }
  s.strategy = acquisition::make_strategy(options.strategy);
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
  step.status = s.model->report.status;
  step.chosen = s.model->report.chosen;
  s.append(applied, outputs);
  s.steps.push_back(std::move(step));
  if (++s.since_training >= s.options.retrain_every) {
    s.train(s.steps.back());
  } else {
    s.filter_on(s.steps.back());
  }
  return s.steps.back();
}

const ssm::Model& Exploration::model() const {
  return *state_->model;
}
const ssm::Sequence& Exploration::data() const {
  return state_->data;
}
const std::vector<ExplorationStep>& Exploration::steps() const {
  return state_->steps;
}

}  // namespace gpilot::study
