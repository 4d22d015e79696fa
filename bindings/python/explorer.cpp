#include "gpilot/explore/explorer.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrays.hpp"
#include "call.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/plan/limited_choice.hpp"
#include "gpilot/plan/maximise.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/study/config.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

/// What a criterion of the user's looks at: the model and the state of the moment a control is chosen. User units. It
/// is there for the time of that choice only.
class Decision {
 public:
  Decision(const plan::DecisionContext& context, std::shared_ptr<const ssm::Model> model)
      : context_(context), model_(std::move(model)) {}

  Index step() const { return context_.step; }
  std::optional<Model> model() const { return model_or_none(model_); }
  Vector state_mean() const { return user_state(context_.belief.mean); }
  Matrix state_covariance() const { return user_covariance(context_.belief.covariance); }
  std::pair<Vector, Vector> box() const { return {user_control(context_.box.low), user_control(context_.box.high)}; }

  /// Mean and covariance of the next state under a control, process noise included.
  std::pair<Vector, Matrix> next_state(const Vector& control) const {
    const ssm::StateBelief next = predicted(control);
    return {user_state(next.mean), user_covariance(next.covariance)};
  }
  /// Mean and standard deviation of the next outputs, their noise included.
  std::pair<Vector, Vector> next_outputs(const Vector& control) const {
    Vector mean;
    Vector variance;
    ssm::Filter(context_.transition, context_.nodes).outputs(predicted(control), mean, variance);
    const ssm::Scaling& s = model_->scaling;
    return {s.output_offset + s.output_scale.cwiseProduct(mean), s.output_scale.cwiseProduct(variance.cwiseSqrt())};
  }
  /// Mean and standard deviation of the learned function at the mean of the state, noise apart.
  std::pair<Vector, Vector> function(const Vector& control) const {
    const ssm::NextState next = Model(model_).transition(state_mean().transpose(), control.transpose());
    return {next.mean.row(0).transpose(), next.sd.row(0).transpose()};
  }

  Vector user_control(VectorRef scaled) const {
    return model_->scaling.control_offset + model_->scaling.control_scale.cwiseProduct(scaled);
  }

 private:
  ssm::StateBelief predicted(const Vector& control) const {
    const ssm::Scaling& s = model_->scaling;
    if (control.size() != s.control_offset.size()) {
      throw InputError("control: expected a value for each input");
    }
    return ssm::Filter(context_.transition, context_.nodes)
        .predict(context_.belief, (control - s.control_offset).cwiseQuotient(s.control_scale));
  }
  Vector user_state(VectorRef scaled) const {
    return model_->scaling.state_offset + model_->scaling.state_scale.cwiseProduct(scaled);
  }
  Matrix user_covariance(const Matrix& scaled) const {
    return model_->scaling.state_scale.asDiagonal() * scaled * model_->scaling.state_scale.asDiagonal();
  }

  const plan::DecisionContext& context_;
  std::shared_ptr<const ssm::Model> model_;
};

/// A criterion that Python evaluates.
class PythonCriterion : public plan::Criterion {
 public:
  PythonCriterion(const Decision& decision, nb::handle function) : decision_(decision), function_(function) {}

  bool has_gradient() const override { return false; }
  double value(VectorRef control, Vector* /*gradient*/) const override {
    const Vector user = decision_.user_control(control);
    const nb::gil_scoped_acquire acquire;
    const nb::object result = function_(nb::cast(&decision_, nb::rv_policy::reference), user);
    const double number = PyFloat_AsDouble(result.ptr());
    if (number == -1.0 && PyErr_Occurred() != nullptr) {
      throw nb::python_error();
    }
    return number;
  }

 private:
  const Decision& decision_;
  nb::handle function_;
};

class ExplorerHandle;

/// Maximises a criterion of the user's over the control box.
class PythonStrategy : public plan::Strategy {
 public:
  PythonStrategy(nb::object function, const ExplorerHandle& owner) : function_(std::move(function)), owner_(owner) {}
  ~PythonStrategy() override {
    const nb::gil_scoped_acquire acquire;
    function_.reset();
  }
  PythonStrategy(const PythonStrategy&) = delete;
  PythonStrategy& operator=(const PythonStrategy&) = delete;

  plan::Choice choose(const plan::DecisionContext& context) const override;
  std::unique_ptr<plan::Criterion> criterion(const plan::DecisionContext& /*context*/) const override {
    return nullptr;
  }

 private:
  nb::object function_;
  const ExplorerHandle& owner_;
};

/// An Explorer that can be interrupted. Its strategy, if Python made it, finds the model here.
class ExplorerHandle {
 public:
  ExplorerHandle(const std::string& config, nb::object criterion) {
    const study::StudyConfig parsed = study::parse_config(config, "config");
    if (criterion.is_none()) {
      explorer_ = std::make_unique<explore::Explorer>(parsed.model, parsed.box, parsed.explore);
    } else {
      explorer_ = std::make_unique<explore::Explorer>(parsed.model, parsed.box, parsed.explore,
                                                      std::make_unique<PythonStrategy>(std::move(criterion), *this));
    }
  }
  ~ExplorerHandle() = default;
  ExplorerHandle(const ExplorerHandle&) = delete;
  ExplorerHandle& operator=(const ExplorerHandle&) = delete;

  explore::Explorer& operator*() { return *explorer_; }
  explore::Explorer* operator->() { return explorer_.get(); }
  const explore::Explorer* operator->() const { return explorer_.get(); }

  plan::Choice ask() {
    Call call;
    explorer_->set_stop(call.stop());
    try {
      plan::Choice choice = call.run([&] { return plan::Choice(explorer_->ask()); });
      explorer_->set_stop(nullptr);
      return choice;
    } catch (...) {
      explorer_->set_stop(nullptr);
      throw;
    }
  }

 private:
  std::unique_ptr<explore::Explorer> explorer_;
};

plan::Choice PythonStrategy::choose(const plan::DecisionContext& context) const {
  const Decision decision(context, owner_->model());
  const PythonCriterion criterion(decision, function_);
  return context.limited() ? plan::safe_maximum(context, criterion) : plan::maximise(criterion, context.box);
}

Vector explored_outputs(const ExplorerHandle& handle, nb::handle outputs) {
  return numbers("y", outputs, static_cast<Index>(handle->spec().outputs.size()), true);
}

Data data_of(const explore::Explorer& explorer) {
  return {.sequences = explorer.data(),
          .inputs = explorer.spec().inputs,
          .outputs = explorer.spec().outputs,
          .dt = explorer.spec().dt};
}

void bind_decision(nb::module_& m) {
  nb::class_<plan::Choice>(m, "Choice", "A control that was decided on, and what was known about it then.")
      .def_prop_ro(
          "control", [](const plan::Choice& c) { return Vector(c.control); }, "What to apply (P,).")
      .def_prop_ro(
          "phase", [](const plan::Choice& c) { return std::string(plan::name(c.phase)); },
          "Who decided: random, chosen, safe or imported.")
      .def_ro("step", &plan::Choice::step)
      .def_ro("criterion", &plan::Choice::criterion, "Its value at the control; NaN if there is none.")
      .def_ro("evaluations", &plan::Choice::evaluations)
      .def_prop_ro(
          "plan", [](const plan::Choice& c) { return Matrix(c.plan); },
          "This control and those planned after it (horizon, P), or empty.")
      .def_prop_ro(
          "landscape", [](const plan::Choice& c) { return Matrix(c.landscape); },
          "Criterion over the box (points, P + 1), or empty.")
      .def_ro("violation", &plan::Choice::violation,
              "Probability under the model that outputs leave their limits; NaN without limits.")
      .def_ro("safe", &plan::Choice::safe, "False if no control was found that keeps the limits.")
      .def_ro("reference_sd", &plan::Choice::reference_sd)
      .def_ro("note", &plan::Choice::note)
      .def_ro("fallback", &plan::Choice::fallback);

  nb::class_<Decision>(m, "Decision", "What a criterion looks at. It holds for the time of one choice.")
      .def_prop_ro("step", &Decision::step)
      .def_prop_ro("model", &Decision::model)
      .def_prop_ro("state_mean", &Decision::state_mean, "Of the current state (D,).")
      .def_prop_ro("state_covariance", &Decision::state_covariance, "(D, D)")
      .def_prop_ro("box", &Decision::box, "Lowest and highest control, two arrays (P,).")
      .def("next_state", &Decision::next_state, nb::arg("control"),
           "Mean (D,) and covariance (D, D) of the next state under a control.")
      .def("next_outputs", &Decision::next_outputs, nb::arg("control"),
           "Mean (E,) and standard deviation (E,) of the next outputs, noise included.")
      .def("function", &Decision::function, nb::arg("control"),
           "Mean (D,) and standard deviation (D,) of the learned function at the mean of the state.");
}

}  // namespace

void bind_explorer(nb::module_& m) {
  bind_decision(m);
  nb::class_<ExplorerHandle>(m, "Explorer", "Ask and tell in memory.")
      .def(nb::init<const std::string&, nb::object>(), nb::arg("config"), nb::arg("criterion").none())
      .def("ask", &ExplorerHandle::ask)
      .def(
          "tell",
          [](ExplorerHandle& self, nb::handle outputs, nb::handle applied) {
            const Vector y = explored_outputs(self, outputs);
            const std::optional<Vector> u = numbers_or_none("applied", applied, self->box().low.size());
            u ? self->tell(*u, y) : self->tell(y);
          },
          nb::arg("outputs"), nb::arg("applied").none() = nb::none())
      .def(
          "begin_sequence",
          [](ExplorerHandle& self, bool broad_start, nb::handle outputs) {
            self->begin_sequence(broad_start, outputs.is_none() ? Vector() : explored_outputs(self, outputs));
          },
          nb::arg("broad_start"), nb::arg("outputs").none())
      .def("end_sequence", [](ExplorerHandle& self) { self->end_sequence(); })
      .def(
          "sure_enough",
          [](const ExplorerHandle& self, const plan::Choice& choice) { return self->sure_enough(choice); },
          nb::arg("choice"))
      .def_prop_ro("model", [](const ExplorerHandle& self) { return model_or_none(self->model()); })
      .def_prop_ro("measurements", [](const ExplorerHandle& self) { return self->measurements(); })
      .def_prop_ro("data", [](ExplorerHandle& self) { return data_of(*self); })
      .def_prop_ro("inputs", [](const ExplorerHandle& self) { return self->spec().inputs; })
      .def_prop_ro("outputs", [](const ExplorerHandle& self) { return self->spec().outputs; })
      .def_prop_ro("box", [](const ExplorerHandle& self) { return std::make_pair(self->box().low, self->box().high); })
      .def_prop_ro("safe", [](const ExplorerHandle& self) {
        const Vector& safe = self->options().safe;
        return safe.size() > 0 ? safe : Vector(Vector::Zero(self->box().low.size()));
      });
}

}  // namespace gpilot::python
