#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "gpilot/core/error.hpp"
#include "gpilot/io/time_stamp.hpp"
#include "gpilot/report/decision.hpp"
#include "gpilot/report/model_part.hpp"
#include "gpilot/report/record.hpp"
#include "gpilot/report/study_events.hpp"
#include "gpilot/ssm/predict.hpp"

namespace gpilot::report {

namespace {

using study::StepRecord;
using study::StepStatus;
using study::Study;

constexpr Index kMostDecisions = 300;   // that are looked at
constexpr Index kMostDrawnRows = 2000;  // of one free run: beyond, function draws take minutes

double seconds_between(const std::string& from, const std::string& to) {
  const auto a = io::parse_time_stamp(from);
  const auto b = io::parse_time_stamp(to);
  constexpr double kNanoseconds = 1e-9;
  return a && b ? kNanoseconds * static_cast<double>(*b - *a) : kNaN;
}

Json box_json(const Box& box) {
  return {{"low", list(box.low)}, {"high", list(box.high)}};
}

/// The output that measures a state and nothing else, if any.
std::optional<Index> output_of(const ssm::ModelSpec& spec, Index state) {
  for (Index e = 0; e < spec.C.rows(); ++e) {
    if (spec.C(e, state) == 1.0 && (spec.C.row(e).array() != 0.0).count() == 1) {
      return e;
    }
  }
  return std::nullopt;
}

/// Of a state: its output's, or per second that of the state whose derivative it is.
std::string unit_of(const study::StudyConfig& config, Index state) {
  const auto measured = [&](Index d) {
    const std::optional<Index> output = output_of(config.model, d);
    return output ? config.output_units[static_cast<std::size_t>(*output)] : std::string();
  };
  if (std::string unit = measured(state); !unit.empty()) {
    return unit;
  }
  for (const ssm::DerivativeOf& k : config.model.derivatives) {
    if (k.velocity == state && !measured(k.position).empty()) {
      return measured(k.position) + "/s";
    }
  }
  return "";
}

Json about_json(const Study& study) {
  const study::StudyConfig& config = study.config();
  const explore::ExploreOptions& explore = config.explore;
  Json about = {{"name", config.name},
                {"created_at", study.created_at()},
                {"moved_at", last_moved(study)},
                {"strategy", explore.strategy},
                {"initial", explore.initial},
                {"steps", explore.steps},
                {"seed", std::to_string(explore.seed)},
                {"dt", number(config.model.dt)},
                {"inputs", config.model.inputs},
                {"outputs", config.model.outputs},
                {"states", config.model.states},
                {"input_units", config.input_units},
                {"output_units", config.output_units},
                {"box", box_json(config.box)},
                {"safe", list(explore.safe)},
                {"slew", list(explore.slew)},
                {"state_units", Json::array()},
                {"state_outputs", Json::array()},
                {"until_sd", number(explore.until_sd)},
                {"limits", Json()},
                {"region", Json::array()},
                {"words", study_words(study)}};
  if (explore.limits.any()) {
    about["limits"] = {{"low", list(explore.limits.low)},
                       {"high", list(explore.limits.high)},
                       {"delta", number(explore.limits.delta)}};
  }
  for (Index d = 0; d < static_cast<Index>(config.model.states.size()); ++d) {
    const std::optional<Index> output = output_of(config.model, d);
    about["state_outputs"].push_back(output ? Json(*output) : Json());
    about["state_units"].push_back(unit_of(config, d));
  }
  for (const ssm::Range& range : explore.region) {
    about["region"].push_back({{"name", range.name}, {"low", number(range.low)}, {"high", number(range.high)}});
  }
  return about;
}

/// The steps by column; times in s since the study was made.
Json steps_json(const Study& study) {
  const auto n = static_cast<Index>(study.steps().size());
  const Index P = study.config().box.low.size();
  const auto E = static_cast<Index>(study.config().model.outputs.size());
  Matrix asked = Matrix::Constant(n, P, kNaN);
  Matrix applied = asked;
  Matrix outputs = Matrix::Constant(n, E, kNaN);
  Matrix values = Matrix::Constant(n, 5, kNaN);  // criterion, reference_sd, violation, asked, closed
  Json sequence = Json::array(), phase = Json::array(), status = Json::array(), training = Json::array(),
       plans = Json::object();
  std::vector<Json> set_aside(static_cast<std::size_t>(E), Json::array());  // steps, by output
  for (Index i = 0; i < n; ++i) {
    const StepRecord& s = study.steps()[static_cast<std::size_t>(i)];
    asked.row(i) = s.choice.control.transpose();
    if (s.status == StepStatus::kTold) {
      applied.row(i) = s.applied.transpose();
      outputs.row(i) = s.outputs.transpose();
      const Vector learned = learned_outputs(study.config(), s);
      for (Index e = 0; e < E; ++e) {
        if (!std::isnan(s.outputs(e)) && std::isnan(learned(e))) {
          set_aside[static_cast<std::size_t>(e)].push_back(s.id);
        }
      }
    }
    values.row(i) << s.choice.criterion, s.choice.reference_sd, s.choice.violation,
        seconds_between(study.created_at(), s.asked_at), seconds_between(study.created_at(), s.closed_at);
    sequence.push_back(s.sequence);
    phase.push_back(name(s.choice.phase));
    status.push_back(name(s.status));
    training.push_back(s.training);
    if (s.choice.plan.rows() > 1) {
      plans[std::to_string(s.id)] = columns(s.choice.plan, 4);
    }
  }
  constexpr int kTimeDigits = 9;
  return {{"sequence", sequence},
          {"phase", phase},
          {"status", status},
          {"training", training},
          {"set_aside", set_aside},
          {"asked", columns(asked)},
          {"applied", columns(applied)},
          {"outputs", columns(outputs)},
          {"criterion", list(Vector(values.col(0)))},
          {"reference_sd", list(Vector(values.col(1)))},
          {"violation", list(Vector(values.col(2)), 3)},
          {"asked_s", list(Vector(values.col(3)), kTimeDigits)},
          {"closed_s", list(Vector(values.col(4)), kTimeDigits)},
          {"plans", plans}};
}

/// What was measured, row after row, with the step that led to each; 0 for the first row of a sequence.
Json rows_json(const Study& study) {
  Json step = Json::array(), sequence = Json::array();
  Json first = Json::array();
  for (const study::SequenceRecord& s : study.sequences()) {
    const bool any = std::ranges::any_of(
        study.steps(), [&](const StepRecord& t) { return t.sequence == s.id && t.status == StepStatus::kTold; });
    if (any) {
      step.push_back(0);
      sequence.push_back(s.id);
      first.push_back(list(s.outputs));
    }
    for (const StepRecord& t : study.steps()) {
      if (any && t.sequence == s.id && t.status == StepStatus::kTold) {
        step.push_back(t.id);
        sequence.push_back(s.id);
      }
    }
  }
  return {{"step", step}, {"sequence", sequence}, {"first_outputs", first}};
}

/// The rows as the newest model has them: one step ahead, in free runs from each sequence's beginning, the states.
void add_newest_model(const Study& study, const StudyRecordOptions& options, Json& record) {
  const ssm::Model& model = *study.model();
  const ssm::Predictor predictor(model, model.gp);
  constexpr Index kWarmup = 10;
  constexpr Index kDraws = 100;
  Json ahead, free_run;
  Index offset = 0;
  std::vector<Index> lengths;
  for (const ssm::Sequence& sequence : study.data()) {
    const Index n = sequence.rows();
    append_prediction(ahead, prediction_json(predictor.ahead(sequence, 1), 0, n), offset);
    const Index warmup = sequence.broad_start ? std::min(kWarmup, n / 4) : 0;
    append_prediction(
        free_run,
        prediction_json(predictor.free_run(sequence, {.warmup = warmup, .draws = n > kMostDrawnRows ? 0 : kDraws}), 0,
                        n),
        offset);
    offset += n;
    lengths.push_back(n);
  }
  record["one_step"] = ahead;
  record["free_run"] = free_run;
  const SmoothedStates states = smoothed_states(model, lengths);
  if (states.mean.rows() > 0) {
    record["states"] = {{"mean", columns(states.mean)}, {"sd", columns(states.sd)}};
    Matrix points(offset - static_cast<Index>(study.data().size()), model.gp.structure.inputs());
    Index n = 0;
    Index t = 0;
    for (const ssm::Sequence& sequence : study.data()) {
      const Index count = sequence.rows() - 1;
      points.middleRows(n, count) << states.mean.middleRows(t, count), sequence.controls.topRows(count);
      n += count;
      t += sequence.rows();
    }
    record["slices"] = slices_json(model, points, study.config().box);
  }
  if (options.describe) {
    record["model"] = options.describe(model);
  }
}

/// Held-out errors and parameters: what only a model knows.
Json learned_json(const ssm::Model& model) {
  Json learned = Json::object();
  const ssm::HeldOut& held = model.report.held_out;
  if (held.runs > 0) {
    learned["held_out"] = number(held.model_ratio(), 4);
    learned["held_out_linear"] = number(held.linear_ratio(), 4);
  }
  const ssm::Summary summary = ssm::summarize(model, model.gp);
  Json parameters = Json::object();
  for (const ssm::ParameterEstimate& p : model.report.parameters) {
    parameters[p.unit.empty() ? p.name : fmt::format("{}, {}", p.name, p.unit)] = number(p.value, 4);
  }
  for (std::size_t e = 0; e < model.spec.outputs.size(); ++e) {
    parameters["noise of " + model.spec.outputs[e]] = number(summary.output_sd(static_cast<Index>(e)), 4);
  }
  for (const ssm::RowSummary& row : summary.states) {
    if (row.copied || row.velocity) {
      continue;
    }
    for (Index i = 0; i < row.weights.size(); ++i) {
      parameters[fmt::format("weight of {} in {}", summary.terms[static_cast<std::size_t>(i)], row.state)] =
          number(row.weights(i), 4);
    }
    parameters["process noise of " + row.state] = number(row.process_sd, 4);
    parameters["function sd of " + row.state] = number(row.function_sd, 4);
    for (Index i = 0; i < row.length_scales.size(); ++i) {
      parameters[fmt::format("length scale of {} in {}", summary.inputs[static_cast<std::size_t>(i)], row.state)] =
          number(row.length_scales(i), 4);
    }
  }
  learned["parameters"] = parameters;
  return learned;
}

/// Every training, with what is known of its model.
Json trainings_json(const Study& study, const Json& learned) {
  Json trainings = Json::array();
  for (const study::TrainingRecord& t : study.trainings()) {
    Json entry = {{"training", t.id},
                  {"after_step", t.summary.after_step},
                  {"status", name(t.summary.status)},
                  {"bound", number(t.summary.bound)},
                  {"seconds", number(t.summary.seconds, 3)}};
    if (const auto known = learned.find(std::to_string(t.id)); known != learned.end()) {
      entry.update(*known);
    }
    trainings.push_back(std::move(entry));
  }
  return trainings;
}

/// The steps that a training's model decided about, those that were drawn included.
std::vector<const StepRecord*> steps_after(const Study& study, const study::TrainingRecord& training) {
  std::vector<const StepRecord*> steps;
  for (auto step = study.steps().begin() + std::min<Index>(training.summary.after_step, std::ssize(study.steps()));
       step != study.steps().end(); ++step) {
    if (step->training == training.id) {
      steps.push_back(&*step);
    } else if (step->training > training.id) {
      break;
    }
  }
  return steps;
}

/// Computes what models said before steps, and keeps it in `memory`: {"study", "learned": by training, "decisions": by
/// step}. A decision is computed again when its step was told since.
void look_at_models(const Study& study, const StudyRecordOptions& options, Index stride, Json& memory) {
  Index seen = 0;
  const auto newest = static_cast<Index>(study.steps().size());
  study.each_model(options.history == History::kAll,
                   [&](const study::TrainingRecord& training, const std::shared_ptr<const ssm::Model>& model) {
                     const std::string key = std::to_string(training.id);
                     if (!memory["learned"].contains(key)) {
                       memory["learned"][key] = learned_json(*model);
                     }
                     constexpr Index kNewest = 5;
                     for (const StepRecord* step : steps_after(study, training)) {
                       if (seen++ % stride != 0 && step->id + kNewest <= newest) {
                         continue;
                       }
                       Json& known = memory["decisions"][std::to_string(step->id)];
                       if (known.is_null() || known["status"] != name(step->status)) {
                         known = decision_json(study, training, model, step);
                         known["status"] = name(step->status);
                       }
                     }
                     if (options.on_progress) {
                       options.on_progress(training.id, static_cast<Index>(study.trainings().size()));
                     }
                     return true;
                   });
}

void add_decisions(const Study& study, const StudyRecordOptions& options, Json& record) {
  const Index deciding = std::ranges::count_if(study.steps(), [](const StepRecord& s) { return s.training > 0; });
  // Of many, every n-th; the newest always.
  const Index stride = std::max<Index>(1, (deciding + kMostDecisions - 1) / kMostDecisions);
  Json own;
  Json& memory = options.memory != nullptr ? *options.memory : own;
  if (!memory.is_object() || memory.value("study", "") != study.created_at()) {
    memory = {{"study", study.created_at()}, {"learned", Json::object()}, {"decisions", Json::object()}};
  }
  look_at_models(study, options, stride, memory);
  record["trainings"] = trainings_json(study, memory["learned"]);
  std::vector<Json> decisions;
  for (const auto& [step, decision] : memory["decisions"].items()) {
    decisions.push_back(decision);
  }
  std::ranges::sort(decisions, {}, [](const Json& decision) { return decision.value("step", Index{0}); });
  record["decisions"] = decisions;
  const auto all = static_cast<Index>(study.trainings().size());
  if (const auto models = static_cast<Index>(memory["learned"].size()); models < all) {
    record["notes"].push_back(
        options.history == History::kAll
            ? fmt::format("What a model said before a step is shown for {} of {} trainings: the others failed, or "
                          "learned from a step that was corrected since.",
                          models, all)
            : fmt::format("What a model said before a step is shown for {} of {} trainings: the study keeps only its "
                          "newest models. gpilot report --history all trains the others again (about {:.0f} s).",
                          models, all, std::ceil(training_seconds(study))));
  }
  if (stride > 1) {
    record["notes"].push_back(fmt::format("Of {} decisions every {}th is shown, and the newest.", deciding, stride));
  }
}

}  // namespace

double training_seconds(const Study& study) {
  double seconds = 0.0;
  for (const study::TrainingRecord& training : study.trainings()) {
    seconds += training.summary.seconds;
  }
  return seconds;
}

Json study_record(const Study& study, const StudyRecordOptions& options) {
  Json record = record_head("study", study.config().name, study.path());
  record["about"] = about_json(study);
  record["steps"] = steps_json(study);
  record["rows"] = rows_json(study);
  if (study.model() != nullptr && !study.data().empty()) {
    try {
      add_newest_model(study, options, record);
    } catch (const NumericalError& error) {
      record["notes"].push_back(fmt::format("The newest model cannot be run over the data: {}", error.what()));
    }
  }
  add_decisions(study, options, record);
  record["events"] = study_events(study);
  record["sequences"] = Json::array();
  for (const study::SequenceRecord& s : study.sequences()) {
    record["sequences"].push_back({{"id", s.id}, {"origin", name(s.origin)}, {"broad", s.broad}, {"reason", s.reason}});
  }
  return record;
}

}  // namespace gpilot::report
