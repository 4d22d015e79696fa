#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/io/numbers_text.hpp"
#include "gpilot/study/stamp.hpp"
#include "gpilot/study/study_checks.hpp"
#include "gpilot/study/study_state.hpp"

/// Corrections of what was told, and repairs of what was damaged. A study in memory is loaded anew after each, so that
/// it goes on as one that is opened again.
namespace gpilot::study {

namespace {

/// A step that cannot be trusted, with what fits at least; its sequence and what was asked are taken as they stand
/// there.
StepRecord sound(StepRecord step, const StudyConfig& config) {
  const auto P = static_cast<Index>(config.model.inputs.size());
  const auto E = static_cast<Index>(config.model.outputs.size());
  if (step.choice.control.size() != P || !step.choice.control.allFinite()) {
    step.choice.control = config.explore.safe;
  }
  step.choice.plan.resize(0, 0);
  if (step.status == StepStatus::kTold) {
    if (step.applied.size() != P || !step.applied.allFinite()) {
      step.applied = step.choice.control;
    }
    if (step.outputs.size() != E || step.outputs.array().isInf().any()) {
      step.outputs = Vector::Constant(E, kNaN);
    }
  }
  return step;
}

CorrectionRecord correction_of(const StepRecord& step, bool voids, const std::string& why) {
  return {.step = step.id,
          .voids = voids,
          .why = why,
          .voided = step.voided,
          .applied = step.applied,
          .outputs = step.outputs,
          .rig_time = step.rig_time};
}

void require_outputs(const StepRecord& step) {
  if (step.status == StepStatus::kAsked) {
    throw InputError(fmt::format("step {}: it waits for its outputs, there is nothing to correct", step.id));
  }
  if (step.status != StepStatus::kTold) {
    throw InputError(
        fmt::format("step {}: its status is '{}', so that nothing is learned from it; expected a step that was told",
                    step.id, name(step.status)));
  }
}

}  // namespace

void Study::State::take_damage(const std::vector<DamagedRow>& rows) {
  damage.clear();
  tolerated.clear();
  warnings.clear();
  for (const DamagedRow& row : rows) {
    if (row.table == "trainings") {
      tolerated.push_back(row);
      warnings.push_back(fmt::format("{}: damaged: training {}: its model is not used any more", path, row.id));
    } else if (row.table == "late_tells") {
      warnings.push_back(
          fmt::format("{}: damaged: a late answer to step {}, which nothing is learned from", path, row.id));
    } else if (row.table == "corrections") {
      throw StoreError(fmt::format("{}: damaged: correction {} is not what was stored", path, row.id));
    } else {
      damage.push_back(row);
    }
  }
  if (!damage.empty() && access != Access::kRepair) {
    throw StoreError(damage_words());
  }
}

std::string Study::State::damage_words() const {
  std::vector<std::string> rows;
  for (const DamagedRow& row : damage) {
    rows.push_back(fmt::format("{} {}", row.table == "steps" ? "step" : "the first row of sequence", row.id));
  }
  const bool first = damage.front().table != "steps";
  const std::string option = fmt::format("--{} {}", first ? "sequence" : "step", damage.front().id);
  return fmt::format(
      "{0}: damaged: {1}: the file does not hold what was measured (wrong checksum); 'gpilot void {0} {2} "
      "--why damaged' goes on without{3}",
      path, fmt::join(rows, ", "), option,
      first ? "" : fmt::format(", 'gpilot tell {} {} --correct --y .. --u ..' with the right values", path, option));
}

bool Study::State::is_damaged(std::string_view table, Index id) const {
  const auto is_it = [&](const DamagedRow& row) { return row.table == table && row.id == id; };
  return std::ranges::any_of(damage, is_it) || std::ranges::any_of(tolerated, is_it);
}

void Study::State::correct(CorrectionRecord correction, const std::function<void()>& change) {
  correction.id = static_cast<Index>(corrections.size()) + 1;
  correction.trainings = static_cast<Index>(trainings.size());
  correction.made_at = utc_now();
  store.transaction([&] {
    change();
    store.add(correction);
  });
  try {
    load();
  } catch (const std::exception& error) {
    unusable = error.what();
    throw;
  }
}

bool Study::void_step(Index id, const std::string& why) {
  State& s = *state_;
  s.require_repairable();
  const StepRecord before = asked_step(s.steps, id, s.path);
  const bool damaged = s.is_damaged("steps", id);
  if (!damaged) {
    require_outputs(before);
    if (before.voided) {
      return false;
    }
  }
  StepRecord now = damaged ? sound(before, s.config) : before;
  now.voided = now.status == StepStatus::kTold;
  s.correct(correction_of(before, true, why), [&] { s.store.replace(now); });
  return true;
}

bool Study::correct(Index id, VectorRef outputs, const std::optional<Vector>& applied, const std::string& why) {
  State& s = *state_;
  s.require_repairable();
  const StepRecord before = asked_step(s.steps, id, s.path);
  const bool damaged = s.is_damaged("steps", id);
  check_values(fmt::format("outputs of step {}", id), outputs, s.config.model.outputs, true);
  if (applied) {
    check_values(fmt::format("control applied in step {}", id), *applied, s.config.model.inputs, false);
  }
  require_outputs(before);
  StepRecord now = damaged ? sound(before, s.config) : before;
  now.outputs = outputs;
  now.applied = applied ? *applied : now.applied;
  now.voided = false;
  if (!damaged && !before.voided && same(before.outputs, now.outputs) && same(before.applied, now.applied)) {
    return false;
  }
  s.correct(correction_of(before, false, why), [&] { s.store.replace(now); });
  return true;
}

bool Study::void_start(Index id, const std::string& why) {
  State& s = *state_;
  s.require_repairable();
  if (id < 1 || id > static_cast<Index>(s.sequences.size())) {
    throw InputError(fmt::format("{}: there is no sequence {}; it has {}", s.path, id, s.sequences.size()));
  }
  const SequenceRecord before = s.sequences[static_cast<std::size_t>(id - 1)];
  const bool damaged = s.is_damaged("sequences", id);
  if (!damaged && before.outputs.array().isNaN().all()) {
    return false;
  }
  SequenceRecord now = before;
  now.outputs = Vector::Constant(static_cast<Index>(s.config.model.outputs.size()), kNaN);
  if (damaged) {
    now.broad = true;  // nobody knows how it began, nor whether it goes on
    now.ended = now.ended || s.pending() == nullptr;
  }
  s.correct({.sequence = id, .voids = true, .why = why, .outputs = before.outputs}, [&] { s.store.replace(now); });
  return true;
}

}  // namespace gpilot::study
