#include "gpilot/study/study.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "arrays.hpp"
#include "call.hpp"
#include "gpilot/study/rig_run.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

using study::Study;

/// A study that can be closed and interrupted.
class StudyHandle {
 public:
  explicit StudyHandle(Study study) : path_(study.path()), study_(std::make_unique<Study>(std::move(study))) {}

  Study& operator*() { return *open(); }
  Study* operator->() { return open(); }
  bool is_open() const { return study_ != nullptr; }
  const std::string& path() const { return path_; }
  void close() {
    const nb::gil_scoped_release release;
    study_.reset();
  }

  study::Step ask(bool train) {
    return interruptible([&] { return study_->ask(train); });
  }
  study::Step suggest(bool train) {
    return interruptible([&] { return study_->suggest(train); });
  }

 private:
  Study* open() {
    if (!study_) {
      throw nb::value_error(("the study " + path_ + " is closed").c_str());
    }
    return study_.get();
  }

  template <class Work>
  study::Step interruptible(Work work) {
    Study& study = *open();
    Call call;
    study.set_stop(call.stop());
    try {
      study::Step step = call.run(work);
      study.set_stop(nullptr);
      return step;
    } catch (...) {
      study.set_stop(nullptr);
      throw;
    }
  }

  std::string path_;
  std::unique_ptr<Study> study_;
};

nb::object vector_or_none(const Vector& values) {
  return values.size() > 0 ? nb::cast(Vector(values)) : nb::none();
}

Dict step_dict(const study::StepRecord& step) {
  nb::dict result;
  result["id"] = step.id;
  result["sequence"] = step.sequence;
  result["status"] = std::string(study::name(step.status));
  result["phase"] = std::string(plan::name(step.choice.phase));
  result["control"] = Vector(step.choice.control);
  result["applied"] = vector_or_none(step.applied);
  result["outputs"] = vector_or_none(step.outputs);
  result["criterion"] = step.choice.criterion;
  result["violation"] = step.choice.violation;
  result["safe"] = step.choice.safe;
  result["reference_sd"] = step.choice.reference_sd;
  result["note"] = step.choice.note;
  result["training"] = step.training;
  result["reason"] = step.reason;
  result["voided"] = step.voided;
  result["void_reason"] = step.void_reason;
  result["time"] = step.rig_time ? nb::cast(*step.rig_time) : nb::none();
  result["asked_at"] = step.asked_at;
  result["closed_at"] = step.closed_at;
  return result;
}

Dict sequence_dict(const study::SequenceRecord& sequence) {
  nb::dict result;
  result["id"] = sequence.id;
  result["origin"] = std::string(study::name(sequence.origin));
  result["broad"] = sequence.broad;
  result["outputs"] = vector_or_none(sequence.outputs);
  result["reason"] = sequence.reason;
  result["begun_at"] = sequence.begun_at;
  result["ended"] = sequence.ended;
  return result;
}

Dict training_dict(const study::TrainingRecord& training) {
  nb::dict result;
  result["id"] = training.id;
  result["after_step"] = training.summary.after_step;
  result["status"] = std::string(ssm::name(training.summary.status));
  result["message"] = training.summary.message;
  result["bound"] = training.summary.bound;
  result["seconds"] = training.summary.seconds;
  result["has_model"] = training.has_model;
  return result;
}

template <class Records, class Convert>
DictList list_of(const Records& records, Convert convert) {
  nb::list result;
  for (const auto& record : records) {
    result.append(convert(record));
  }
  return result;
}

/// A step, or its number.
Index step_id(nb::handle step) {
  const study::Step* asked = nullptr;
  return nb::try_cast(step, asked) && asked != nullptr ? asked->id : nb::cast<Index>(nb::int_(step));
}

Vector told_outputs(const Study& study, nb::handle outputs) {
  return numbers("y", outputs, static_cast<Index>(study.config().model.outputs.size()), true);
}

const char* told_word(study::Told told) {
  switch (told) {
    case study::Told::kAccepted:
      return "accepted";
    case study::Told::kRepeated:
      return "repeated";
    case study::Told::kLate:
      return "late";
  }
  return "";
}

/// What a run of a rig's process says of itself.
Dict summary_dict(const study::RigRunSummary& run) {
  nb::dict result;
  result["told"] = run.told;
  result["failed"] = run.failed;
  result["restarts"] = run.restarts;
  result["implausible"] = run.implausible;
  result["failed_trainings"] = run.failed_trainings;
  result["random"] = run.random;
  result["missed"] = run.missed;
  result["outside"] = run.outside;
  result["no_plan"] = run.no_plan;
  result["episodes"] = run.episodes;
  result["sure_enough"] = run.sure_enough;
  result["over"] = run.over;
  return result;
}

Dict run_process(StudyHandle& handle, const std::string& command, Index steps, std::optional<double> period,
                 const std::string& log, nb::object on_event) {
  Study& study = *handle;
  study::RigRunOptions options;
  options.rig = study::rig_options(study.config().rig, study.path());
  options.steps = steps;
  options.failures = study.config().rig.failures;
  options.period_s = period;
  if (!command.empty()) {
    options.rig.command = command;
  }
  if (!log.empty()) {
    options.rig.log = log;
  }
  Call call;
  options.stop = call.stop();
  std::exception_ptr raised;
  if (!on_event.is_none()) {
    options.on_event = [&](const study::RigRunEvent& event) {
      static constexpr const char* kKinds[] = {"rig", "sequence", "trained", "told", "failed"};
      const nb::gil_scoped_acquire acquire;
      if (raised) {
        return;
      }
      try {
        on_event(kKinds[static_cast<std::size_t>(event.kind)], event.text,
                 event.step != nullptr ? nb::object(step_dict(*event.step)) : nb::none());
      } catch (...) {
        raised = std::current_exception();
        call.cancel();
      }
    };
  }
  const study::RigRunSummary summary = call.run([&] { return study::run_rig(study, options); });
  if (raised) {
    std::rethrow_exception(raised);
  }
  return summary_dict(summary);
}

void bind_changes(nb::class_<StudyHandle>& c) {
  c.def(
       "tell",
       [](StudyHandle& self, nb::handle step, nb::handle outputs, nb::handle applied, std::optional<double> time) {
         Study& study = *self;
         const Index id = step_id(step);
         const Vector y = told_outputs(study, outputs);
         const std::optional<Vector> u = numbers_or_none("applied", applied, study.config().box.low.size());
         const nb::gil_scoped_release release;
         return told_word(study.tell(id, y, u, time));
       },
       nb::arg("step"), nb::arg("outputs"), nb::arg("applied").none() = nb::none(), nb::arg("time").none() = nb::none())
      .def(
          "fail",
          [](StudyHandle& self, nb::handle step, const std::string& status, const std::string& reason) {
            self->fail(step_id(step), study::step_status_from_name(status), reason);
          },
          nb::arg("step"), nb::arg("status"), nb::arg("reason"))
      .def(
          "withdraw",
          [](StudyHandle& self, nb::handle step, const std::string& reason) { self->withdraw(step_id(step), reason); },
          nb::arg("step"), nb::arg("reason"))
      .def(
          "void",
          [](StudyHandle& self, nb::handle step, const std::string& why) {
            return self->void_step(step_id(step), why);
          },
          nb::arg("step"), nb::arg("why"))
      .def(
          "correct",
          [](StudyHandle& self, nb::handle step, nb::handle outputs, nb::handle applied, const std::string& why) {
            return self->correct(step_id(step), told_outputs(*self, outputs),
                                 numbers_or_none("applied", applied, self->config().box.low.size()), why);
          },
          nb::arg("step"), nb::arg("outputs"), nb::arg("applied").none(), nb::arg("why"))
      .def(
          "new_sequence",
          [](StudyHandle& self, const std::string& origin, nb::handle outputs, const std::string& reason) {
            self->new_sequence(study::sequence_origin_from_name(origin),
                               outputs.is_none() ? Vector() : told_outputs(*self, outputs), reason);
          },
          nb::arg("origin"), nb::arg("outputs").none(), nb::arg("reason"))
      .def("end_sequence", [](StudyHandle& self) { self->end_sequence(); })
      .def(
          "import_sequence",
          [](StudyHandle& self, const ArrayIn& controls, const ArrayIn& outputs) {
            return self->import({.controls = controls, .outputs = outputs});
          },
          nb::arg("controls"), nb::arg("outputs"))
      .def("run_process", &run_process, nb::arg("command"), nb::arg("steps"), nb::arg("period").none(), nb::arg("log"),
           nb::arg("on_event").none());
}

void bind_state(nb::class_<StudyHandle>& c) {
  c.def_prop_ro("path", &StudyHandle::path)
      .def_prop_ro("config_text", [](StudyHandle& self) { return self->config_text(); })
      .def_prop_ro("inputs", [](StudyHandle& self) { return self->config().model.inputs; })
      .def_prop_ro("outputs", [](StudyHandle& self) { return self->config().model.outputs; })
      .def_prop_ro("dt", [](StudyHandle& self) { return self->config().model.dt; })
      .def_prop_ro("seed", [](StudyHandle& self) { return self->config().explore.seed; })
      .def_prop_ro("planned_steps",
                   [](StudyHandle& self) { return self->config().explore.initial + self->config().explore.steps; })
      .def_prop_ro("box",
                   [](StudyHandle& self) { return std::make_pair(self->config().box.low, self->config().box.high); })
      .def_prop_ro("safe", [](StudyHandle& self) { return Vector(self->config().explore.safe); })
      .def_prop_ro("told", [](StudyHandle& self) { return self->told(); })
      .def_prop_ro("sure_enough", [](StudyHandle& self) { return self->sure_enough(); })
      .def_prop_ro("model", [](StudyHandle& self) { return model_or_none(self->model()); })
      .def(
          "model_at", [](StudyHandle& self, Index step) { return model_or_none(self->model_at(step)); },
          nb::arg("step"))
      .def_prop_ro("data",
                   [](StudyHandle& self) {
                     const ssm::ModelSpec& spec = self->config().model;
                     return Data{
                         .sequences = self->data(), .inputs = spec.inputs, .outputs = spec.outputs, .dt = spec.dt};
                   })
      .def_prop_ro("steps", [](StudyHandle& self) { return list_of(self->steps(), step_dict); })
      .def_prop_ro("sequences", [](StudyHandle& self) { return list_of(self->sequences(), sequence_dict); })
      .def_prop_ro("trainings", [](StudyHandle& self) { return list_of(self->trainings(), training_dict); })
      .def_prop_ro("pending",
                   [](StudyHandle& self) {
                     return self->pending() != nullptr ? std::optional(self->pending()->id) : std::nullopt;
                   })
      .def_prop_ro("in_sequence", [](StudyHandle& self) { return self->current_sequence() != nullptr; })
      .def_prop_ro("warnings", [](StudyHandle& self) { return self->warnings(); });
}

}  // namespace

void bind_study(nb::module_& m) {
  nb::class_<study::Step>(m, "Step", "A control to apply, and the number of its step.")
      .def_ro("id", &study::Step::id)
      .def_ro("sequence", &study::Step::sequence)
      .def_ro("choice", &study::Step::choice)
      .def_prop_ro(
          "control", [](const study::Step& step) { return Vector(step.choice.control); }, "(P,)");

  nb::class_<StudyHandle> c(m, "Study", "Ask and tell, kept in a file.");
  c.def_static(
       "create",
       [](const std::string& path, const std::string& config, const std::string& name) {
         return new StudyHandle(Study::create(path, config, name));
       },
       nb::arg("path"), nb::arg("config"), nb::arg("name"))
      .def_static(
          "open",
          [](const std::string& path, const std::string& access) {
            return new StudyHandle(Study::open(path, access == "read"     ? study::Access::kRead
                                                     : access == "repair" ? study::Access::kRepair
                                                                          : study::Access::kWrite));
          },
          nb::arg("path"), nb::arg("access"))
      .def("close", &StudyHandle::close)
      .def_prop_ro("is_open", &StudyHandle::is_open)
      .def("ask", &StudyHandle::ask, nb::arg("train"))
      .def("suggest", &StudyHandle::suggest, nb::arg("train"));
  bind_changes(c);
  bind_state(c);
  m.def("is_study", &study::is_study, nb::arg("path"));
  m.def(
      "check_config",
      [](const std::string& text, const std::string& name) {
        const study::StudyConfig config = study::parse_config(text, name);
        return std::make_pair(config.model.inputs, config.model.outputs);
      },
      nb::arg("text"), nb::arg("name"), "Reads a configuration; the names of its inputs and outputs.");
}

}  // namespace gpilot::python
