#include "gpilot/study/rig_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "gpilot/error.hpp"
#include "rig_driver.hpp"

namespace gpilot::study {

using systems::RigAnswer;
using systems::RigError;
using systems::RigStatus;
using Kind = RigRunEvent::Kind;

systems::RigOptions rig_options(const RigSettings& settings, const std::string& study_path) {
  systems::RigOptions options;
  options.command = settings.command;
  options.start_s = settings.start_s;
  options.deadline_s = settings.deadline_s;
  options.reset_s = settings.reset_s;
  options.close_s = settings.close_s;
  options.log = study_path + ".rig.log";
  return options;
}

RigDriver::RigDriver(Study& study, const RigRunOptions& options) : study_(study), options_(options) {}

RigDriver::~RigDriver() {
  if (rig_) {
    rig_->close(study_.config().safe);
  }
}

void RigDriver::emit(const RigRunEvent& event) {
  if (options_.on_event) {
    const std::lock_guard<std::mutex> one_at_a_time(emitting_);
    options_.on_event(event);
  }
}

void RigDriver::count_failure(const std::string& why) {
  if (++failures_ >= options_.failures) {
    throw RigRunFailed(
        fmt::format("the rig failed {} time(s) in a row, the limit is {}; the last time: {}; {} holds all "
                    "that was measured",
                    failures_, options_.failures, why, study_.path()));
  }
}

void RigDriver::begin_sequence(const std::string& why) {
  Vector outputs;
  if (rig_->traits().can_reset) {
    const RigAnswer answer = rig_->reset();
    if (answer.status != RigStatus::kOk) {
      throw RigError(RigError::Kind::kRefused, fmt::format("the rig could not be reset: {}", answer.message));
    }
    outputs = answer.outputs.value_or(Vector());
  }
  const SequenceOrigin origin = rig_->traits().can_reset ? SequenceOrigin::kReset : SequenceOrigin::kBroken;
  study_.new_sequence(origin, outputs, why);
  recovering_ = false;
  emit({.kind = Kind::kSequence, .text = why});
}

/// Starts the process and makes the study agree with the state that the rig may be in.
void RigDriver::start() {
  rig_.emplace(options_.rig, systems::RigHello{.dt = study_.config().model.dt,
                                               .inputs = study_.config().model.inputs,
                                               .outputs = study_.config().model.outputs});
  emit({.kind = Kind::kRig, .text = started_before_ ? "the rig was started again" : "the rig has started"});
  summary_.restarts += started_before_ ? 1 : 0;
  started_before_ = true;
  if (rig_->traits().idempotent) {
    if (study_.current_sequence() == nullptr) {
      recovering_ = true;
    }
    return;  // a step that waits is sent again
  }
  if (const StepRecord* waiting = study_.pending()) {
    const Index id = waiting->id;
    study_.fail(id, StepStatus::kUnknown, "the run before ended without an answer");
    ++summary_.failed;
    emit({.kind = Kind::kFailed, .text = "", .step = &study_.steps()[static_cast<std::size_t>(id - 1)]});
  }
  recovering_ = true;
}

bool RigDriver::ready() {
  try {
    const bool was_running = rig_.has_value();
    if (!was_running) {
      start();
    }
    if (recovering_) {
      begin_sequence(was_running ? "a step failed" : "the rig was started");
    }
    return true;
  } catch (const RigError& error) {
    give_up(0, error.what());
    return false;
  }
}

void RigDriver::train() {
  if (const std::optional<TrainingJob> job = study_.due_training()) {
    adopt(study::train(*job));
  }
}

void RigDriver::adopt(TrainingResult result) {
  study_.adopt(std::move(result));
  emit({.kind = Kind::kTrained, .text = "", .training = &study_.trainings().back()});
}

void RigDriver::acknowledge(Index id) {
  failures_ = 0;
  ++summary_.told;
  emit({.kind = Kind::kTold, .text = "", .step = &study_.steps()[static_cast<std::size_t>(id - 1)]});
}

bool RigDriver::take(Index id, const RigAnswer& answer) {
  if (answer.status == RigStatus::kOk) {
    study_.tell(id, *answer.outputs, answer.applied, answer.time);
    acknowledge(id);
    return true;
  }
  const StepStatus status = answer.status == RigStatus::kUnsafe ? StepStatus::kUnsafe : StepStatus::kFailed;
  study_.fail(id, status, answer.message);
  ++summary_.failed;
  emit({.kind = Kind::kFailed, .text = answer.message, .step = &study_.steps()[static_cast<std::size_t>(id - 1)]});
  recovering_ = true;
  try {
    rig_->safe(study_.config().safe);
  } catch (const RigError& error) {
    give_up(0, error.what());
    return false;
  }
  count_failure(answer.message);
  return false;
}

void RigDriver::give_up(Index id, const std::string& why) {
  const bool idempotent = rig_ && rig_->traits().idempotent;
  if (rig_) {
    rig_->close(study_.config().safe);
    rig_.reset();
  }
  if (id > 0 && !idempotent) {
    study_.fail(id, StepStatus::kUnknown, why);
    ++summary_.failed;
  }
  emit({.kind = Kind::kFailed,
        .text = why,
        .step = id > 0 ? &study_.steps()[static_cast<std::size_t>(id - 1)] : nullptr});
  count_failure(why);
}

RigRunSummary run_rig(Study& study, const RigRunOptions& options) {
  if (options.steps < 0 || options.failures < 1) {
    throw InputError(
        fmt::format("a run of {} step(s) that ends after {} failure(s) in a row: expected at least 0 and 1",
                    options.steps, options.failures));
  }
  if (options.period_s && !(*options.period_s > 0.0 && std::isfinite(*options.period_s))) {
    throw InputError(fmt::format("period: {} s, expected a positive time", *options.period_s));
  }
  RigDriver driver(study, options);
  while (driver.remaining() > 0 && !driver.stopped()) {
    if (!driver.ready()) {
      continue;
    }
    if (options.period_s) {
      run_periods(driver, *options.period_s);
      continue;
    }
    driver.train();
    const Step step = study.ask();
    try {
      driver.take(step.id, driver.rig().step(step.id, step.control));
    } catch (const RigError& error) {
      driver.give_up(step.id, error.what());
    }
  }
  driver.summary().stopped = driver.stopped() && driver.remaining() > 0;
  if (!driver.summary().stopped) {
    driver.train();  // the last outputs count, too
  }
  return driver.summary();
}

}  // namespace gpilot::study
