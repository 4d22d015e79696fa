#include "run_rig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "describe_model.hpp"
#include "describe_study.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/study/rig_run.hpp"
#include "gpilot/study/study.hpp"
#include "interrupt.hpp"
#include "study_options.hpp"

namespace gpilot::cli {
namespace {

namespace fs = std::filesystem;
using study::RigRunEvent;
using study::Study;

constexpr double kSamePeriod = 0.01;  ///< relative difference of period and dt that is not worth a word

/// FILE.toml -> FILE.study, in the same directory.
std::string study_path(const RunRigArguments& arguments) {
  return arguments.study.empty() ? fs::path(arguments.config).replace_extension(".study").string() : arguments.study;
}

/// The rig of a study that is not there yet. Its log goes with it if it holds nothing.
std::unique_ptr<rig::Rig> first_rig(const study::RigRunOptions& options, const study::StudyConfig& config) {
  std::error_code ignored;
  const bool had_log = fs::exists(options.rig.log, ignored);
  try {
    std::unique_ptr<rig::Rig> started = study::first_start(options, config);
    if (InterruptGuard::requested()) {
      if (started) {
        started->close(config.explore.safe);
      }
      throw Interrupted("interrupted before anything was measured; no study was made");
    }
    return started;
  } catch (...) {
    if (!had_log && fs::is_empty(options.rig.log, ignored)) {
      fs::remove(options.rig.log, ignored);
    }
    throw;
  }
}

Study open_study(const RunRigArguments& arguments, const std::string& path, const std::function<void()>& before) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !arguments.resume) {
    throw InputError(
        fmt::format("{}: the study is there already: --resume goes on with it, -o FILE begins another", path));
  }
  return open_or_create(path, arguments.config, before);
}

/// Lines for people, on the terminal or in a log: flushed, so that they are seen when they happen. Printing that fails
/// must not cost a measurement: nothing more is printed, and if nobody reads any more the run ends in good order.
class Printer {
 public:
  Printer(std::FILE* stream, const study::StudyConfig& config) : stream_(stream), config_(config) {}

  void print(const RigRunEvent& event) {
    switch (event.kind) {
      case RigRunEvent::Kind::kRig:
        write(fmt::format("{}\n{}  training\n", event.text, step_heading(config_)));
        break;
      case RigRunEvent::Kind::kSequence:
        write(fmt::format("a new sequence begins: {}\n", event.text));
        break;
      case RigRunEvent::Kind::kTrained:
        training_ = event.training->summary.status == ssm::FitStatus::kFailed
                        ? fmt::format("  failed: {}", event.training->summary.message)
                        : fmt::format("  {}, {}, {:.2f} s", event.training->summary.chosen,
                                      name(event.training->summary.status), event.training->summary.seconds);
        break;
      case RigRunEvent::Kind::kTold:
        write(fmt::format("{}{}\n", step_line(config_, *event.step), std::exchange(training_, "")));
        break;
      case RigRunEvent::Kind::kFailed:
        if (event.step != nullptr) {
          write(fmt::format("{}\n", step_line(config_, *event.step)));
        }
        if (!event.text.empty() && (event.step == nullptr || event.step->reason != event.text)) {
          write(fmt::format("the rig failed: {}\n", event.text));
        }
        break;
    }
  }

 private:
  void write(const std::string& text) {
    if (silent_) {
      return;
    }
    errno = 0;
    silent_ = std::fputs(text.c_str(), stream_) < 0 || std::fflush(stream_) != 0;
    if (silent_ && (errno == EPIPE || errno == EIO)) {  // EIO: the terminal is gone
      InterruptGuard::request();
    }
  }

  std::FILE* stream_;
  const study::StudyConfig& config_;
  std::string training_;  ///< what is to be said of the newest training
  bool silent_ = false;
};

void print_summary(const RunRigArguments& arguments, const Study& study, const study::RigRunSummary& summary) {
  const std::size_t trainings = study.trainings().size();
  if (arguments.format == Format::kJson) {
    nlohmann::ordered_json newest = nullptr;
    if (trainings > 0) {
      const explore::TrainingSummary& training = study.trainings().back().summary;
      newest = {{"status", name(training.status)}, {"message", training.message}, {"chosen", training.chosen}};
    }
    const nlohmann::ordered_json json = {{"study", study.path()},
                                         {"measurements", study.told()},
                                         {"measured", summary.told},
                                         {"failed", summary.failed},
                                         {"restarts", summary.restarts},
                                         {"missed_deadlines", summary.missed},
                                         {"trainings", trainings},
                                         {"newest_training", newest},
                                         {"stopped", summary.stopped},
                                         {"sure_enough", summary.sure_enough},
                                         {"implausible", summary.implausible},
                                         {"failed_trainings", summary.failed_trainings},
                                         {"random_after_failure", summary.random},
                                         {"random_because", summary.random_because},
                                         {"outside_limits", summary.outside},
                                         {"no_safe_plan", summary.no_plan},
                                         {"episodes", summary.episodes},
                                         {"over", summary.over}};
    fmt::print("{}\n", json.dump(2));
    return;
  }
  if (!summary.sure_enough.empty()) {
    fmt::print("{}\n", summary.sure_enough);
  }
  if (!summary.over.empty()) {
    fmt::print("the run ends: {}; --resume begins another sequence\n", summary.over);
  }
  fmt::print("measured {} time(s), {} in all; {} step(s) failed, the rig was started again {} time(s)\n", summary.told,
             study.told(), summary.failed, summary.restarts);
  if (study.config().explore.limits.any()) {
    fmt::print("outside the limits: {} of {} measurements; no plan that keeps them was found in {} step(s)\n",
               summary.outside, summary.told, summary.no_plan);
  }
  if (summary.episodes > 0) {
    fmt::print("the rig ended {} episode(s)\n", summary.episodes);
  }
  if (!std::isnan(arguments.period)) {
    fmt::print("{} deadline(s) missed of {} at a period of {} s\n", summary.missed, summary.told, arguments.period);
  }
  if (summary.implausible > 0) {
    fmt::print("{} measurement(s) were not plausible: kept, but not learned from\n", summary.implausible);
  }
  if (summary.failed_trainings > 0) {
    fmt::print("{} training(s) failed; the model before decided, or chance\n", summary.failed_trainings);
  }
  if (trainings > 0) {
    const explore::TrainingSummary& newest = study.trainings().back().summary;
    if (const std::string words = explanation(newest.status); !words.empty()) {
      fmt::print("the newest training ended with '{}': {}\n", name(newest.status),
                 newest.message.empty() ? words : newest.message);
    }
  }
  fmt::print("'gpilot show {}' says where the study stands, 'gpilot export {} --csv' gives its data\n", study.path(),
             study.path());
}

}  // namespace

void run_rig_study(const RunRigArguments& arguments) {
  const std::string path = study_path(arguments);
  const study::StudyConfig config = study::load_config(arguments.config);
  study::RigRunOptions options;
  options.rig = study::rig_options(config.rig, path);
  options.failures = config.rig.failures;
  if (!arguments.rig.empty()) {
    options.rig.command = arguments.rig;
  }
  if (options.rig.command.empty()) {
    throw InputError(fmt::format("{}: no rig: give --rig COMMAND, or the key rig.command", arguments.config));
  }
  if (!std::isnan(arguments.period)) {
    options.period_s = arguments.period;
  }
  if (arguments.steps) {
    options.steps = *arguments.steps;
  }
  options.validate();
  explore::check_until_sd(config.explore, "study.until_sd");
  const InterruptGuard guard;
  options.stop = &InterruptGuard::requested();
  std::FILE* const progress = arguments.format == Format::kText ? stdout : stderr;
  Printer printer(progress, config);
  options.on_event = [&printer](const RigRunEvent& event) { printer.print(event); };
  // Wrong input has been found by now, and a rig that cannot be run before a study is made: one that nothing was
  // measured for would stand in the way of the next run.
  std::unique_ptr<rig::Rig> started;
  Study study = open_study(arguments, path, [&] { started = first_rig(options, config); });
  if (!arguments.steps) {
    options.steps = std::max<Index>(0, config.explore.initial + config.explore.steps - study.told());
  }
  if (options.period_s && std::abs(*options.period_s / config.model.dt - 1.0) > kSamePeriod) {
    fmt::print(progress, "note: a step is {} s in the configuration (study.dt), and will take {} s\n", config.model.dt,
               *options.period_s);
  }
  if (!study.taken_over_from().empty()) {
    fmt::print(progress, "the study's last writer died: {}\n", study.taken_over_from());
  }
  const study::RigRunSummary summary = study::run_rig(study, options, std::move(started));
  if (summary.stopped) {
    throw Interrupted(fmt::format("interrupted after {} measurement(s), {} in all; --resume goes on with {}",
                                  summary.told, study.told(), path));
  }
  print_summary(arguments, study, summary);
  if (summary.random > 0) {
    std::fflush(stdout);
    throw std::runtime_error(
        fmt::format("{} of {} controls were random, since training or choosing failed; the last time: {}",
                    summary.random, summary.told, summary.random_because));
  }
}

}  // namespace gpilot::cli
