#include "gpilot/rig/rig.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrays.hpp"
#include "gpilot/study/config.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

nb::object or_none(const std::optional<double>& value) {
  return value ? nb::cast(*value) : nb::none();
}

DictList channels(const std::vector<rig::DeclaredChannel>& declared) {
  nb::list result;
  for (const rig::DeclaredChannel& channel : declared) {
    nb::dict entry;
    entry["name"] = channel.name;
    entry["unit"] = channel.unit;
    entry["low"] = or_none(channel.low);
    entry["high"] = or_none(channel.high);
    entry["safe"] = or_none(channel.safe);
    entry["slew"] = or_none(channel.slew);
    result.append(entry);
  }
  return result;
}

Dict traits_dict(const rig::RigTraits& traits) {
  nb::dict result;
  result["can_reset"] = traits.can_reset;
  result["idempotent"] = traits.idempotent;
  result["dt"] = or_none(traits.dt);
  result["inputs"] = channels(traits.inputs);
  result["outputs"] = channels(traits.outputs);
  return result;
}

Dict answer_dict(const rig::RigAnswer& answer) {
  nb::dict result;
  result["status"] = answer.status == rig::RigStatus::kOk       ? "ok"
                     : answer.status == rig::RigStatus::kFailed ? "failed"
                                                                : "unsafe";
  result["message"] = answer.message;
  result["outputs"] = answer.outputs ? nb::cast(*answer.outputs) : nb::none();
  result["applied"] = answer.applied ? nb::cast(*answer.applied) : nb::none();
  result["time"] = or_none(answer.time);
  result["done"] = answer.done;
  return result;
}

rig::RigOptions options_of(const std::string& command, double start_s, double deadline_s, double reset_s,
                           double close_s, const std::string& log) {
  return {.command = command,
          .start_s = start_s,
          .deadline_s = deadline_s,
          .reset_s = reset_s,
          .close_s = close_s,
          .log = log};
}

}  // namespace

void bind_rig(nb::module_& m) {
  using Answer = rig::RigAnswer;
  nb::class_<rig::Rig>(m, "RigProcess", "A process that speaks the rig protocol.")
      .def(
          "__init__",
          [](rig::Rig* self, const std::string& command, double dt, std::vector<std::string> inputs,
             std::vector<std::string> outputs, double start_s, double deadline_s, double reset_s, double close_s,
             const std::string& log) {
            const nb::gil_scoped_release release;
            new (self) rig::Rig(options_of(command, start_s, deadline_s, reset_s, close_s, log),
                                {.dt = dt, .inputs = std::move(inputs), .outputs = std::move(outputs)});
          },
          nb::arg("command"), nb::arg("dt"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("start_s"),
          nb::arg("deadline_s"), nb::arg("reset_s"), nb::arg("close_s"), nb::arg("log"))
      .def_prop_ro("traits", [](const rig::Rig& self) { return traits_dict(self.traits()); })
      .def(
          "reset",
          [](rig::Rig& self, std::optional<Index> seed) {
            Answer answer;
            {
              const nb::gil_scoped_release release;
              answer = self.reset(seed);
            }
            return answer_dict(answer);
          },
          nb::arg("seed").none())
      .def(
          "step",
          [](rig::Rig& self, Index id, const Vector& control) {
            Answer answer;
            {
              const nb::gil_scoped_release release;
              answer = self.step(id, control);
            }
            return answer_dict(answer);
          },
          nb::arg("id"), nb::arg("control"))
      .def(
          "safe",
          [](rig::Rig& self, const Vector& control) {
            Answer answer;
            {
              const nb::gil_scoped_release release;
              answer = self.safe(control);
            }
            return answer_dict(answer);
          },
          nb::arg("control"))
      .def("close", &rig::Rig::close, nb::arg("safe_control"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("running", &rig::Rig::running)
      .def_prop_ro("process_id", &rig::Rig::process_id);

  m.def(
      "describe_rig",
      [](const std::string& command, double start_s, double close_s) {
        rig::RigTraits traits;
        {
          const nb::gil_scoped_release release;
          traits = rig::Rig::describe(options_of(command, start_s, 2.0, 10.0, close_s, ""));
        }
        return traits_dict(traits);
      },
      nb::arg("command"), nb::arg("start_s"), nb::arg("close_s"));
  m.def("reset_seed", &rig::reset_seed, nb::arg("study_seed"), nb::arg("sequence"));
}

}  // namespace gpilot::python
