#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rig_driver.hpp"

/// Real time. A rig may answer at once, then the clock here sets the pace, or at the end of its own period, then the
/// next control follows as soon as it is decided. Three threads share the work: this one talks to the rig and never
/// waits for anything but the clock and the rig's answer; a second keeps the answer and decides (the only one that
/// touches the study while it runs); a third trains on a copy of the data.
namespace gpilot::study {

namespace {

using Clock = std::chrono::steady_clock;

/// What the rig did in one period.
struct Period {
  Index step = 0;  ///< 0: the safe control
  systems::RigAnswer answer;
};

class PeriodicRun {
 public:
  PeriodicRun(RigDriver& driver, double period_s)
      : driver_(driver),
        period_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period_s))),
        grace_(period_ / 4),
        safe_(driver.study().config().safe) {}

  void run();

 private:
  void decide(std::vector<Period> past);
  void finish_work();
  std::vector<Index> keep(const std::vector<Period>& past);
  Step keep_and_choose(const std::vector<Period>& past, Index stale_step);
  void adopt_finished_training();
  void start_training();
  bool apply_decision();
  void apply_safe();

  RigDriver& driver_;
  Clock::duration period_;
  Clock::duration grace_;  ///< by which an answer may be late, and in which a decision is made after one that is
  Vector safe_;
  Clock::time_point tick_;      ///< when the next control is due
  Clock::time_point answered_;  ///< when the newest answer came
  std::future<Step> decision_;
  std::future<void> work_;      ///< of the second thread
  Index stale_ = 0;             ///< a step that was chosen too late to be sent
  std::vector<Period> missed_;  ///< under the safe control, not in the study yet
  std::future<TrainingResult> training_;
  bool broken_ = false;  ///< the rig has failed, or the time between two rows is not a period
};

bool is_ready(const auto& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void PeriodicRun::adopt_finished_training() {
  if (training_.valid() && is_ready(training_)) {
    driver_.adopt(training_.get());
  }
}

void PeriodicRun::start_training() {
  if (training_.valid()) {
    return;
  }
  if (std::optional<TrainingJob> job = driver_.study().due_training()) {
    training_ = std::async(std::launch::async, [job = std::move(*job)] { return train(job); });
  }
}

/// Stores what was measured; returns the numbers of its steps.
std::vector<Index> PeriodicRun::keep(const std::vector<Period>& past) {
  Study& study = driver_.study();
  std::vector<Index> steps;
  for (const Period& period : past) {
    if (period.step > 0) {
      study.tell(period.step, *period.answer.outputs, period.answer.applied, period.answer.time);
      steps.push_back(period.step);
      continue;
    }
    const Vector missing = Vector::Constant(static_cast<Index>(study.config().model.outputs.size()),
                                            std::numeric_limits<double>::quiet_NaN());
    study.add_safe_step(period.answer.applied.value_or(safe_), period.answer.outputs.value_or(missing),
                        "no decision was ready");
    steps.push_back(study.steps().back().id);
  }
  return steps;
}

/// On the second thread: everything that was measured is kept, and the next control is chosen, in one write to the
/// disk.
Step PeriodicRun::keep_and_choose(const std::vector<Period>& past, Index stale_step) {
  Study& study = driver_.study();
  std::vector<Index> kept;
  Step next;
  study.together([&] {
    if (stale_step > 0) {
      study.withdraw(stale_step, "chosen too late, never sent");
    }
    kept = keep(past);
    next = study.ask(false);
  });
  for (const Index step : kept) {
    driver_.acknowledge(step);
  }
  return next;
}

/// The decision is ready as soon as it is made; a new model is put on the disk after that.
void PeriodicRun::decide(std::vector<Period> past) {
  finish_work();
  auto decided = std::make_shared<std::promise<Step>>();
  decision_ = decided->get_future();
  work_ = std::async(std::launch::async, [this, decided, past = std::move(past), stale = std::exchange(stale_, 0)] {
    try {
      decided->set_value(keep_and_choose(past, stale));
    } catch (...) {
      decided->set_exception(std::current_exception());
      return;
    }
    adopt_finished_training();
    start_training();
  });
}

/// After this nobody else touches the study.
void PeriodicRun::finish_work() {
  if (work_.valid()) {
    work_.get();
  }
}

/// Sends the control that is ready. False if the sequence cannot go on.
bool PeriodicRun::apply_decision() {
  const Step step = decision_.get();
  if (!missed_.empty()) {  // it was chosen for a state that has passed
    stale_ = step.id;
    apply_safe();
    if (!broken_) {
      decide(std::exchange(missed_, {}));
    }
    return !broken_;
  }
  try {
    const Clock::time_point sent = Clock::now();
    const systems::RigAnswer answer = driver_.rig().step(step.id, step.control);
    answered_ = Clock::now();
    if (answer.status != systems::RigStatus::kOk) {
      finish_work();
      driver_.take(step.id, answer);
      return false;
    }
    if (answered_ > sent + period_ + grace_) {
      ++driver_.summary().missed;
      finish_work();
      driver_.take(step.id, answer);
      driver_.emit(
          {.kind = RigRunEvent::Kind::kFailed, .text = "the rig answered after its period: a new sequence begins"});
      driver_.begin_sequence("the rig answered after its period");
      return false;
    }
    decide({{step.id, answer}});
    return true;
  } catch (const systems::RigError& error) {
    finish_work();
    driver_.give_up(step.id, error.what());
    return false;
  }
}

void PeriodicRun::apply_safe() {
  ++driver_.summary().missed;
  std::string why;
  try {
    const systems::RigAnswer answer = driver_.rig().safe(safe_);
    if (answer.status == systems::RigStatus::kOk) {
      missed_.push_back({0, answer});
      return;
    }
    why = fmt::format("the rig refused the safe control: {}", answer.message);
  } catch (const systems::RigError& error) {
    why = error.what();
  }
  broken_ = true;
  finish_work();
  driver_.give_up(0, why);
}

void PeriodicRun::run() {
  Index left = driver_.remaining();
  decide({});
  decision_.wait();  // the clock starts with a decision at hand
  tick_ = answered_ = Clock::now();
  while (!broken_ && left > 0 && !driver_.stopped()) {
    const bool in_time = decision_.wait_until(std::max(tick_, answered_ + grace_)) == std::future_status::ready;
    std::this_thread::sleep_until(tick_);
    const Clock::time_point now = Clock::now();
    tick_ = (now < tick_ + grace_ ? tick_ : now) + period_;  // small delays do not add up
    if (in_time) {
      broken_ = !apply_decision();
    } else {
      apply_safe();
    }
    --left;
  }
  finish_work();
  if (decision_.valid()) {
    stale_ = decision_.get().id;
  }
  if (stale_ > 0) {
    driver_.study().withdraw(stale_, "the run ended before it was sent");
  }
  for (const Index step : keep(missed_)) {
    driver_.acknowledge(step);
  }
  if (training_.valid()) {
    driver_.adopt(training_.get());
  }
}

}  // namespace

void run_periods(RigDriver& driver, double period_s) {
  PeriodicRun(driver, period_s).run();
}

}  // namespace gpilot::study
