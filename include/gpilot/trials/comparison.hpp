#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/explore/options.hpp"
#include "gpilot/plan/limits.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/comparison_summary.hpp"
#include "gpilot/trials/trial_record.hpp"

/// Strategies compared by paired trials on simulated systems or on a rig, kept in a directory:
///
///   comparison.json   what is compared
///   tests.csv         of a rig: what its models are tested by, all rows
///   trials/           a file per finished trial, so that an interrupted comparison goes on where it stopped
///   results.csv       system,strategy,trial,step,metric,value: all that does not depend on the clock
///   timings.csv       system,strategy,trial,step,part,seconds
///   summary.json      the statistics of comparison_summary.hpp
///
/// The last three are written when all trials are done. Their numbers, seconds apart, are the same bits for any number
/// of threads and interruptions.
namespace gpilot::trials {

/// A range of controls other than a system's own.
struct SystemBox {
  std::string system;
  Box box;
};

/// A simulator of one's own that speaks the rig protocol: a process for every trial.
struct ComparedRig {
  static constexpr Index kMostTrials = 100'000;
  static constexpr std::uint64_t kLargestSeed = 20'000;  ///< so that every {seed} is below 2^31

  study::StudyConfig config;  ///< what is declared; how it is explored is ComparisonOptions::explore
  std::string command;        ///< {seed} in it is seed * kMostTrials + trial, the same for all strategies
  std::string tests;          ///< directory of CSV files to test models by; or
  std::string test_rig;       ///< the command of a rig to measure them, with {seed}, which no trial has
};

struct ComparisonOptions {
  std::vector<std::string> systems;
  std::vector<std::string> strategies{"random", "randext", "prbs", "multisine", "latmi", "totmi", "auto"};
  Index trials = 50;
  /// How every trial explores. Its strategy, trial and limits are set for each of them.
  explore::ExploreOptions explore{};
  bool paper = false;   ///< the paper's kernels, initial values and training
  bool angles = false;  ///< declares the systems' angles to the models, and wraps errors of angles
  /// What else models are told, of cyclic, odd, control-affine, physics, physics-without-friction, physics-known
  /// (docs/knowledge.md).
  std::vector<std::string> knowledge{};
  /// Tests reach up to three times as far as the region that a model is told as its ranges, as in the first results;
  /// otherwise they stay within it.
  bool wide_tests = false;
  std::vector<SystemBox> boxes;
  /// Systems of one's own, to be named in `systems`. The directory knows them by their names alone.
  std::vector<std::shared_ptr<const systems::System>> own_systems{};
  bool observe_states = false;  ///< systems::System::observe_states(); models are judged by the same outputs
  /// Where outputs must stay, for every system that has one of that name (see plan::make_limits).
  std::vector<plan::NamedLimit> limits{};
  double delta = 0.05;  ///< probability with which a plan may leave them
  /// Instead of simulated systems; `systems` is its name alone. The options above but strategies, trials and explore,
  /// whose limits hold, are for simulated systems.
  std::optional<ComparedRig> rig{};

  /// Throws InputError naming the field; for an unknown system or strategy with the nearest known name.
  void validate() const;
};

/// A system of the comparison with its box, its states observed or not.
std::unique_ptr<systems::System> compared_system(const ComparisonOptions& options, const std::string& name);
/// The limits that this system has in the comparison.
plan::OutputLimits compared_limits(const ComparisonOptions& options, const systems::System& system);

/// Every trial of every strategy on every system, in the order of results.csv: by system, strategy, trial.
std::vector<ComparisonJob> comparison_jobs(const ComparisonOptions& options);

struct ComparisonProgress {
  Index done = 0;         ///< trials, those found in the directory included
  Index found = 0;        ///< trials that were in the directory already
  Index total = 0;        ///< trials
  double fraction = 0.0;  ///< of the work that was left at the start
};

/// Runs one trial, with record_failure() if it fails; nothing if it was stopped because `go_on`, asked after every
/// step, said no.
using RunJob = std::function<std::optional<TrialRecord>(const ComparisonJob&, const std::function<bool()>& go_on)>;

/// Runs trials of simulated systems as run_comparison() does, for whoever spreads them over machines: the same bits. A
/// trial whose training hears of options.explore.fit.stop is given up, too.
RunJob trial_runner(const ComparisonOptions& options);

struct ComparisonExecution {
  int threads = 0;                                               ///< 0 = one per core
  std::function<void(const ComparisonProgress&)> on_progress{};  ///< after every step of a trial, never twice at once
  std::function<void(const std::string&)>
      on_damaged{};                         ///< for every file of a trial that is damaged: which, and where
  const std::atomic<bool>* stop = nullptr;  ///< once true, running trials are given up
  RunJob run_job{};                         ///< instead of run_trial()
};

struct FailedTrial {
  ComparisonJob job;
  std::string message;
};

struct ComparisonOutcome {
  Index done = 0;   ///< trials in the directory now
  Index found = 0;  ///< of these, in the directory before
  Index total = 0;
  std::vector<FailedTrial> failed;           ///< of those done, in the order of comparison_jobs()
  std::optional<ComparisonSummary> summary;  ///< once all are done
  std::string tests;                         ///< of a rig: how many rows of them count, in words
};

/// Runs the trials that the directory does not hold yet, one per thread, and stores each as soon as it is done. A file
/// that cannot be read, or is of another trial, is reported before any trial begins and its trial run again. A trial is
/// deterministic, so one that fails with a NumericalError is stored as failed and not run again; its metrics are not
/// finite from there on. One whose rig fails is stored as failed, too, and run again by the next call.
///
/// The directory is made if it is not there. It may hold the same comparison with fewer trials, strategies or systems,
/// which is then extended; results of the smaller one are removed. Throws InputError if it holds anything else, and
/// changes nothing. So it does for a rig that declares another dt, other names or a narrower range of controls than its
/// configuration has.
ComparisonOutcome run_comparison(const ComparisonOptions& options, const std::string& directory,
                                 const ComparisonExecution& execution = {});

/// The directory of a comparison whose trials are run elsewhere: by other processes, on other machines.
///
///   ComparisonDirectory directory(options, "comparison");
///   for (const ComparisonJob& job : directory.left()) {
///     directory.store(job, text);  // format_trial_record() of what trial_runner(options) gave there
///   }
///   directory.finish();
///
/// What is in the end in results.csv and summary.json, seconds apart, are the bytes that run_comparison() writes.
class ComparisonDirectory {
 public:
  /// Throws InputError as run_comparison() does.
  ComparisonDirectory(const ComparisonOptions& options, const std::string& directory);
  ~ComparisonDirectory();
  ComparisonDirectory(const ComparisonDirectory&) = delete;
  ComparisonDirectory& operator=(const ComparisonDirectory&) = delete;

  /// The trials that are not there yet, by their number first. `on_damaged` hears of files that cannot be read.
  std::vector<ComparisonJob> left(const std::function<void(const std::string&)>& on_damaged = {}) const;
  /// Keeps a record, on the disk when it returns. InputError for a text that is not, whole and sound, that of this job.
  void store(const ComparisonJob& job, std::string_view record);
  /// Writes results and statistics if all trials are there.
  ComparisonOutcome finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpilot::trials
