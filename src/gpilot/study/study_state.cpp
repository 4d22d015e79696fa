#include "gpilot/study/study_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/record.hpp"
#include "gpilot/study/stamp.hpp"

namespace gpilot::study {

namespace {}  // namespace

Study::State::State(const std::string& file, Access wanted, std::unique_ptr<WriterLock> writer_lock)
    : lock(std::move(writer_lock)),
      path(file),
      store(file, wanted),
      header(store.header()),
      config(parse_config(header.config, file)),
      access(wanted),
      explorer(config.model, config.box, config.explore) {
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
    take_damage(store.damage());
    sequences = store.sequences();
    steps = store.steps();
    trainings = store.trainings();
    corrections = store.corrections();
    if (const TrainingRecord* newest = newest_model()) {
      model = store.model(newest->id);
    }
  });
  for (const CorrectionRecord& correction : corrections) {
    if (correction.step > 0 && correction.step <= static_cast<Index>(steps.size())) {
      steps[static_cast<std::size_t>(correction.step - 1)].void_reason = correction.voids ? correction.why : "";
    }
  }
  if (damage.empty()) {
    check();
    replay(model);
  }
}

void Study::State::replay(const std::optional<std::string>& model) {
  explorer = explore::Explorer(config.model, config.box, config.explore);
  explorer.set_stop(stop);
  retell(explorer, std::numeric_limits<Index>::max(), {});
  if (model) {
    take_model(*model);
  }
  if (const TrainingRecord* newest = newest_training(); newest != nullptr && !newest->has_model) {
    explorer.adopt({.summary = newest->summary, .model = nullptr});
  }
  if (!model && !trainings.empty() && is_stale(trainings.back())) {
    explorer.lose_model();
  }
}

void Study::State::retell(explore::Explorer& to, Index last, const std::function<void(Index step)>& after) const {
  std::size_t next = 0;
  for (const SequenceRecord& sequence : sequences) {
    to.begin_sequence(sequence.broad, sequence.outputs);
    for (; next < steps.size() && steps[next].sequence == sequence.id; ++next) {
      if (steps[next].id > last) {
        return;
      }
      if (steps[next].status == StepStatus::kTold) {
        tell_explorer(to, steps[next]);
        if (after) {
          after(steps[next].id);
        }
      }
    }
    if (sequence.ended) {
      to.end_sequence();
    }
  }
}

/// What is learned from a step.
void Study::State::tell_explorer(explore::Explorer& to, const StepRecord& step) const {
  plan::Choice choice = step.choice;
  if (step.training > 0 && is_stale(trainings[static_cast<std::size_t>(step.training - 1)])) {
    choice.plan.resize(0, 0);  // a plan is not followed further than the model that made it is trusted
  }
  const Vector missing = Vector::Constant(step.outputs.size(), kNaN);
  to.tell(std::move(choice), step.applied, step.voided ? missing : step.outputs);
}

/// Measurements come first: a model that this version cannot read costs a training, not the study.
void Study::State::take_model(const std::string& text) {
  const TrainingRecord& newest = *newest_model();
  try {
    const std::string name = fmt::format("{}, model of training {}", path, newest.id);
    explorer.adopt(
        {.summary = newest.summary, .model = std::make_shared<const ssm::Model>(io::parse_model(text, name))});
  } catch (const InputError&) {
    explorer.lose_model();
  }
}

const TrainingRecord* Study::State::newest_model() const {
  const auto newest = std::find_if(trainings.rbegin(), trainings.rend(),
                                   [this](const TrainingRecord& t) { return t.has_model && !is_stale(t); });
  return newest == trainings.rend() ? nullptr : &*newest;
}

const TrainingRecord* Study::State::newest_training() const {
  const auto newest =
      std::find_if(trainings.rbegin(), trainings.rend(), [this](const TrainingRecord& t) { return !is_stale(t); });
  return newest == trainings.rend() ? nullptr : &*newest;
}

/// Whether a training up to a step learned from what was corrected.
bool Study::State::concerns(const CorrectionRecord& c, Index after_step) const {
  if (c.step > 0) {
    return c.step <= after_step;
  }
  const auto first = std::ranges::find(steps, c.sequence, &StepRecord::sequence);
  return first != steps.end() && first->id <= after_step;
}

const CorrectionRecord* Study::State::missed_correction(const explore::TrainingResult& result) const {
  const auto missed = std::ranges::find_if(corrections, [&](const CorrectionRecord& c) {
    return c.id > result.corrections && concerns(c, result.summary.after_step);
  });
  return missed == corrections.end() ? nullptr : &*missed;
}

bool Study::State::is_stale(const TrainingRecord& training) const {
  const auto knew = [&](const CorrectionRecord& c) {
    return training.id <= c.trainings && concerns(c, training.summary.after_step);
  };
  return is_damaged("trainings", training.id) || std::ranges::any_of(corrections, knew);
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
    require(s.choice.control.size() == P && s.choice.control.allFinite(), "step", s.id, "wrong control");
    require(!told || (s.applied.size() == P && s.applied.allFinite()), "step", s.id, "wrong applied control");
    require(!told || (s.outputs.size() == E && !s.outputs.array().isInf().any()), "step", s.id, "wrong outputs");
    require(s.training >= 0 && s.training <= static_cast<Index>(trainings.size()), "step", s.id,
            "its training is not there");
    require(s.status != StepStatus::kAsked || k + 1 == steps.size(), "step", s.id, "it waits, and others followed");
    sequence = s.sequence;
  }
  for (std::size_t k = 0; k < trainings.size(); ++k) {
    require(trainings[k].id == static_cast<Index>(k) + 1, "training", trainings[k].id, "the numbers have a gap");
    require(trainings[k].summary.after_step <= static_cast<Index>(steps.size()), "training", trainings[k].id,
            "it knows steps that are not there");
  }
}

void Study::State::require_repairable() const {
  if (!lock) {
    throw InputError(fmt::format("{}: the study was opened to read", path));
  }
  if (!unusable.empty()) {
    throw StoreError(fmt::format("{}: the study must be opened again: {}", path, unusable));
  }
}

void Study::State::require_writable() const {
  require_repairable();
  if (!damage.empty()) {
    throw StoreError(damage_words());
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
  if (steps.empty() || !explorer.sure_enough(steps.back().choice)) {
    return "";
  }
  const auto chosen = std::ranges::count_if(steps, [](const StepRecord& step) {
    return step.choice.phase == plan::Phase::kChosen && step.status == StepStatus::kTold;
  });
  return explore::sure_enough_words(steps.back().choice.reference_sd, config.explore.until_sd, chosen);
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

StepRecord Study::State::next_step(const SequenceRecord& sequence) {
  StepRecord step{.id = static_cast<Index>(steps.size()) + 1, .sequence = sequence.id, .asked_at = utc_now()};
  if (current() == nullptr) {
    explorer.begin_sequence(sequence.broad, sequence.outputs);
  }
  step.choice = explorer.choose(step.id);
  const bool by_model = step.choice.phase == plan::Phase::kChosen || step.choice.evaluations > 0;
  step.training = by_model && newest_model() != nullptr ? newest_model()->id : 0;
  return step;
}

/// A sequence that is on the disk.
void Study::State::begin(const SequenceRecord& sequence) {
  explorer.begin_sequence(sequence.broad, sequence.outputs);
  sequences.push_back(sequence);
}

/// The current sequence, which has ended on the disk.
void Study::State::end_current() {
  sequences.back().ended = true;
  explorer.end_sequence();
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
  if (step.status == StepStatus::kTold) {
    tell_explorer(explorer, step);
  }
  if (ends_sequence) {
    end_current();
  }
  steps[static_cast<std::size_t>(step.id - 1)] = std::move(step);
}

}  // namespace gpilot::study
