#include "describe_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "describe_model.hpp"
#include "gpilot/core/version.hpp"
#include "gpilot/study/step_counts.hpp"

namespace gpilot::cli {

namespace {

using Json = nlohmann::ordered_json;
using study::StepRecord;
using study::StepStatus;
using study::Study;

constexpr int kWidth = 11;

std::vector<double> list(VectorRef values) {
  return {values.begin(), values.end()};
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

std::string number(const Vector& values, Index i) {
  return i < values.size() && !std::isnan(values(i)) ? fmt::format("{:.5g}", values(i)) : "-";
}

void print_newest_training(const Study& study) {
  if (study.trainings().empty()) {
    const Index missing = study.config().explore.first_training() - study.told();
    fmt::print("Training    none yet{}\n",
               missing > 0 ? fmt::format(": {} more measurement(s) come first", missing) : "");
    return;
  }
  const study::TrainingRecord& newest = study.trainings().back();
  const Index failed = std::ranges::count_if(
      study.trainings(), [](const study::TrainingRecord& t) { return t.summary.status == ssm::FitStatus::kFailed; });
  fmt::print("Training    {} so far{}; the newest after step {}: {}{}, {:.2f} s\n", study.trainings().size(),
             failed > 0 ? fmt::format(", {} failed", failed) : "", newest.summary.after_step,
             name(newest.summary.status), newest.summary.chosen.empty() ? "" : " (" + newest.summary.chosen + ")",
             newest.summary.seconds);
  if (!newest.summary.message.empty()) {
    fmt::print("            {}\n", newest.summary.message);
  }
  if (const auto& model = study.model(); model != nullptr && model->report.held_out.runs > 0) {
    fmt::print("Held out    {}\n", held_out_words(model->report.held_out));
  }
  const auto sure = std::ranges::find_if(study.steps().rbegin(), study.steps().rend(),
                                         [](const StepRecord& step) { return !std::isnan(step.choice.reference_sd); });
  if (sure != study.steps().rend()) {
    fmt::print(
        "How sure    before step {} the dynamics had an sd of {:.3g} where they will be used (1 is the sd of a value\n"
        "            spread evenly over its range); until_sd ends a run by this\n",
        sure->id, sure->choice.reference_sd);
  }
}

/// What was told and is not learned from.
void print_set_aside(const Study& study) {
  const Index voided = std::ranges::count(study.steps(), true, &StepRecord::voided);
  const Index absurd = std::ranges::count_if(study.steps(), [&](const StepRecord& step) {
    return !step.voided && !implausible_words(study.config(), step.outputs).empty();
  });
  if (voided + absurd > 0) {
    fmt::print("            {} voided, {} not plausible: kept, but not learned from\n", voided, absurd);
  }
  if (const Index corrected = std::ranges::count(study.corrections(), false, &study::CorrectionRecord::voids);
      corrected > 0) {
    fmt::print("            {} correction(s); what was told before is on record\n", corrected);
  }
  if (const Index random = std::ranges::count_if(study.steps(), [](const StepRecord& s) { return s.choice.fallback; });
      random > 0) {
    fmt::print("            {} under a random control, since training or choosing had failed\n", random);
  }
}

/// What a step's line says of the newest correction of it, if that told it anew.
std::string correction_words(const Study& study, Index step) {
  const auto& all = study.corrections();
  const auto newest = std::find_if(all.rbegin(), all.rend(), [&](const auto& c) { return c.step == step; });
  return newest == all.rend() || newest->voids ? "" : fmt::format("  corrected {}: {}", newest->made_at, newest->why);
}

void print_position(const Study& study) {
  const study::SequenceRecord* current = study.current_sequence();
  if (const StepRecord* waiting = study.pending()) {
    fmt::print("Now         step {} waits for its outputs since {}\n", waiting->id, waiting->asked_at);
  } else if (current == nullptr) {
    fmt::print("Now         the next step begins a sequence\n");
  } else {
    fmt::print("Now         the next step is {}, in sequence {} ({}: {})\n", study.steps().size() + 1, current->id,
               name(current->origin), current->reason);
  }
}

Json sequences_json(const Study& study) {
  Json json = Json::array();
  for (const study::SequenceRecord& s : study.sequences()) {
    json.push_back({{"sequence", s.id},
                    {"origin", name(s.origin)},
                    {"anywhere", s.broad},
                    {"y", list(s.outputs)},
                    {"reason", s.reason},
                    {"begun_at", s.begun_at},
                    {"ended", s.ended}});
  }
  return json;
}

Json steps_json(const Study& study) {
  Json json = Json::array();
  for (const StepRecord& s : study.steps()) {
    json.push_back(
        {{"step", s.id},
         {"sequence", s.sequence},
         {"phase", name(s.choice.phase)},
         {"status", name(s.status)},
         {"u", list(s.choice.control)},
         {"u_applied", list(s.applied)},
         {"y", list(s.outputs)},
         {"voided", s.voided ? Json(s.void_reason) : Json()},
         {"implausible", text_or_null(implausible_words(study.config(), s.outputs))},
         {"t", s.rig_time ? Json(*s.rig_time) : Json()},
         {"training", s.training > 0 ? Json(s.training) : Json()},
         {"criterion", s.choice.criterion},
         {"evaluations", s.choice.evaluations},
         {"violation", s.choice.violation},
         {"safe", s.choice.safe},
         {"reference_sd", s.choice.reference_sd},
         {"plan", s.choice.plan.rows() > 0 ? Json(list(Vector(s.choice.plan.transpose().reshaped()))) : Json()},
         {"reason", text_or_null(s.reason.empty() ? s.choice.note : s.reason)},
         {"random_after_failure", s.choice.fallback},
         {"asked_at", s.asked_at},
         {"closed_at", text_or_null(s.closed_at)}});
  }
  return json;
}

Json corrections_json(const Study& study) {
  Json json = Json::array();
  for (const study::CorrectionRecord& c : study.corrections()) {
    json.push_back({{"step", c.step > 0 ? Json(c.step) : Json()},
                    {"sequence", c.sequence > 0 ? Json(c.sequence) : Json()},
                    {"voids", c.voids},
                    {"why", c.why},
                    {"u_before", list(c.applied)},
                    {"y_before", list(c.outputs)},
                    {"voided_before", c.voided},
                    {"made_at", c.made_at}});
  }
  return json;
}

Json trainings_json(const Study& study) {
  Json json = Json::array();
  for (const study::TrainingRecord& t : study.trainings()) {
    json.push_back({{"training", t.id},
                    {"after_step", t.summary.after_step},
                    {"status", name(t.summary.status)},
                    {"message", t.summary.message},
                    {"chosen", t.summary.chosen},
                    {"bound", t.summary.bound},
                    {"library_version", t.version},
                    {"model_kept", t.has_model},
                    {"seconds", t.summary.seconds},
                    {"finished_at", t.finished_at}});
  }
  return json;
}

Json sessions_json(const Study& study) {
  Json json = Json::array();
  for (const study::SessionRecord& s : study.sessions()) {
    json.push_back({{"pid", s.pid},
                    {"host", s.host},
                    {"library_version", s.version},
                    {"begun_at", s.begun_at},
                    {"ended_at", text_or_null(s.ended_at)},
                    {"note", text_or_null(s.note)}});
  }
  return json;
}

}  // namespace

std::string step_heading(const study::StudyConfig& config) {
  std::string line = fmt::format("{:>5} {:>4} {:<8} {:<7}", "step", "seq", "control", "status");
  for (const std::string& input : config.model.inputs) {
    line += fmt::format(" {:>{}}", input, kWidth);
  }
  for (const std::string& output : config.model.outputs) {
    line += fmt::format(" {:>{}}", output, kWidth);
  }
  return line;
}

std::string step_line(const study::StudyConfig& config, const StepRecord& step) {
  std::string line = fmt::format("{:>5} {:>4} {:<8} {:<7}", step.id, step.sequence, name(step.choice.phase),
                                 step.voided ? "voided" : name(step.status));
  const Vector& control = step.status == StepStatus::kTold ? step.applied : step.choice.control;
  for (Index p = 0; p < static_cast<Index>(config.model.inputs.size()); ++p) {
    line += fmt::format(" {:>{}}", number(control, p), kWidth);
  }
  for (Index e = 0; e < static_cast<Index>(config.model.outputs.size()); ++e) {
    line += fmt::format(" {:>{}}", number(step.outputs, e), kWidth);
  }
  if (!step.choice.safe) {
    line += "  " + no_safe_plan(step.choice.violation);
  }
  if (step.voided) {
    line += fmt::format("  not learned from: {}", step.void_reason);
  } else if (const std::string words = implausible_words(config, step.outputs); !words.empty()) {
    line += fmt::format("  not learned from: {}", words);
  }
  const std::string& remark = step.reason.empty() ? step.choice.note : step.reason;
  return remark.empty() ? line : line + "  " + remark;
}

std::string no_safe_plan(double violation) {
  return fmt::format(
      "no control was found that keeps the limits of the outputs; this one leaves them with probability {}",
      std::isnan(violation) ? "unknown" : fmt::format("{:.2g}", violation));
}

void print_study(const Study& study, Index newest_steps) {
  const study::StudyConfig& config = study.config();
  fmt::print("Study       {} ({}), made {}\n", config.name, study.path(), study.created_at());
  fmt::print("Strategy    {}, seed {}; {} measurements under random controls, then {} chosen\n",
             config.explore.strategy, config.explore.seed, config.explore.initial, config.explore.steps);
  fmt::print("Steps       {}; {} sequence(s)\n",
             study.steps().empty() ? "none yet" : fmt::format("{}", fmt::join(study::step_counts(study.steps()), ", ")),
             study.sequences().size());
  if (const Index late = study.late_tells(); late > 0) {
    fmt::print("            {} late answer(s) are kept, but not learned from\n", late);
  }
  print_set_aside(study);
  print_position(study);
  print_newest_training(study);
  const std::vector<study::SessionRecord> sessions = study.sessions();
  if (!sessions.empty()) {
    const study::SessionRecord& last = sessions.back();
    fmt::print("Written by  process {} on {} from {} {}\n", last.pid, last.host, last.begun_at,
               last.ended_at.empty() ? "on; it is running or has died" : "to " + last.ended_at);
  }
  if (study.steps().empty() || newest_steps == 0) {
    return;
  }
  fmt::print("\n{}\n", step_heading(config));
  const auto total = static_cast<Index>(study.steps().size());
  for (Index i = std::max<Index>(0, total - newest_steps); i < total; ++i) {
    const StepRecord& step = study.steps()[static_cast<std::size_t>(i)];
    fmt::print("{}{}\n", step_line(config, step), correction_words(study, step.id));
  }
}

Json study_json(const Study& study) {
  const study::StudyConfig& config = study.config();
  Json json = {{"format", "gpilot-study"},
               {"library_version", version()},
               {"study", study.path()},
               {"name", config.name},
               {"created_at", study.created_at()},
               {"strategy", config.explore.strategy},
               {"seed", config.explore.seed},
               {"dt", config.model.dt},
               {"inputs", config.model.inputs},
               {"outputs", config.model.outputs},
               {"initial", config.explore.initial},
               {"measurements", study.told()},
               {"late_tells", study.late_tells()}};
  json["pending"] = study.pending() != nullptr ? Json(study.pending()->id) : Json();
  json["sequences"] = sequences_json(study);
  json["steps"] = steps_json(study);
  json["corrections"] = corrections_json(study);
  json["trainings"] = trainings_json(study);
  json["sessions"] = sessions_json(study);
  return json;
}

std::string study_json_text(const Study& study) {
  return study_json(study).dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gpilot::cli
