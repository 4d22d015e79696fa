#include "study_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "gpilot/error.hpp"
#include "gpilot/random.hpp"
#include "gpilot/study/exploration.hpp"
#include "gpilot/study/model_file.hpp"
#include "gpilot/study/reach.hpp"
#include "gpilot/study/region.hpp"
#include "gpilot/study/study_error.hpp"
#include "numbers_text.hpp"
#include "stamp.hpp"

namespace gpilot::study {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Uniform in the box, by the stream of the step.
Vector draw_control(const Box& box, std::uint64_t seed, Index step) {
  RandomStream random(seed, Purpose::kStrategy, 0, static_cast<std::uint32_t>(step));
  Vector control(box.low.size());
  for (Index p = 0; p < control.size(); ++p) {
    control(p) = random.uniform(box.low(p), box.high(p));
  }
  return control.cwiseMax(box.low).cwiseMin(box.high);
}

ssm::Sequence rows_of(const SequenceRecord& sequence, const std::vector<const StepRecord*>& told, Index inputs) {
  const auto T = static_cast<Index>(told.size());
  ssm::Sequence rows{.controls = Matrix::Constant(T + 1, inputs, kNaN),
                     .outputs = Matrix(T + 1, sequence.outputs.size()),
                     .broad_start = sequence.broad};
  rows.outputs.row(0) = sequence.outputs.transpose();
  for (Index t = 0; t < T; ++t) {
    rows.controls.row(t) = told[static_cast<std::size_t>(t)]->applied.transpose();
    rows.outputs.row(t + 1) = told[static_cast<std::size_t>(t)]->outputs.transpose();
  }
  return rows;
}

}  // namespace

Study::State::State(const std::string& file, Access access, std::unique_ptr<WriterLock> writer_lock)
    : lock(std::move(writer_lock)),
      path(file),
      store(file, access),
      header(store.header()),
      config(parse_config(header.config, file)),
      strategy(acquisition::make_strategy(config.strategy)) {
  load();
  if (lock) {
    const std::string& left_by = lock->left_by();
    session = store.begin_session(left_by.empty() ? "" : fmt::format("found the lock of {}, which has died", left_by));
  }
}

Study::State::~State() {
  try {
    if (session > 0) {
      store.end_session(session);
    }
  } catch (const std::exception&) {  // the session then looks like one that died, as it has
  }
}

void Study::State::load() {
  std::optional<std::string> model;
  store.snapshot([&] {
    sequences = store.sequences();
    steps = store.steps();
    trainings = store.trainings();
    if (const TrainingRecord* newest = newest_model()) {
      model = store.model(newest->id);
    }
  });
  check();
  standpoint.reset();
  model_lost = false;
  if (model) {
    take_model(*model);
  }
}

/// Measurements come first: a model that this version cannot read costs a training, not the study.
void Study::State::take_model(const std::string& text) {
  const TrainingRecord& newest = *newest_model();
  try {
    stand(parse_model(text, fmt::format("{}, model of training {}", path, newest.id)), newest);
  } catch (const InputError&) {
    model_lost = true;
  }
}

const TrainingRecord* Study::State::newest_model() const {
  const auto newest = std::ranges::find_if(trainings.rbegin(), trainings.rend(), &TrainingRecord::has_model);
  return newest == trainings.rend() ? nullptr : &*newest;
}

/// The rest relies on what is checked here; a file that another program has changed may break it.
void Study::State::check() const {
  const auto P = static_cast<Index>(config.model.inputs.size());
  const auto E = static_cast<Index>(config.model.outputs.size());
  const auto require = [this](bool holds, std::string_view table, Index id, std::string_view what) {
    if (!holds) {
      throw StoreError(fmt::format("{}: damaged: {} {}: {}", path, table, id, what));
    }
  };
  for (std::size_t k = 0; k < sequences.size(); ++k) {
    require(sequences[k].id == static_cast<Index>(k) + 1, "sequence", sequences[k].id, "the numbers have a gap");
    require(sequences[k].outputs.size() == E, "sequence", sequences[k].id, "wrong number of outputs");
  }
  Index sequence = 1;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const StepRecord& s = steps[k];
    const bool told = s.status == StepStatus::kTold;
    require(s.id == static_cast<Index>(k) + 1, "step", s.id, "the numbers have a gap");
    require(s.sequence >= sequence && s.sequence <= static_cast<Index>(sequences.size()), "step", s.id,
            "its sequence is not there, or out of order");
    require(s.asked.size() == P && s.asked.allFinite(), "step", s.id, "wrong control");
    require(!told || (s.applied.size() == P && s.applied.allFinite()), "step", s.id, "wrong applied control");
    require(!told || (s.outputs.size() == E && !s.outputs.array().isInf().any()), "step", s.id, "wrong outputs");
    require(s.status != StepStatus::kAsked || k + 1 == steps.size(), "step", s.id, "it waits, and others followed");
    sequence = s.sequence;
  }
  for (std::size_t k = 0; k < trainings.size(); ++k) {
    require(trainings[k].id == static_cast<Index>(k) + 1, "training", trainings[k].id, "the numbers have a gap");
    require(trainings[k].after_step <= static_cast<Index>(steps.size()), "training", trainings[k].id,
            "it knows steps that are not there");
  }
}

void Study::State::require_writable() const {
  if (!lock) {
    throw InputError(fmt::format("{}: the study was opened to read", path));
  }
  if (!unusable.empty()) {
    throw StoreError(fmt::format("{}: the study must be opened again: {}", path, unusable));
  }
}

void Study::State::require_none_pending() const {
  if (const StepRecord* step = pending()) {
    throw InputError(
        fmt::format("{}: step {} waits for its outputs: tell them, or say that it failed", path, step->id));
  }
}

const StepRecord* Study::State::pending() const {
  // Steps are closed in order, so that only the newest can wait.
  return !steps.empty() && steps.back().status == StepStatus::kAsked ? &steps.back() : nullptr;
}

const SequenceRecord* Study::State::current() const {
  return !sequences.empty() && !sequences.back().ended ? &sequences.back() : nullptr;
}

Index Study::State::told() const {
  return std::ranges::count(steps, StepStatus::kTold, &StepRecord::status);
}

std::string Study::State::sure_enough() const {
  const auto newest = std::ranges::find(steps.rbegin(), steps.rend(), StepStatus::kTold, &StepRecord::status);
  if (newest == steps.rend() || !(newest->reference_sd < config.until_sd)) {
    return "";
  }
  const auto chosen = std::ranges::count_if(steps, [](const StepRecord& step) {
    return step.phase == StepPhase::kChosen && step.status == StepStatus::kTold;
  });
  return sure_enough_words(newest->reference_sd, config.until_sd, chosen);
}

ssm::Dataset Study::State::data(Index last) const {
  const auto P = static_cast<Index>(config.model.inputs.size());
  ssm::Dataset dataset;
  std::size_t next = 0;
  for (const SequenceRecord& sequence : sequences) {
    std::vector<const StepRecord*> told_steps;
    for (; next < steps.size() && steps[next].sequence == sequence.id; ++next) {
      if (steps[next].status == StepStatus::kTold && steps[next].id <= last) {
        told_steps.push_back(&steps[next]);
      }
    }
    if (!told_steps.empty()) {
      dataset.push_back(rows_of(sequence, told_steps, P));
    }
  }
  return dataset;
}

bool Study::State::training_is_due() const {
  const Index trained_up_to = trainings.empty() ? 0 : trainings.back().after_step;
  const Index fresh = std::ranges::count_if(
      steps, [&](const StepRecord& s) { return s.status == StepStatus::kTold && s.id > trained_up_to; });
  return model_lost || fresh >= (trainings.empty() ? config.first_training() : config.retrain_every);
}

void Study::State::stand(ssm::Model model, const TrainingRecord& training) {
  standpoint.emplace(std::move(model), config.seed);
  if (config.limits.any()) {
    standpoint->limit(config.limits);
  }
  model_lost = false;
  followed = training.after_step;
  standing_in = 0;
  for (const StepRecord& step : steps) {
    if (step.status == StepStatus::kTold && step.id <= training.after_step) {
      standing_in = step.sequence;
    }
  }
}

void Study::State::catch_up(const SequenceRecord& sequence) {
  if (!standpoint) {
    return;
  }
  // Where the filter fails, the belief stays: a poor choice is better than none.
  if (standing_in != sequence.id) {
    try {
      standpoint->begin(sequence.broad, sequence.outputs);
    } catch (const NumericalError&) {
      standpoint->begin(sequence.broad, Vector::Constant(sequence.outputs.size(), kNaN));
    }
    standing_in = sequence.id;
    followed = 0;
  }
  for (const StepRecord& step : steps) {
    if (step.sequence == sequence.id && step.id > followed && step.status == StepStatus::kTold) {
      try {
        standpoint->follow(step.applied, step.outputs);
      } catch (const NumericalError&) {
      }
      followed = step.id;
    }
  }
}

SequenceRecord Study::State::next_sequence(SequenceOrigin origin, const Vector& outputs, std::string reason) const {
  const auto E = static_cast<Index>(config.model.outputs.size());
  return {.id = static_cast<Index>(sequences.size()) + 1,
          .origin = origin,
          .broad = origin == SequenceOrigin::kBroken || origin == SequenceOrigin::kImported,
          .outputs = outputs.size() > 0 ? outputs : Vector(Vector::Constant(E, kNaN)),
          .reason = std::move(reason),
          .begun_at = utc_now(),
          .ended = false};
}

SequenceRecord Study::State::sequence_for_next_step() const {
  if (const SequenceRecord* open = current()) {
    return *open;
  }
  return sequences.empty() ? next_sequence(SequenceOrigin::kFirst, {}, "the study begins")
                           : next_sequence(SequenceOrigin::kBroken, {}, "the sequence before it ended");
}

Vector Study::State::previous_control(const SequenceRecord& sequence) const {
  for (auto step = steps.rbegin(); step != steps.rend() && step->sequence == sequence.id; ++step) {
    if (step->status == StepStatus::kTold) {
      return step->applied;
    }
  }
  return config.safe;
}

/// What is left of the newest plan, if its sequence goes on from the step that it was made in.
Study::State::Plan Study::State::plan_left(const SequenceRecord& sequence) const {
  if (steps.empty() || steps.back().sequence != sequence.id || steps.back().status != StepStatus::kTold ||
      steps.back().plan.empty()) {
    return {};
  }
  Plan plan;
  const Vector numbers = parse_numbers(steps.back().plan);
  const Index P = config.box.low.size();
  const Index rows = numbers.size() / P;
  plan.controls = numbers.reshaped(P, rows).transpose().bottomRows(std::max<Index>(rows - 1, 0));
  // Steps that only followed a plan have no evaluations.
  Index done = 1;
  for (auto step = steps.rbegin(); step != steps.rend() && step->evaluations == 0; ++step) {
    ++done;
  }
  plan.committed = plan.controls.rows() > 0 ? std::max<Index>(config.planning.commit - done, 0) : 0;
  return plan;
}

StepRecord Study::State::choose(const SequenceRecord& sequence) {
  StepRecord step;
  step.id = static_cast<Index>(steps.size()) + 1;
  step.sequence = sequence.id;
  step.asked_at = utc_now();
  const Box reach = reachable(config.box, config.slew, previous_control(sequence));
  catch_up(sequence);
  const bool chosen = told() >= config.initial;
  if (standpoint && (chosen || config.limits.any())) {
    const bool has_rows =
        !steps.empty() && steps.back().sequence == sequence.id && std::ranges::any_of(steps, [&](const StepRecord& s) {
          return s.sequence == sequence.id && s.status == StepStatus::kTold;
        });
    try {
      const std::vector<ssm::Range> region = parse_region(config.region);
      const Plan plan = chosen ? plan_left(sequence) : Plan{};
      if (plan.committed > 0) {
        step.asked = plan.controls.row(0).transpose().cwiseMax(reach.low).cwiseMin(reach.high);
        step.plan = format_numbers(plan.controls.transpose().reshaped());
        step.phase = StepPhase::kChosen;
        step.reason = "by the plan of an earlier step";
        return step;
      }
      std::optional<ssm::Dataset> history;
      if (has_rows) {
        history = data(step.id);
      }
      const acquisition::Choice choice =
          standpoint->choose(chosen ? *strategy : *acquisition::make_strategy("random"),
                             {.box = reach,
                              .history = history ? &*history : nullptr,
                              .planning = config.planning,
                              .whole_box = &config.box,
                              .slew = &config.slew,
                              .previous_plan = plan.controls.rows() > 0 ? &plan.controls : nullptr,
                              .region = &region,
                              .seed = config.seed,
                              .step = static_cast<std::uint32_t>(step.id)});
      step.asked = choice.control;
      step.criterion = choice.value;
      step.evaluations = choice.evaluations;
      step.violation = choice.violation;
      step.safe = choice.safe;
      step.reference_sd = choice.reference_sd;
      if (choice.plan.rows() > 0) {
        step.plan = format_numbers(choice.plan.transpose().reshaped());
      }
      step.phase = chosen ? StepPhase::kChosen : StepPhase::kRandom;
      step.training = newest_model() != nullptr ? newest_model()->id : 0;
      return step;
    } catch (const NumericalError& error) {
      step.reason = fmt::format("drawn, since the criterion failed: {}", error.what());
    } catch (const InputError& error) {  // a criterion that looks at the sequence so far, which is empty
      step.reason = fmt::format("drawn, since the criterion could not be used: {}", error.what());
    }
  }
  step.phase = StepPhase::kRandom;
  step.asked = draw_control(reach, config.seed, step.id);
  return step;
}

/// Puts the end of a step on the disk, then into memory.
void Study::State::close(StepRecord step, bool ends_sequence) {
  step.closed_at = utc_now();
  store.transaction([&] {
    store.close(step);
    if (ends_sequence) {
      store.end_sequence(step.sequence);
    }
  });
  if (ends_sequence) {
    sequences[static_cast<std::size_t>(step.sequence - 1)].ended = true;
  }
  steps[static_cast<std::size_t>(step.id - 1)] = std::move(step);
}

}  // namespace gpilot::study
