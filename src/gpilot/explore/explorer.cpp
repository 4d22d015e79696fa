#include "gpilot/explore/explorer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/explore/online_model.hpp"
#include "gpilot/explore/slew_box.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/model.hpp"

namespace gpilot::explore {

namespace {

using plan::Choice;
using plan::Phase;

void check_values(const char* what, VectorRef values, std::size_t expected, bool missing_allowed) {
  if (values.size() != static_cast<Index>(expected)) {
    throw InputError(fmt::format("{}: {} values, expected {}", what, values.size(), expected));
  }
  for (const double value : values) {
    if (std::isinf(value) || (std::isnan(value) && !missing_allowed)) {
      throw InputError(
          fmt::format("{}: {} is not a number that can be {}", what, value, missing_allowed ? "measured" : "applied"));
    }
  }
}

void append_row(Matrix& rows, VectorRef row) {
  rows.conservativeResize(rows.rows() + 1, row.size());
  rows.bottomRows(1) = row.transpose();
}

/// A sequence of which the first row at least is known.
struct Course {
  bool broad_start = false;
  Vector first;                       ///< [E] outputs of its first row
  std::vector<Index> steps{};         ///< the number of each row told
  std::optional<std::size_t> rows{};  ///< where its rows stand in the data, once there are any
};

}  // namespace

struct Explorer::State {
  ssm::ModelSpec spec;
  Box box;
  ExploreOptions options;
  std::unique_ptr<plan::Strategy> strategy;
  std::unique_ptr<plan::Strategy> random = plan::make_strategy("random");

  // What was told.
  ssm::Dataset data;
  std::vector<Course> courses;
  bool open = false;            ///< the last course goes on
  std::vector<Choice> choices;  ///< of the last course's rows
  Index newest_step = 0;
  Index measurements = 0;

  // What was learned.
  std::optional<OnlineModel> online;
  std::size_t standing_in = 0;         ///< the course that it stands in
  std::size_t followed = 0;            ///< rows of that course that it has seen
  Index learned_from = 0;              ///< measurements that it was trained on
  std::optional<Index> trained_up_to;  ///< the newest step of the last training, failed ones included
  bool model_lost = false;
  std::string training_failure;  ///< of the newest training; "" if there was none
  std::string filter_failure;    ///< of the newest row; "" if there was none

  std::optional<Choice> pending;
  const std::atomic<bool>* stop = nullptr;

  Course& current();
  bool has_rows() const { return open && courses.back().rows.has_value(); }
  void begin(bool broad_start, const Vector& outputs);
  void append(VectorRef applied, VectorRef outputs, Index step);
  Index fresh_measurements() const;
  void stand(std::shared_ptr<const ssm::Model> model, Index after_step);
  void catch_up();
  Vector previous_control() const;
  Matrix plan_left() const;
  Index committed() const;
  Choice drawn(const Box& reach, Index step, std::string note) const;
  Choice drawn_after_failure(const Box& reach, Index step, std::string_view what, std::string_view why) const;
  Choice decide(Index step);
};

void Explorer::State::begin(bool broad_start, const Vector& outputs) {
  const auto E = static_cast<Index>(spec.outputs.size());
  if (!courses.empty() && !courses.back().rows) {
    courses.pop_back();  // nothing was told of it
  }
  courses.push_back({.broad_start = broad_start,
                     .first = outputs.size() > 0 ? options.learnable(outputs) : Vector::Constant(E, kNaN)});
  choices.clear();
  open = true;
  pending.reset();
}

Course& Explorer::State::current() {
  if (!open) {
    const bool is_first = courses.empty() || (courses.size() == 1 && !courses.front().rows);
    begin(!is_first, {});
  }
  return courses.back();
}

/// Keeps a row before anything can fail.
void Explorer::State::append(VectorRef applied, VectorRef outputs, Index step) {
  Course& course = current();
  const auto P = static_cast<Index>(spec.inputs.size());
  if (!course.rows) {
    course.rows = data.size();
    data.push_back({.controls = Matrix(0, P), .outputs = course.first.transpose(), .broad_start = course.broad_start});
    append_row(data.back().controls, Vector::Constant(P, kNaN));
  }
  ssm::Sequence& rows = data[*course.rows];
  rows.controls.bottomRows(1) = applied.transpose();
  append_row(rows.controls, Vector::Constant(P, kNaN));
  append_row(rows.outputs, options.learnable(outputs));
  course.steps.push_back(step);
  ++measurements;
  newest_step = step;
}

Index Explorer::State::fresh_measurements() const {
  if (!trained_up_to) {
    return measurements;
  }
  Index fresh = 0;
  for (const Course& course : courses) {
    fresh += std::ranges::count_if(course.steps, [this](Index step) { return step > *trained_up_to; });
  }
  return fresh;
}

/// Places a model at the end of what it was trained on.
void Explorer::State::stand(std::shared_ptr<const ssm::Model> model, Index after_step) {
  online.emplace(std::move(model), box, options);
  model_lost = false;
  filter_failure.clear();
  standing_in = 0;
  followed = 0;
  learned_from = 0;
  for (std::size_t k = 0; k < courses.size(); ++k) {
    const auto& steps = courses[k].steps;
    if (const auto known = std::ranges::count_if(steps, [&](Index step) { return step <= after_step; }); known > 0) {
      standing_in = k;
      followed = static_cast<std::size_t>(known);
      learned_from += known;
    }
  }
}

/// Brings the model to the newest row. Where the filter fails, the belief stays: a poor choice is better than none.
void Explorer::State::catch_up() {
  const Course& course = current();
  const std::size_t here = courses.size() - 1;
  if (standing_in != here) {
    try {
      online->begin(course.broad_start, course.first);
    } catch (const NumericalError& error) {
      filter_failure = error.what();
      online->begin(course.broad_start, Vector::Constant(course.first.size(), kNaN));
    }
    standing_in = here;
    followed = 0;
  }
  for (; followed < course.steps.size(); ++followed) {
    const ssm::Sequence& rows = data[*course.rows];
    const auto t = static_cast<Index>(followed);
    try {
      filter_failure.clear();
      online->follow(rows.controls.row(t).transpose(), rows.outputs.row(t + 1).transpose());
    } catch (const NumericalError& error) {
      filter_failure = error.what();
    }
  }
}

/// Where the control is before the next step.
Vector Explorer::State::previous_control() const {
  if (has_rows()) {
    const Matrix& controls = data[*courses.back().rows].controls;
    return controls.row(controls.rows() - 2).transpose();
  }
  return options.safe.size() > 0 ? options.safe : Vector::Zero(box.low.size());
}

/// What is left of the newest plan, if its sequence goes on from the step that it was made in.
Matrix Explorer::State::plan_left() const {
  if (choices.empty() || choices.back().plan.rows() < 2) {
    return {};
  }
  const Matrix& plan = choices.back().plan;
  return plan.bottomRows(plan.rows() - 1);
}

/// How many controls of the newest plan are to be applied before another one is made. A plan that may leave the limits
/// is followed no further than it must be.
Index Explorer::State::committed() const {
  Index done = 0;
  for (auto choice = choices.rbegin(); choice != choices.rend() && choice->plan.rows() > 0; ++choice) {
    ++done;
    if (choice->evaluations > 0) {  // here it was made
      return choice->safe ? std::max<Index>(options.planning.commit - done, 0) : 0;
    }
  }
  return 0;
}

Choice Explorer::State::drawn(const Box& reach, Index step, std::string note) const {
  RandomStream stream(options.seed, Purpose::kStrategy, options.trial, static_cast<std::uint32_t>(step));
  Choice choice{.control = Vector(box.low.size()), .phase = Phase::kRandom, .step = step, .note = std::move(note)};
  for (Index p = 0; p < choice.control.size(); ++p) {
    choice.control(p) = stream.uniform(reach.low(p), reach.high(p));
  }
  choice.control = choice.control.cwiseMax(reach.low).cwiseMin(reach.high);
  return choice;
}

Choice Explorer::State::drawn_after_failure(const Box& reach, Index step, std::string_view what,
                                            std::string_view why) const {
  Choice choice = drawn(reach, step, fmt::format("drawn, since {} failed: {}", what, why));
  choice.fallback = true;
  return choice;
}

Choice Explorer::State::decide(Index step) {
  current();
  const Box reach = options.slew.size() > 0 ? slew_box(box, options.slew, previous_control()) : box;
  const bool explores = measurements >= options.initial;
  if (!online && explores && !training_failure.empty()) {
    return drawn_after_failure(reach, step, "the training", training_failure);
  }
  if (!online || !(explores || options.limits.any())) {
    return drawn(reach, step, "");
  }
  catch_up();
  const Matrix plan = explores ? plan_left() : Matrix();
  if (plan.rows() > 0 && committed() > 0) {
    return {.control = plan.row(0).transpose().cwiseMax(reach.low).cwiseMin(reach.high),
            .phase = Phase::kChosen,
            .step = step,
            .plan = plan,
            .note = "by the plan of an earlier step"};
  }
  if (explores && strategy->needs_history() && !has_rows()) {
    return drawn(reach, step, "drawn, since the criterion looks at the sequence so far, which is empty");
  }
  try {
    Choice choice = online->choose(explores ? *strategy : *random, {.box = reach,
                                                                    .history = has_rows() ? &data : nullptr,
                                                                    .previous_plan = plan.rows() > 0 ? &plan : nullptr,
                                                                    .step = step,
                                                                    .stop = stop});
    choice.phase = explores ? Phase::kChosen : Phase::kRandom;
    choice.step = step;
    if (!options.landscape) {
      choice.landscape.resize(0, 0);
    }
    if (!filter_failure.empty()) {
      choice.note = fmt::format("the state is that of an earlier step, since the filter failed: {}", filter_failure);
    }
    return choice;
  } catch (const NumericalError& error) {
    return drawn_after_failure(reach, step, "the criterion", error.what());
  }
}

Explorer::Explorer(ssm::ModelSpec spec, Box box, const ExploreOptions& options)
    : Explorer(std::move(spec), std::move(box), options, plan::make_strategy(options.strategy)) {}

Explorer::Explorer(ssm::ModelSpec spec, Box box, ExploreOptions options, std::unique_ptr<plan::Strategy> strategy)
    : state_(std::make_unique<State>()) {
  spec.validate();
  options.validate(spec, box);
  state_->spec = std::move(spec);
  state_->box = std::move(box);
  state_->options = std::move(options);
  state_->options.fit.seed = state_->options.seed;
  state_->strategy = std::move(strategy);
}

Explorer::~Explorer() = default;
Explorer::Explorer(Explorer&&) noexcept = default;
Explorer& Explorer::operator=(Explorer&&) noexcept = default;

void Explorer::begin_sequence(bool broad_start, const Vector& outputs) {
  if (outputs.size() > 0) {
    check_values("outputs of the first row", outputs, state_->spec.outputs.size(), true);
  }
  state_->begin(broad_start, outputs);
}

void Explorer::end_sequence() {
  state_->open = false;
  state_->pending.reset();
}

const Choice& Explorer::ask() {
  update();
  return choose(state_->pending ? state_->pending->step : state_->newest_step + 1);
}

const Choice& Explorer::choose(Index step) {
  State& s = *state_;
  if (!s.pending || s.pending->step != step) {
    s.pending = s.decide(step);
  }
  return *s.pending;
}

void Explorer::tell(VectorRef outputs) {
  if (!state_->pending) {
    throw InputError("tell: no control was asked for since the last outputs; expected the control that was applied");
  }
  tell(Vector(state_->pending->control), outputs);
}

void Explorer::tell(VectorRef applied, VectorRef outputs) {
  State& s = *state_;
  tell(s.pending ? *s.pending : Choice{.control = applied, .phase = Phase::kImported, .step = s.newest_step + 1},
       applied, outputs);
}

void Explorer::tell(Choice choice, VectorRef applied, VectorRef outputs) {
  State& s = *state_;
  check_values("applied control", applied, s.spec.inputs.size(), false);
  check_values("outputs", outputs, s.spec.outputs.size(), true);
  s.append(applied, outputs, choice.step);
  s.choices.push_back(std::move(choice));
  s.pending.reset();
}

bool Explorer::sure_enough(const Choice& choice) const {
  return choice.reference_sd < state_->options.until_sd;
}

std::optional<TrainingJob> Explorer::due_training() const {
  const State& s = *state_;
  const Index enough = s.trained_up_to ? s.options.retrain_every : s.options.first_training();
  if (s.measurements == 0 || (!s.model_lost && s.fresh_measurements() < enough)) {
    return std::nullopt;
  }
  // A model of less than the initial measurements knows next to nothing: those after it are better off without.
  const bool goes_on = s.online && s.learned_from >= s.options.initial;
  TrainingJob job{.after_step = s.newest_step,
                  .data = s.data,
                  .spec = s.spec,
                  .options = s.options.fit,
                  .previous = goes_on ? s.online->shared_model() : nullptr};
  if (s.stop != nullptr) {
    // Nobody wants the best model so far, so training ends at once.
    job.options.on_progress = [stop = s.stop, report = job.options.on_progress](const inference::Progress& progress) {
      if (*stop) {
        throw Cancelled("the training was stopped");
      }
      if (report) {
        report(progress);
      }
    };
  }
  return job;
}

void Explorer::adopt(const TrainingResult& result) {
  State& s = *state_;
  s.model_lost = false;
  s.trained_up_to = result.summary.after_step;
  s.training_failure = result.model ? "" : result.summary.message;
  if (result.model) {
    s.stand(result.model, result.summary.after_step);
    s.pending.reset();
  }
}

void Explorer::lose_model() {
  state_->model_lost = true;
}

std::optional<TrainingSummary> Explorer::update() {
  const std::optional<TrainingJob> job = due_training();
  if (!job) {
    return std::nullopt;
  }
  const TrainingResult result = train(*job);
  const auto is_true = [](const std::atomic<bool>* stop) { return stop != nullptr && *stop; };
  if (is_true(state_->stop) || is_true(job->options.stop)) {
    throw Cancelled("the training was stopped");
  }
  adopt(result);
  return result.summary;
}

void Explorer::set_stop(const std::atomic<bool>* stop) {
  state_->stop = stop;
}

const std::shared_ptr<const ssm::Model>& Explorer::model() const {
  static const std::shared_ptr<const ssm::Model> kNone;
  return state_->online ? state_->online->shared_model() : kNone;
}
const ssm::Dataset& Explorer::data() const {
  return state_->data;
}
Index Explorer::measurements() const {
  return state_->measurements;
}
const ssm::ModelSpec& Explorer::spec() const {
  return state_->spec;
}
const Box& Explorer::box() const {
  return state_->box;
}
const ExploreOptions& Explorer::options() const {
  return state_->options;
}

}  // namespace gpilot::explore
