#include "gpilot/study/rig_run.hpp"

#include <fmt/format.h>

#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/study/rig_driver.hpp"

namespace gpilot::study {

using rig::RigAnswer;
using rig::RigError;
using rig::RigStatus;
using Kind = RigRunEvent::Kind;

rig::RigOptions rig_options(const RigSettings& settings, const std::string& study_path) {
  rig::RigOptions options;
  options.command = settings.command;
  options.start_s = settings.start_s;
  options.deadline_s = settings.deadline_s;
  options.reset_s = settings.reset_s;
  options.close_s = settings.close_s;
  options.log = study_path + ".rig.log";
  return options;
}

std::unique_ptr<rig::Rig> start_rig(const rig::RigOptions& options, const StudyConfig& config) {
  const rig::RigHello hello{.dt = config.model.dt, .inputs = config.model.inputs, .outputs = config.model.outputs};
  auto started = std::make_unique<rig::Rig>(options, hello);
  if (const std::string wrong = rig::misfit(started->traits(), hello, config.box); !wrong.empty()) {
    started->close(config.explore.safe);
    throw InputError(fmt::format("{}: change the configuration, or the rig", wrong));
  }
  return started;
}

Vector reset_rig(rig::Rig& rig, Index seed) {
  const RigAnswer answer = rig.reset(seed);
  if (answer.done) {
    throw RigError(RigError::Kind::kGarbage, "the rig says that its episode is over in its answer to a reset");
  }
  if (answer.status != RigStatus::kOk) {
    throw RigError(RigError::Kind::kRefused, fmt::format("the rig could not be reset: {}", answer.message));
  }
  return answer.outputs.value_or(Vector());
}

std::unique_ptr<rig::Rig> first_start(const RigRunOptions& options, const StudyConfig& config) {
  for (Index failures = 1; options.stop == nullptr || !*options.stop; ++failures) {
    try {
      return start_rig(options.rig, config);
    } catch (const RigError& error) {
      if (options.on_event) {
        options.on_event({.kind = Kind::kFailed, .text = error.what()});
      }
      if (failures >= options.failures) {
        throw RigRunFailed(fmt::format(
            "the rig could not be started, {} time(s) in a row, the limit is {}; the last time: {}; no study was made",
            failures, options.failures, error.what()));
      }
    }
  }
  return nullptr;
}

RigDriver::RigDriver(Study& study, const RigRunOptions& options, std::unique_ptr<rig::Rig> started)
    : study_(study), options_(options), rig_(std::move(started)) {}

RigDriver::~RigDriver() {
  if (rig_) {
    rig_->close(study_.config().explore.safe);
  }
}

void RigDriver::close() {
  if (!rig_) {
    return;
  }
  const bool goes_on = repeats();
  if (!rig_->close(study_.config().explore.safe)) {
    emit({.kind = Kind::kFailed, .text = "it has not confirmed that the safe control is applied: look at it"});
  }
  rig_.reset();
  if (!goes_on) {
    study_.end_sequence();
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

/// RigError if the rig does not confirm it.
void RigDriver::apply_safe() {
  const RigAnswer answer = rig_->safe(study_.config().explore.safe);
  if (answer.status != RigStatus::kOk) {
    throw RigError(RigError::Kind::kRefused, fmt::format("the rig refused the safe control: {}", answer.message));
  }
}

void RigDriver::make_safe() {
  if (!rig_) {
    return;
  }
  try {
    apply_safe();
  } catch (const RigError& error) {
    give_up(0, error.what());
  }
}

void RigDriver::break_off(const std::string& why) {
  recovering_ = why;
  emit({.kind = Kind::kFailed, .text = why});
}

void RigDriver::end_episode() {
  ++summary_.episodes;
  recovering_ = "the rig says that its episode is over";
  if (!rig_->traits().can_reset) {
    summary_.over = "the rig says that its episode is over, and it cannot be reset";
  }
}

/// After a reset if the rig can, else after the safe control, from which slew limits count. RigError if that fails.
void RigDriver::begin_sequence(const std::string& why) {
  Vector outputs;
  if (rig_->traits().can_reset) {
    const auto sequence = static_cast<Index>(study_.sequences().size()) + 1;
    outputs = reset_rig(*rig_, rig::reset_seed(study_.config().explore.seed, sequence));
  } else {
    apply_safe();
  }
  const SequenceOrigin origin = rig_->traits().can_reset ? SequenceOrigin::kReset : SequenceOrigin::kBroken;
  study_.new_sequence(origin, outputs, why);
  recovering_.clear();
  emit({.kind = Kind::kSequence, .text = why});
}

/// Makes the study agree with the state that a rig whose process is new may be in.
void RigDriver::meet() {
  met_ = true;
  emit({.kind = Kind::kRig, .text = started_before_ ? "the rig was started again" : "the rig has started"});
  summary_.restarts += started_before_ ? 1 : 0;
  started_before_ = true;
  if (repeats() && study_.current_sequence() != nullptr) {
    return;  // it goes on; a step that waits is sent again
  }
  if (const StepRecord* waiting = study_.pending()) {
    const Index id = waiting->id;
    study_.fail(id, StepStatus::kUnknown, "the run before ended without an answer");
    ++summary_.failed;
    emit({.kind = Kind::kFailed, .text = "", .step = &study_.steps()[static_cast<std::size_t>(id - 1)]});
  }
  recovering_ = "the rig was started";
}

bool RigDriver::ready() {
  try {
    if (!rig_) {
      rig_ = start_rig(options_.rig, study_.config());
      met_ = false;
    }
    if (!met_) {
      meet();
    }
    if (!recovering_.empty()) {
      begin_sequence(std::string(recovering_));
    }
    return true;
  } catch (const RigError& error) {
    give_up(0, error.what());
    return false;
  }
}

void RigDriver::train() {
  if (std::optional<explore::TrainingJob> job = study_.due_training()) {
    job->options.stop = options_.stop;
    adopt(explore::train(*job));
  }
}

void RigDriver::adopt(const explore::TrainingResult& result) {
  if (stopped()) {
    return;  // it may have been cut short; the run that goes on trains as if nobody had stopped this one
  }
  study_.adopt(result);
  summary_.failed_trainings += result.model ? 0 : 1;
  emit({.kind = Kind::kTrained, .text = "", .training = &study_.trainings().back()});
}

void RigDriver::acknowledge(Index id) {
  failures_ = 0;
  ++summary_.told;
  const StepRecord& step = study_.steps()[static_cast<std::size_t>(id - 1)];
  summary_.implausible += implausible_words(study_.config(), step.outputs).empty() ? 0 : 1;
  if (step.choice.fallback) {
    ++summary_.random;
    summary_.random_because = step.choice.note;
  }
  summary_.outside += study_.config().explore.limits.violated_by(step.outputs) ? 1 : 0;
  summary_.no_plan += step.choice.safe ? 0 : 1;
  emit({.kind = Kind::kTold, .text = "", .step = &step});
}

void RigDriver::take(Index id, const RigAnswer& answer) {
  if (answer.status == RigStatus::kOk) {
    study_.transaction([&] {  // one write: a run that dies here does not go on with an episode that is over
      study_.tell(id, *answer.outputs, answer.applied, answer.time);
      if (answer.done) {
        study_.end_sequence();
      }
    });
    acknowledge(id);
    if (answer.done) {
      end_episode();
    }
    return;
  }
  const StepStatus status = answer.status == RigStatus::kUnsafe ? StepStatus::kUnsafe : StepStatus::kFailed;
  study_.fail(id, status, answer.message);
  if (answer.outputs) {
    study_.tell(id, *answer.outputs, answer.applied, answer.time);  // kept as a late one
  }
  ++summary_.failed;
  emit({.kind = Kind::kFailed, .text = answer.message, .step = &study_.steps()[static_cast<std::size_t>(id - 1)]});
  recovering_ = "a step failed";
  try {
    apply_safe();
  } catch (const RigError& error) {
    give_up(0, error.what());
    return;
  }
  count_failure(answer.message);
}

void RigDriver::give_up(Index id, const std::string& why) {
  const bool again = repeats();
  if (rig_) {
    rig_->close(study_.config().explore.safe);
    rig_.reset();
  }
  if (id > 0 && !again) {
    study_.fail(id, StepStatus::kUnknown, why);
    ++summary_.failed;
  }
  emit({.kind = Kind::kFailed,
        .text = why,
        .step = id > 0 ? &study_.steps()[static_cast<std::size_t>(id - 1)] : nullptr});
  count_failure(why);
}

void RigRunOptions::validate() const {
  constexpr double kLongestPeriod = 86'400.0;
  if (steps < 0 || failures < 1) {
    throw InputError(fmt::format(
        "a run of {} step(s) that ends after {} failure(s) in a row: expected at least 0 and 1", steps, failures));
  }
  if (period_s && !(*period_s > 0.0 && *period_s <= kLongestPeriod)) {
    throw InputError(fmt::format("period: {} s, expected a time of at most {} s", *period_s, kLongestPeriod));
  }
  rig.validate();
}

RigRunSummary run_rig(Study& study, const RigRunOptions& options, std::unique_ptr<rig::Rig> started) {
  options.validate();
  RigDriver driver(study, options, std::move(started));
  while (driver.remaining() > 0 && !driver.stopped()) {
    if (!driver.ready()) {
      continue;
    }
    if (options.period_s) {
      run_periods(driver, *options.period_s);
      continue;
    }
    driver.train();
    if (driver.stopped()) {
      break;
    }
    const Step step = study.ask();
    if (!study.sure_enough().empty()) {
      study.withdraw(step.id, "never sent: the model is sure enough");
      break;
    }
    try {
      driver.take(step.id, driver.rig().step(step.id, step.choice.control));
    } catch (const RigError& error) {
      driver.give_up(step.id, error.what());
    }
  }
  driver.close();  // the last training must not keep the rig under its last control
  driver.summary().stopped = driver.stopped() && driver.remaining() > 0;
  driver.summary().sure_enough = study.sure_enough();
  if (!driver.summary().stopped) {
    driver.train();  // the last outputs count, too
  }
  return driver.summary();
}

}  // namespace gpilot::study
