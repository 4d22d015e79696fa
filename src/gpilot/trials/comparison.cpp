#include "gpilot/trials/comparison.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/comparison_store.hpp"
#include "gpilot/trials/evaluation.hpp"
#include "gpilot/trials/rig_trial.hpp"
#include "gpilot/trials/trial.hpp"

namespace gpilot::trials {

namespace {

Evaluation evaluation_of(const systems::System& system, const ComparisonOptions& options) {
  return Evaluation(system, options.angles, options.wide_tests ? TestRange::kWide : TestRange::kRegion);
}

/// A system as configured, and the test that its models take.
struct TestBench {
  std::unique_ptr<systems::System> system;
  plan::OutputLimits limits;
  Evaluation evaluation;

  TestBench(std::unique_ptr<systems::System> configured, plan::OutputLimits output_limits,
            const ComparisonOptions& options)
      : system(std::move(configured)), limits(std::move(output_limits)), evaluation(evaluation_of(*system, options)) {}
};

}  // namespace

RunJob trial_runner(const ComparisonOptions& options) {
  if (options.rig) {
    throw InputError("rig: trials of a rig are run where it is, by run_comparison(); expected simulated systems");
  }
  const auto benches = std::make_shared<std::map<std::string, TestBench>>();
  for (const std::string& name : options.systems) {
    std::unique_ptr<systems::System> system = compared_system(options, name);
    plan::OutputLimits limits = compared_limits(options, *system);
    benches->emplace(std::piecewise_construct, std::forward_as_tuple(name),
                     std::forward_as_tuple(std::move(system), std::move(limits), options));
  }
  const TrialOptions common{
      .explore = options.explore, .paper = options.paper, .angles = options.angles, .knowledge = options.knowledge};
  return [benches, common](const ComparisonJob& job, const std::function<bool()>& go_on) -> std::optional<TrialRecord> {
    TrialOptions trial = common;
    trial.explore.strategy = job.strategy;
    trial.explore.trial = job.trial;
    const TestBench& bench = benches->at(job.system);
    trial.explore.limits = bench.limits;
    TrialRecord record{.metrics = trial_metrics(bench.evaluation, trial), .steps = {}};
    try {
      run_trial(*bench.system, bench.evaluation, trial, [&](const TrialStep& step) {
        record.steps.push_back(record_of(step));
        return go_on();
      });
    } catch (const NumericalError& error) {
      record_failure(record, common.explore.steps, error.what());
    } catch (const Cancelled&) {
      return std::nullopt;
    }
    if (std::ssize(record.steps) <= common.explore.steps) {
      return std::nullopt;
    }
    return record;
  };
}

namespace {

/// The trials of a comparison, those done and those to do.
class Jobs {
 public:
  Jobs(const ComparisonOptions& options, const ComparisonStore& store, const ComparisonExecution& execution)
      : options_(options),
        store_(store),
        execution_(execution),
        jobs_(comparison_jobs(options)),
        records_(jobs_.size()) {
    outcome_.total = std::ssize(jobs_);
    load();
  }

  bool any_left() const { return !left_.empty(); }

  void run(const RunJob& run_job) {
    const int threads = execution_.threads > 0 ? execution_.threads : oneapi::tbb::info::default_concurrency();
    // Without it more threads than cores would be refused.
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<std::size_t>(threads));
    oneapi::tbb::task_arena(threads).execute([&] {
      // Every worker takes the next job when it is free: parallel_for over the jobs would give each thread a distant
      // part of them, and an interrupted comparison had trials of some strategies only.
      oneapi::tbb::parallel_for(
          0, threads, [&](int /*worker*/) { work(run_job); }, oneapi::tbb::simple_partitioner{});
    });
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

  /// `held_errors` is asked once all trials are done.
  ComparisonOutcome finish(const std::function<HeldErrors()>& held_errors) {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (std::optional<std::string> message = records_[j] ? failure_of(*records_[j]) : std::nullopt) {
        outcome_.failed.push_back({jobs_[j], std::move(*message)});
      }
    }
    if (outcome_.done == outcome_.total) {
      std::vector<TrialRecord> records;
      for (std::optional<TrialRecord>& record : records_) {
        records.push_back(std::move(*record));
      }
      outcome_.summary = summarize(options_, records, held_errors());
      store_.write_results(jobs_, records, *outcome_.summary);
    }
    return std::move(outcome_);
  }

 private:
  /// Takes the records that are there. What is left to do is ordered by trial first, so that all strategies advance
  /// together.
  void load() {
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      if (store_.has(jobs_[j])) {
        std::string why;
        records_[j] = store_.load(jobs_[j], why);
        if (!records_[j] && execution_.on_damaged) {
          execution_.on_damaged(why);
        }
        if (records_[j] && is_rig_failure(failure_of(*records_[j]).value_or(""))) {
          records_[j].reset();  // the rig may have been mended
        }
      }
      if (records_[j]) {
        ++outcome_.found;
      } else {
        left_.push_back(j);
      }
    }
    outcome_.done = outcome_.found;
    std::ranges::stable_sort(left_, {}, [&](std::size_t j) { return jobs_[j].trial; });
  }

  bool stopped() const { return given_up_ || (execution_.stop != nullptr && *execution_.stop); }

  void work(const RunJob& run_job) {
    for (std::size_t k = next_++; k < left_.size() && !stopped(); k = next_++) {
      // A trial that waits for threads of its own must not take up another trial meanwhile.
      oneapi::tbb::this_task_arena::isolate([&] { run_one(run_job, left_[k]); });
    }
  }

  void run_one(const RunJob& run_job, std::size_t j) {
    try {
      std::optional<TrialRecord> record = run_job(jobs_[j], [this] {
        report();
        return !stopped();
      });
      if (!record) {
        return;
      }
      store_.store(jobs_[j], *record);
      records_[j] = std::move(record);
      const std::scoped_lock lock(mutex_);
      ++outcome_.done;
    } catch (...) {  // a full disk, for one, will not let the others pass either
      const std::scoped_lock lock(mutex_);
      if (!failure_) {
        failure_ = std::current_exception();
      }
      given_up_ = true;
    }
    report();
  }

  /// After every step of a trial, and when it is stored.
  void report() {
    const std::scoped_lock lock(mutex_);
    ++reports_;
    if (execution_.on_progress) {
      const auto expected = static_cast<double>(std::ssize(left_) * (options_.explore.steps + 2));
      execution_.on_progress({.done = outcome_.done,
                              .found = outcome_.found,
                              .total = outcome_.total,
                              .fraction = static_cast<double>(reports_) / expected});
    }
  }

  const ComparisonOptions& options_;
  const ComparisonStore& store_;
  const ComparisonExecution& execution_;
  std::vector<ComparisonJob> jobs_;
  std::vector<std::optional<TrialRecord>> records_;  ///< of jobs_
  std::vector<std::size_t> left_;                    ///< of jobs_, in the order of work
  std::atomic<std::size_t> next_{0};                 ///< of left_
  std::atomic<bool> given_up_{false};
  std::mutex mutex_;  ///< guards what follows, and calls of on_progress
  ComparisonOutcome outcome_;
  Index reports_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

namespace {

HeldErrors held_errors_of_systems(const ComparisonOptions& options) {
  HeldErrors held;
  for (const std::string& name : options.systems) {
    if (const auto system = compared_system(options, name); !system->is_map()) {
      held[name] = evaluation_of(*system, options).held_rmse();
    }
  }
  return held;
}

}  // namespace

ComparisonOutcome run_comparison(const ComparisonOptions& options, const std::string& directory,
                                 const ComparisonExecution& execution) {
  options.validate();
  std::optional<RigBench> bench;
  if (options.rig) {
    bench.emplace(options, directory);
    if (!ComparisonStore::is_there(directory)) {
      bench->check_rigs();
    }
  }
  const ComparisonStore store(options, directory);
  Jobs jobs(options, store, execution);
  if (bench) {
    bench->prepare(execution.stop);
  }
  if (jobs.any_left()) {
    jobs.run(execution.run_job ? execution.run_job : bench ? bench->runner() : trial_runner(options));
  }
  ComparisonOutcome outcome = jobs.finish([&] {
    if (!bench) {
      return held_errors_of_systems(options);
    }
    const std::optional<double> held = bench->held_rmse();
    return held ? HeldErrors{{options.systems.front(), *held}} : HeldErrors{};
  });
  outcome.tests = bench ? bench->describe() : "";
  return outcome;
}

struct ComparisonDirectory::State {
  ComparisonOptions options;
  std::string path;
  ComparisonStore store;
};

ComparisonDirectory::ComparisonDirectory(const ComparisonOptions& options, const std::string& directory) {
  options.validate();
  if (options.rig) {
    throw InputError("rig: trials of a rig are run where it is, by run_comparison(); expected simulated systems");
  }
  state_ = std::make_unique<State>(State{options, directory, ComparisonStore(options, directory)});
}

ComparisonDirectory::~ComparisonDirectory() = default;

std::vector<ComparisonJob> ComparisonDirectory::left(const std::function<void(const std::string&)>& on_damaged) const {
  std::vector<ComparisonJob> jobs;
  for (const ComparisonJob& job : comparison_jobs(state_->options)) {
    std::string why;
    if (state_->store.has(job) && state_->store.load(job, why)) {
      continue;
    }
    if (!why.empty() && on_damaged) {
      on_damaged(why);
    }
    jobs.push_back(job);
  }
  // All strategies advance together, so that one that is interrupted has trials of each.
  std::ranges::stable_sort(jobs, {}, &ComparisonJob::trial);
  return jobs;
}

void ComparisonDirectory::store(const ComparisonJob& job, std::string_view record) {
  state_->store.store(job, parse_trial_record(record, "record", job, state_->options.explore.steps));
}

ComparisonOutcome ComparisonDirectory::finish() const {
  const std::atomic<bool> nothing_more{true};
  return run_comparison(state_->options, state_->path, {.stop = &nothing_more});
}

}  // namespace gpilot::trials
