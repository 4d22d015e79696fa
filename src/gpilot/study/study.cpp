#include "gpilot/study/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/io/numbers_text.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/stamp.hpp"
#include "gpilot/study/study_checks.hpp"
#include "gpilot/study/study_state.hpp"

namespace gpilot::study {

namespace {

Step step_of(const StepRecord& record) {
  return {.id = record.id, .sequence = record.sequence, .choice = record.choice};
}

}  // namespace

Study::Study(std::unique_ptr<State> state) : state_(std::move(state)) {}
Study::~Study() = default;
Study::Study(Study&&) noexcept = default;

Study Study::create(const std::string& path, const std::string& config, const std::string& name,
                    const std::function<void()>& before) {
  const StudyConfig parsed = parse_config(config, name);
  const auto refuse_existing = [&path] {
    if (std::error_code ignored; std::filesystem::exists(path, ignored)) {
      throw InputError(fmt::format("{}: the file exists already", path));
    }
  };
  refuse_existing();
  auto lock = std::make_unique<WriterLock>(path);
  if (before) {
    io::check_writable(path);
    refuse_existing();  // whoever had the lock may have made it
    before();
  }
  Store::create(path, config, std::to_string(parsed.explore.seed));
  return Study(std::make_unique<State>(path, Access::kWrite, std::move(lock)));
}

Study Study::open(const std::string& path, Access access) {
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) {
    throw InputError(fmt::format("{}: there is no such study", path));
  }
  std::unique_ptr<WriterLock> lock;
  if (access != Access::kRead) {
    lock = std::make_unique<WriterLock>(path);
  }
  return Study(std::make_unique<State>(path, access, std::move(lock)));
}

Step Study::ask(bool train) {
  State& s = *state_;
  s.require_writable();
  if (const StepRecord* waiting = s.pending()) {
    return step_of(*waiting);
  }
  if (train) {
    update();
  }
  const SequenceRecord sequence = s.sequence_for_next_step();
  const bool begins = s.current() == nullptr;
  StepRecord step = s.next_step(sequence);
  s.store.transaction([&] {
    if (begins) {
      s.store.add(sequence);
    }
    s.store.add(step);
  });
  if (begins) {
    s.sequences.push_back(sequence);
  }
  s.steps.push_back(std::move(step));
  return step_of(s.steps.back());
}

Step Study::suggest(bool train) {
  if (const StepRecord* waiting = state_->pending()) {
    return step_of(*waiting);
  }
  if (train) {
    update();
  }
  return step_of(state_->next_step(state_->sequence_for_next_step()));
}

Told Study::tell(Index id, VectorRef outputs, const std::optional<Vector>& applied, std::optional<double> time) {
  State& s = *state_;
  s.require_writable();
  const StepRecord& before = asked_step(s.steps, id, s.path);
  check_values(fmt::format("outputs of step {}", id), outputs, s.config.model.outputs, true);
  if (applied) {
    check_values(fmt::format("control applied in step {}", id), *applied, s.config.model.inputs, false);
  }
  if (time && !std::isfinite(*time)) {
    throw InputError(fmt::format("time of step {}: {} is not a time", id, *time));
  }
  StepRecord told = before;
  told.status = StepStatus::kTold;
  told.outputs = outputs;
  told.applied = applied ? *applied : told.choice.control;
  told.rig_time = time;
  switch (before.status) {
    case StepStatus::kAsked:
      s.close(std::move(told), false);
      return Told::kAccepted;
    case StepStatus::kTold:
      if (same(before.outputs, told.outputs) && same(before.applied, told.applied) &&
          (!time || before.rig_time == time)) {
        return Told::kRepeated;
      }
      throw InputError(
          fmt::format("step {}: told already at {} with outputs {} under control {}; a step is told once, "
                      "other values are a correction",
                      id, before.closed_at, io::format_numbers(before.outputs), io::format_numbers(before.applied)));
    default:
      told.closed_at = utc_now();
      s.store.add_late(told);
      return Told::kLate;
  }
}

void Study::fail(Index id, StepStatus status, const std::string& reason) {
  State& s = *state_;
  s.require_writable();
  if (status == StepStatus::kAsked || status == StepStatus::kTold) {
    throw InputError(fmt::format("step {}: '{}' is no failure", id, name(status)));
  }
  StepRecord step = asked_step(s.steps, id, s.path);
  if (step.status == status) {
    return;
  }
  if (step.status != StepStatus::kAsked) {
    throw InputError(fmt::format("step {}: its status is '{}' since {}, it cannot become '{}'", id, name(step.status),
                                 step.closed_at, name(status)));
  }
  step.status = status;
  step.reason = reason;
  s.close(std::move(step), true);
}

void Study::withdraw(Index id, const std::string& reason) {
  State& s = *state_;
  s.require_writable();
  StepRecord step = asked_step(s.steps, id, s.path);
  if (step.status != StepStatus::kAsked) {
    throw InputError(
        fmt::format("step {}: its status is '{}', only a step that waits can be withdrawn", id, name(step.status)));
  }
  step.status = StepStatus::kFailed;
  step.reason = reason;
  s.close(std::move(step), false);
}

void Study::new_sequence(SequenceOrigin origin, const Vector& outputs, const std::string& reason) {
  State& s = *state_;
  s.require_writable();
  s.require_none_pending();
  if (origin == SequenceOrigin::kImported) {
    throw InputError("new sequence: an imported one comes with its rows");
  }
  if (outputs.size() > 0) {
    check_values("outputs of the first row", outputs, s.config.model.outputs, true);
  }
  const SequenceRecord sequence = s.next_sequence(origin, outputs, reason);
  const bool ends = s.current() != nullptr;
  s.store.transaction([&] {
    if (ends) {
      s.store.end_sequence(s.sequences.back().id);
    }
    s.store.add(sequence);
  });
  if (ends) {
    s.end_current();
  }
  s.begin(sequence);
}

void Study::end_sequence() {
  State& s = *state_;
  s.require_writable();
  s.require_none_pending();
  if (s.current() != nullptr) {
    s.store.end_sequence(s.sequences.back().id);
    s.end_current();
  }
}

void Study::add_safe_step(VectorRef applied, VectorRef outputs, const std::string& reason) {
  State& s = *state_;
  s.require_writable();
  s.require_none_pending();
  check_values("safe control", applied, s.config.model.inputs, false);
  check_values("outputs under the safe control", outputs, s.config.model.outputs, true);
  const SequenceRecord* sequence = s.current();
  if (sequence == nullptr) {
    throw InputError(fmt::format("{}: no sequence is open", s.path));
  }
  const Index id = static_cast<Index>(s.steps.size()) + 1;
  StepRecord step{.id = id,
                  .sequence = sequence->id,
                  .choice = {.control = applied, .phase = plan::Phase::kSafe, .step = id, .note = reason},
                  .status = StepStatus::kTold,
                  .applied = applied,
                  .outputs = outputs,
                  .asked_at = utc_now(),
                  .closed_at = utc_now()};
  s.store.add(step);
  s.tell_explorer(s.explorer, step);
  s.steps.push_back(std::move(step));
}

Index Study::import(const ssm::Sequence& recording) {
  State& s = *state_;
  s.require_writable();
  s.require_none_pending();
  SequenceRecord sequence =
      s.next_sequence(SequenceOrigin::kImported, recording.outputs.row(0).transpose(), "measurements made before");
  sequence.broad = recording.broad_start;
  sequence.ended = true;
  std::vector<StepRecord> rows;
  for (Index t = 0; t + 1 < recording.rows(); ++t) {
    const Vector control = recording.controls.row(t).transpose();
    const Vector outputs = recording.outputs.row(t + 1).transpose();
    check_values(fmt::format("row {}", t), control, s.config.model.inputs, false);
    check_values(fmt::format("row {}", t + 1), outputs, s.config.model.outputs, true);
    const Index id = static_cast<Index>(s.steps.size()) + t + 1;
    rows.push_back({.id = id,
                    .sequence = sequence.id,
                    .choice = {.control = control, .phase = plan::Phase::kImported, .step = id},
                    .status = StepStatus::kTold,
                    .applied = control,
                    .outputs = outputs,
                    .asked_at = sequence.begun_at,
                    .closed_at = sequence.begun_at});
  }
  const bool ends = s.current() != nullptr;
  s.store.transaction([&] {
    if (ends) {
      s.store.end_sequence(s.sequences.back().id);
    }
    s.store.add(sequence);
    std::ranges::for_each(rows, [&](const StepRecord& row) { s.store.add(row); });
  });
  if (ends) {
    s.end_current();
  }
  s.begin(sequence);
  for (StepRecord& row : rows) {
    s.tell_explorer(s.explorer, row);
    s.steps.push_back(std::move(row));
  }
  s.explorer.end_sequence();
  return recording.rows() - 1;
}

void Study::transaction(const std::function<void()>& work) {
  State& s = *state_;
  s.require_writable();
  try {
    s.store.transaction(work);
  } catch (...) {
    try {
      s.load();  // what is in memory may be ahead of the file
    } catch (const std::exception& error) {
      s.unusable = error.what();
    }
    throw;
  }
}

void Study::reconfigure(const std::string& config, const std::string& name) {
  State& s = *state_;
  s.require_writable();
  const StudyConfig wanted = parse_config(config, name);
  const std::vector<std::string> changed = differences(wanted, s.config);
  if (!changed.empty()) {
    throw InputError(
        fmt::format("{}: differs from the configuration that {} was made with: {}; a study keeps its own, so "
                    "use another study or the old values",
                    name, s.path, fmt::join(changed, "; ")));
  }
  if (config != s.header.config) {
    s.store.set_config(config);
    s.header.config = config;
    s.config = wanted;
    s.load();
  }
}

std::optional<explore::TrainingJob> Study::due_training() const {
  std::optional<explore::TrainingJob> job = state_->explorer.due_training();
  if (job) {
    job->corrections = static_cast<Index>(state_->corrections.size());
  }
  return job;
}

void Study::adopt(const explore::TrainingResult& result) {
  State& s = *state_;
  if (const CorrectionRecord* missed = s.missed_correction(result)) {
    throw InputError(fmt::format(
        "{}: the training after step {} began before correction {} ({}) and learned from what was {}; "
        "expected one that began after it: train due_training() again",
        s.path, result.summary.after_step, missed->id, missed->why, missed->voids ? "voided" : "corrected"));
  }
  const TrainingRecord record{.id = static_cast<Index>(s.trainings.size()) + 1,
                              .summary = result.summary,
                              .version = version(),
                              .has_model = result.model != nullptr,
                              .finished_at = utc_now()};
  if (s.lock) {
    const std::string text = result.model ? io::format_model(*result.model) : "";
    s.store.add(record, result.model ? &text : nullptr, s.config.keep_models);
  }
  s.trainings.push_back(record);
  s.explorer.adopt(result);
}

void Study::update() {
  if (const std::optional<explore::TrainingJob> job = due_training()) {
    const explore::TrainingResult result = explore::train(*job);
    if (state_->stop != nullptr && *state_->stop) {
      throw Cancelled("the training was stopped");
    }
    adopt(result);
  }
}

void Study::set_stop(const std::atomic<bool>* stop) {
  state_->stop = stop;
  state_->explorer.set_stop(stop);
}

bool is_study(const std::string& path) {
  return io::is_database(path);
}

const std::string& Study::path() const {
  return state_->path;
}
const StudyConfig& Study::config() const {
  return state_->config;
}
const std::string& Study::config_text() const {
  return state_->header.config;
}
const std::string& Study::created_at() const {
  return state_->header.created_at;
}
const std::shared_ptr<const ssm::Model>& Study::model() const {
  return state_->explorer.model();
}
const ssm::Dataset& Study::data() const {
  return state_->explorer.data();
}
const std::vector<StepRecord>& Study::steps() const {
  return state_->steps;
}
const std::vector<SequenceRecord>& Study::sequences() const {
  return state_->sequences;
}
const std::vector<TrainingRecord>& Study::trainings() const {
  return state_->trainings;
}
const std::vector<CorrectionRecord>& Study::corrections() const {
  return state_->corrections;
}
const std::vector<std::string>& Study::warnings() const {
  return state_->warnings;
}
std::vector<SessionRecord> Study::sessions() const {
  return state_->store.sessions();
}
Index Study::late_tells() const {
  return state_->store.late_tells();
}
const StepRecord* Study::pending() const {
  return state_->pending();
}
const SequenceRecord* Study::current_sequence() const {
  return state_->current();
}
Index Study::told() const {
  return state_->told();
}
std::string Study::sure_enough() const {
  return state_->sure_enough();
}
const std::string& Study::taken_over_from() const {
  static const std::string kNobody;
  return state_->lock ? state_->lock->left_by() : kNobody;
}

}  // namespace gpilot::study
