#include "gpilot/trials/rig_trial.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "gpilot/core/error.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/writable.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/rig/rig.hpp"
#include "gpilot/study/rig_run.hpp"
#include "gpilot/trials/trial.hpp"

namespace gpilot::trials {

namespace {

namespace fs = std::filesystem;
using rig::RigAnswer;
using rig::RigError;
using rig::RigStatus;

constexpr std::string_view kRigFailure = "the rig: ";
constexpr const char* kTests = "tests.csv";
constexpr const char* kLogs = "rig-logs";

/// Nobody needs that of a rig that did as it should.
void remove_log(const rig::RigOptions& options) {
  std::error_code ignored;
  fs::remove(options.log, ignored);
}

/// A rig's process. A step that it could not do begins a new sequence, as in a study; too many in a row end the trial.
/// `seed` is that of the trial: with it and their number the seeds of resets are given, so that all strategies of a
/// trial meet the same initial states.
class ProcessRig final : public TrialRig {
 public:
  ProcessRig(const study::StudyConfig& config, const plan::OutputLimits& limits, const rig::RigOptions& options,
             std::uint64_t seed)
      : config_(config),
        limits_(limits),
        safe_(config.explore.safe.size() > 0 ? config.explore.safe : Vector::Zero(config.box.low.size())),
        seed_(seed),
        rig_(study::start_rig(options, config)) {}
  ~ProcessRig() override { rig_->close(safe_); }
  ProcessRig(const ProcessRig&) = delete;
  ProcessRig& operator=(const ProcessRig&) = delete;
  ProcessRig(ProcessRig&&) = delete;
  ProcessRig& operator=(ProcessRig&&) = delete;

  void begin(explore::Explorer& explorer) override {
    if (!rig_->traits().can_reset) {
      make_safe();
      explorer.begin_sequence(true);
      return;
    }
    explorer.begin_sequence(false, study::reset_rig(*rig_, rig::reset_seed(seed_, ++resets_)));
  }

  std::optional<Measured> apply(VectorRef control) override {
    const RigAnswer answer = rig_->step(++step_, control);
    if (answer.status != RigStatus::kOk) {
      if (++failures_ >= config_.rig.failures) {
        throw RigError(RigError::Kind::kRefused,
                       fmt::format("it failed {} time(s) in a row, the limit is {}; the last time: {}", failures_,
                                   config_.rig.failures, answer.message));
      }
      make_safe();
      return std::nullopt;
    }
    failures_ = 0;
    return Measured{.applied = answer.applied.value_or(control),
                    .outputs = *answer.outputs,
                    .violated = limits_.any() && limits_.violated_by(*answer.outputs),
                    .done = answer.done};
  }

 private:
  void make_safe() {
    if (const RigAnswer answer = rig_->safe(safe_); answer.status != RigStatus::kOk) {
      throw RigError(RigError::Kind::kRefused, fmt::format("it refused the safe control: {}", answer.message));
    }
  }

  const study::StudyConfig& config_;
  const plan::OutputLimits& limits_;
  Vector safe_;
  std::uint64_t seed_;
  std::unique_ptr<rig::Rig> rig_;
  Index resets_ = 0;
  Index step_ = 0;
  Index failures_ = 0;
};

}  // namespace

std::uint64_t rig_seed(std::uint64_t seed, std::uint32_t trial) {
  return seed * ComparedRig::kMostTrials + trial;
}

bool is_rig_failure(std::string_view message) {
  return message.starts_with(kRigFailure);
}

RigBench::RigBench(const ComparisonOptions& options, std::string directory)
    : options_(options), directory_(std::move(directory)) {
  const ComparedRig& rig = *options_.rig;
  if (!rig.tests.empty()) {
    sequences_ = read_test_directory(rig.tests, rig.config.model);
    tests_ = cut_tests(sequences_, rig.config.model);
    evaluation_ = std::make_shared<const Evaluation>(tests_.tests);
  }
}

rig::RigOptions RigBench::rig_options(const std::string& command, const std::string& log) const {
  rig::RigOptions options = study::rig_options(options_.rig->config.rig, "");
  options.command = command;
  const fs::path logs = fs::path(directory_) / kLogs;
  io::make_directory(logs.string());
  options.log = (logs / log).string();
  return options;
}

void RigBench::check_rigs() const {
  const ComparedRig& rig = *options_.rig;
  const auto check = [&rig](const std::string& command, std::uint64_t seed) {
    rig::RigOptions options = study::rig_options(rig.config.rig, "");
    options.command = with_seed(command, seed);
    options.log.clear();  // there is no directory for it yet
    study::start_rig(options, rig.config)->close(rig.config.explore.safe);
  };
  check(rig.command, rig_seed(options_.explore.seed, 0));
  if (!rig.test_rig.empty() && rig.test_rig != rig.command) {
    check(rig.test_rig, kFirstTestSeed);
  }
}

void RigBench::prepare(const std::atomic<bool>* stop) {
  const ComparedRig& rig = *options_.rig;
  const ssm::ModelSpec& spec = rig.config.model;
  const std::string path = (fs::path(directory_) / kTests).string();
  const bool kept = fs::exists(path);
  if (evaluation_) {
    const std::string text = format_tests(sequences_, spec);
    if (kept && io::read_text(path, "the tests of a comparison") != text) {
      throw InputError(
          fmt::format("{}: its files have changed since the comparison began, see {}; expected the same, "
                      "or another directory to write",
                      rig.tests, path));
    }
    if (!kept) {
      io::write_file_atomically(path, text);
    }
    return;
  }
  if (!kept) {
    const rig::RigOptions options = rig_options(rig.test_rig, "tests.log");
    const ssm::Dataset measured = measure_tests(rig.config, options, stop);
    remove_log(options);
    if (stop != nullptr && *stop) {
      return;
    }
    io::write_file_atomically(path, format_tests(measured, spec));
  }
  sequences_ = read_tests(path, spec);
  tests_ = cut_tests(sequences_, spec);
  evaluation_ = std::make_shared<const Evaluation>(tests_.tests);
}

std::string RigBench::describe() const {
  if (!evaluation_) {
    return "";
  }
  return fmt::format("{} tests, {} of {} rows inside the declared ranges", tests_.tests.sequences.size(), tests_.kept,
                     tests_.measured);
}

std::optional<double> RigBench::held_rmse() const {
  return evaluation_ ? std::optional(evaluation_->held_rmse()) : std::nullopt;
}

RunJob RigBench::runner() const {
  return [this](const ComparisonJob& job, const std::function<bool()>& go_on) -> std::optional<TrialRecord> {
    const ComparedRig& rig = *options_.rig;
    TrialOptions trial{.explore = options_.explore};
    trial.explore.strategy = job.strategy;
    trial.explore.trial = job.trial;
    TrialRecord record{.metrics = trial_metrics(*evaluation_, trial), .steps = {}};
    const std::uint64_t seed = rig_seed(trial.explore.seed, job.trial);
    const rig::RigOptions options =
        rig_options(with_seed(rig.command, seed), fmt::format("{}-{}-{:03}.log", job.system, job.strategy, job.trial));
    try {
      ProcessRig process(rig.config, trial.explore.limits, options, seed);
      explore::Explorer explorer(rig.config.model, rig.config.box, trial.explore);
      Trial result;
      run_trial(
          std::move(explorer), process, *evaluation_,
          [&](const TrialStep& step) {
            record.steps.push_back(record_of(step));
            return go_on();
          },
          result);
    } catch (const NumericalError& error) {
      record_failure(record, trial.explore.steps, error.what());
    } catch (const RigError& error) {
      record_failure(record, trial.explore.steps, fmt::format("{}{}", kRigFailure, error.what()));
      return record;
    }
    remove_log(options);
    if (std::ssize(record.steps) <= trial.explore.steps) {
      return std::nullopt;
    }
    return record;
  };
}

}  // namespace gpilot::trials
