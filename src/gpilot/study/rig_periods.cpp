#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpilot/study/rig_driver.hpp"

/// Real time. A rig may answer at once, then the clock here sets the pace, or at the end of its own period, then the
/// next control follows as soon as it is decided. Three threads share the work: this one talks to the rig and never
/// waits for anything but the clock and the rig's answer; a second keeps answers and decides (the only one that touches
/// the study while it runs); a third trains on a copy of the data.
namespace gpilot::study {

namespace {

using Clock = std::chrono::steady_clock;

/// What the rig did in one period.
struct Period {
  Index step = 0;  ///< 0: the safe control
  rig::RigAnswer answer;
};

bool is_ready(const auto& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

class PeriodicRun {
 public:
  PeriodicRun(RigDriver& driver, double period_s)
      : driver_(driver),
        period_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period_s))),
        grace_(period_ / 4),
        safe_(driver.study().config().explore.safe),
        until_sd_(driver.study().config().explore.until_sd) {}

  /// Whatever ends it, everything that was measured is in the study and no step waits when it returns or throws.
  void run();

 private:
  void loop();
  void settle();
  bool decided_by(Clock::time_point deadline);
  void hand_over();
  void send(const Step& step);
  void send_safe();
  void fail(Index step, const std::string& why);
  void end_episode();

  // On the second thread.
  Step keep_and_choose(const std::vector<Period>& past, Index stale_step);
  std::vector<Index> keep(const std::vector<Period>& past);
  void adopt_finished_training();
  void start_training();

  RigDriver& driver_;
  Clock::duration period_;
  Clock::duration grace_;  ///< by which an answer may be late, and in which a decision is made after one that is
  Vector safe_;
  double until_sd_;
  Clock::time_point tick_;      ///< when the next control is due
  Clock::time_point answered_;  ///< when the newest answer came
  std::vector<Period> past_;    ///< measured, and not yet handed to the second thread
  std::vector<Period> handed_;  ///< handed over, and not known to be on the disk
  Index stale_ = 0;             ///< a step that was chosen and will not be sent
  bool broken_ = false;         ///< the rows that follow would not be one period after the last
  std::future<explore::TrainingResult> training_;
  std::future<Step> decision_;
  std::future<void> work_;  ///< of the second thread; last, so that it ends before what it uses
};

void PeriodicRun::adopt_finished_training() {
  if (training_.valid() && is_ready(training_)) {
    driver_.adopt(training_.get());
  }
}

void PeriodicRun::start_training() {
  if (training_.valid()) {
    return;
  }
  if (std::optional<explore::TrainingJob> job = driver_.study().due_training()) {
    job->options.stop = driver_.stop();
    training_ = std::async(std::launch::async, [job = std::move(*job)] { return explore::train(job); });
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
    const Vector missing = Vector::Constant(static_cast<Index>(study.config().model.outputs.size()), kNaN);
    study.add_safe_step(period.answer.applied.value_or(safe_), period.answer.outputs.value_or(missing),
                        "no decision was ready");
    steps.push_back(study.steps().back().id);
  }
  return steps;
}

/// Everything that was measured is kept, and the next control is chosen, in one write to the disk.
Step PeriodicRun::keep_and_choose(const std::vector<Period>& past, Index stale_step) {
  Study& study = driver_.study();
  std::vector<Index> kept;
  Step next;
  study.transaction([&] {
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

/// The second thread is free: it gets what was measured and decides. The decision is ready as soon as it is made; a new
/// model is put on the disk after that.
void PeriodicRun::hand_over() {
  if (work_.valid()) {
    work_.get();
  }
  auto decided = std::make_shared<std::promise<Step>>();
  decision_ = decided->get_future();
  handed_ = std::exchange(past_, {});
  work_ = std::async(std::launch::async, [this, decided, past = handed_, stale = stale_] {
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

/// Whether a decision is there. While the second thread is busy with other work, what was measured waits in past_.
bool PeriodicRun::decided_by(Clock::time_point deadline) {
  if (!decision_.valid()) {
    if (work_.valid() && work_.wait_until(deadline) != std::future_status::ready) {
      return false;
    }
    hand_over();
  }
  return decision_.wait_until(deadline) == std::future_status::ready;
}

/// Nobody but this thread touches the study when a failure is dealt with.
void PeriodicRun::fail(Index step, const std::string& why) {
  broken_ = true;
  if (work_.valid()) {
    work_.get();
  }
  driver_.give_up(step, why);
}

/// What was measured up to here is kept by settle(), before the next sequence begins.
void PeriodicRun::end_episode() {
  broken_ = true;
  driver_.end_episode();
}

void PeriodicRun::send(const Step& step) {
  const Clock::time_point sent = Clock::now();
  rig::RigAnswer answer;
  try {
    answer = driver_.rig().step(step.id, step.choice.control);
  } catch (const rig::RigError& error) {
    fail(step.id, error.what());
    return;
  }
  answered_ = Clock::now();
  if (answer.status != rig::RigStatus::kOk) {
    broken_ = true;
    if (work_.valid()) {
      work_.get();
    }
    driver_.take(step.id, answer);
    return;
  }
  const bool done = answer.done;
  past_.push_back({step.id, std::move(answer)});
  if (done) {
    end_episode();
  } else if (answered_ > sent + period_ + grace_) {
    ++driver_.summary().missed;
    broken_ = true;
    driver_.break_off("the rig answered after its period");
  }
}

/// No decision is ready, or it was chosen for a state that has passed.
void PeriodicRun::send_safe() {
  ++driver_.summary().missed;
  std::string why;
  try {
    rig::RigAnswer answer = driver_.rig().safe(safe_);
    answered_ = Clock::now();
    if (answer.status == rig::RigStatus::kOk) {
      const bool done = answer.done;
      past_.push_back({0, std::move(answer)});
      if (done) {
        end_episode();
      }
      return;
    }
    why = fmt::format("the rig refused the safe control: {}", answer.message);
  } catch (const rig::RigError& error) {
    why = error.what();
  }
  fail(0, why);
}

void PeriodicRun::loop() {
  hand_over();
  decision_.wait();  // the clock starts with a decision at hand
  tick_ = answered_ = Clock::now();
  for (Index left = driver_.remaining(); !broken_ && left > 0 && !driver_.stopped(); --left) {
    const bool decided = decided_by(std::max(tick_, answered_ + grace_));
    std::this_thread::sleep_until(tick_);
    const Clock::time_point now = Clock::now();
    tick_ = (now < tick_ + grace_ ? tick_ : now) + period_;  // small delays do not add up
    if (!decided) {
      send_safe();
      continue;
    }
    const Step step = decision_.get();
    handed_.clear();
    stale_ = 0;
    if (step.choice.reference_sd < until_sd_) {
      stale_ = step.id;  // sure enough: Study::sure_enough()
      return;
    }
    if (past_.empty()) {
      send(step);
    } else {  // the safe control was applied while it was made
      stale_ = step.id;
      send_safe();
    }
  }
}

/// Puts everything that was measured into the study; a control that was chosen and not sent is none.
void PeriodicRun::settle() {
  if (work_.valid()) {
    work_.get();
  }
  std::exception_ptr failure;
  if (decision_.valid()) {
    try {
      stale_ = decision_.get().id;
      handed_.clear();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (stale_ > 0) {
    driver_.study().withdraw(std::exchange(stale_, 0), "the run ended before it was sent");
  }
  past_.insert(past_.begin(), handed_.begin(), handed_.end());  // not on the disk: once more
  handed_.clear();
  for (const Index step : keep(std::exchange(past_, {}))) {
    driver_.acknowledge(step);
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

void PeriodicRun::run() {
  try {
    loop();
  } catch (...) {
    try {
      settle();
    } catch (const std::exception&) {  // the first error is the one to tell
    }
    throw;
  }
  settle();
  if (training_.valid()) {
    driver_.make_safe();  // before it is waited for
    driver_.adopt(training_.get());
  }
}

}  // namespace

void run_periods(RigDriver& driver, double period_s) {
  PeriodicRun(driver, period_s).run();
}

}  // namespace gpilot::study
