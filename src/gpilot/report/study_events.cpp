#include "gpilot/report/study_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpilot/study/step_counts.hpp"

namespace gpilot::report {

namespace {

using study::StepRecord;
using study::StepStatus;
using study::Study;

class Events {
 public:
  void add(const std::string& at, Index step, const char* kind, const std::string& text) {
    events_.push_back({{"at", at}, {"step", step > 0 ? Json(step) : Json()}, {"kind", kind}, {"text", text}});
  }

  /// In the order of time; those of one moment in the order they were added.
  Json sorted() {
    std::ranges::stable_sort(events_, {}, [](const Json& event) { return event["at"].get<std::string>(); });
    return Json(events_);
  }

 private:
  std::vector<Json> events_;
};

std::string with_reason(const std::string& what, const std::string& reason) {
  return reason.empty() ? what : fmt::format("{}: {}", what, reason);
}

void add_sequences(const Study& study, Events& events) {
  for (const study::SequenceRecord& s : study.sequences()) {
    events.add(s.begun_at, 0, "sequence",
               with_reason(fmt::format("sequence {} begins ({}{})", s.id, name(s.origin), s.broad ? ", anywhere" : ""),
                           s.reason));
  }
}

void add_steps(const Study& study, Events& events) {
  for (const StepRecord& s : study.steps()) {
    const std::string& at = s.closed_at.empty() ? s.asked_at : s.closed_at;
    if (s.status == StepStatus::kFailed || s.status == StepStatus::kUnsafe || s.status == StepStatus::kUnknown) {
      events.add(at, s.id, "failure", with_reason(fmt::format("step {} is {}", s.id, name(s.status)), s.reason));
    }
    if (s.choice.fallback) {
      events.add(s.asked_at, s.id, "fallback", fmt::format("step {}: {}", s.id, s.choice.note));
    }
    if (!s.choice.safe) {
      events.add(s.asked_at, s.id, "limits",
                 fmt::format("step {}: no control was found that keeps the limits of the outputs", s.id));
    }
    if (s.choice.phase == plan::Phase::kSafe) {
      events.add(s.asked_at, s.id, "safe", with_reason(fmt::format("step {}: the safe control", s.id), s.choice.note));
    }
    if (const std::string words = implausible_words(study.config(), s.outputs); !words.empty() && !s.voided) {
      events.add(at, s.id, "implausible", fmt::format("step {} is not learned from: {}", s.id, words));
    }
  }
}

void add_corrections(const Study& study, Events& events) {
  for (const study::CorrectionRecord& c : study.corrections()) {
    const std::string what =
        c.step > 0 ? fmt::format("step {}", c.step) : fmt::format("the first row of sequence {}", c.sequence);
    events.add(c.made_at, c.step, c.voids ? "voided" : "corrected",
               with_reason(fmt::format("{} was {}", what, c.voids ? "voided" : "corrected"), c.why));
  }
}

void add_sessions(const Study& study, Events& events) {
  const std::vector<study::SessionRecord> sessions = study.sessions();
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const study::SessionRecord& s = sessions[i];
    events.add(s.begun_at, 0, "session",
               with_reason(fmt::format("process {} on {} opens the study", s.pid, s.host), s.note));
    if (s.ended_at.empty() && i + 1 < sessions.size()) {
      events.add(sessions[i + 1].begun_at, 0, "crash",
                 fmt::format("process {} on {}, which had opened it at {}, has died", s.pid, s.host, s.begun_at));
    }
  }
}

std::string step_words(const Study& study) {
  std::vector<std::string> parts = study::step_counts(study.steps());
  if (const Index voided = std::ranges::count(study.steps(), true, &StepRecord::voided); voided > 0) {
    parts.push_back(fmt::format("{} voided", voided));
  }
  return parts.empty() ? "none yet" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string position_words(const Study& study) {
  if (const StepRecord* waiting = study.pending()) {
    return fmt::format("step {} waits for its outputs since {}", waiting->id, waiting->asked_at);
  }
  const study::SequenceRecord* current = study.current_sequence();
  return current == nullptr ? "the next step begins a sequence"
                            : fmt::format("the next step is {}, in sequence {}", study.steps().size() + 1, current->id);
}

std::string training_words(const Study& study) {
  if (study.trainings().empty()) {
    const Index missing = study.config().explore.first_training() - study.told();
    return missing > 0 ? fmt::format("none yet: {} more measurement(s) come first", missing) : "none yet";
  }
  const explore::TrainingSummary& newest = study.trainings().back().summary;
  return fmt::format("{} so far; the newest, after step {}, took {:.2g} s; {}{}", study.trainings().size(),
                     newest.after_step, newest.seconds, name(newest.status),
                     newest.message.empty() ? "" : ": " + newest.message);
}

}  // namespace

Json study_events(const Study& study) {
  Events events;
  add_sessions(study, events);
  add_sequences(study, events);
  add_steps(study, events);
  add_corrections(study, events);
  for (const study::TrainingRecord& t : study.trainings()) {
    if (t.summary.status == ssm::FitStatus::kFailed) {
      events.add(t.finished_at, t.summary.after_step, "training",
                 fmt::format("training {} failed: {}", t.id, t.summary.message));
    }
  }
  return events.sorted();
}

Json study_words(const Study& study) {
  const explore::ExploreOptions& explore = study.config().explore;
  Json words = Json::array();
  const auto add = [&](const char* what, const std::string& text) { words.push_back({what, text}); };
  add("Strategy", fmt::format("{}, seed {}; {} measurements under random controls, then {} chosen", explore.strategy,
                              explore.seed, explore.initial, explore.steps));
  add("Steps", fmt::format("{}; {} sequence(s)", step_words(study), study.sequences().size()));
  add("Now", position_words(study));
  add("Training", training_words(study));
  if (const std::string sure = study.sure_enough(); !sure.empty()) {
    add("Enough", sure);
  }
  if (const Index late = study.late_tells(); late > 0) {
    add("Late", fmt::format("{} late answer(s) are kept, but not learned from", late));
  }
  for (const std::string& warning : study.warnings()) {
    add("Warning", warning);
  }
  return words;
}

std::string last_moved(const Study& study) {
  std::string last = study.created_at();
  const auto take = [&](const std::string& at) { last = std::max(last, at); };  // ISO 8601, UTC: texts order as times
  for (const StepRecord& s : study.steps()) {
    take(s.asked_at);
    take(s.closed_at);
  }
  if (!study.trainings().empty()) {
    take(study.trainings().back().finished_at);
  }
  if (!study.corrections().empty()) {
    take(study.corrections().back().made_at);
  }
  return last;
}

}  // namespace gpilot::report
