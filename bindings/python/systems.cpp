#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "arrays.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

using systems::System;
using namespace nb::literals;

/// A system whose transition is a function of the user's.
class PythonSystem : public System {
 public:
  PythonSystem(systems::SystemSpec spec, nb::object transition)
      : System(std::move(spec), systems::Variant::kCorrected), transition_(std::make_shared<Function>(transition)) {}

  bool is_map() const override { return false; }  // so that models of it are tested by free runs
  Vector next(const VectorRef& x, const VectorRef& c) const override {
    check_sizes(x, c);
    const nb::gil_scoped_acquire acquire;
    const nb::object array = nb::module_::import_("numpy").attr("asarray");
    const nb::object result = array(transition_->call(Vector(x), Vector(c)), "dtype"_a = "float64").attr("ravel")();
    const auto next = nb::cast<Vector>(result);
    if (next.size() != x.size()) {
      throw InputError(fmt::format("transition of {}: shape ({},), expected ({},): a value for each state", spec().name,
                                   next.size(), x.size()));
    }
    return next;
  }
  Vector derivative(const VectorRef& /*x*/, const VectorRef& /*c*/) const override {
    throw std::logic_error("a system that is given by its steps has no derivative");
  }
  std::unique_ptr<System> clone() const override { return std::make_unique<PythonSystem>(*this); }
  std::vector<systems::Parameter> parameters() const override { return {}; }

 protected:
  bool assign_parameter(std::string_view /*name*/, double /*value*/) override { return false; }

 private:
  /// Copies of a system are made and dropped by threads without the GIL: they share one reference.
  struct Function {
    nb::object call;
    explicit Function(nb::object function) : call(std::move(function)) {}
    ~Function() {
      const nb::gil_scoped_acquire acquire;
      call.reset();
    }
    Function(const Function&) = delete;
    Function& operator=(const Function&) = delete;
  };
  std::shared_ptr<const Function> transition_;
};

std::vector<systems::Channel> channels(const nb::object& names) {
  std::vector<systems::Channel> result;
  for (std::string& name : nb::cast<std::vector<std::string>>(names)) {
    result.push_back({std::move(name), ""});
  }
  return result;
}

/// A system as gpilot/_systems.py describes it.
std::shared_ptr<System> define(const Dict& d) {
  systems::SystemSpec spec;
  spec.name = nb::cast<std::string>(d["name"]);
  spec.summary = "a system of one's own";
  spec.states = channels(d["states"]);
  spec.controls = channels(d["inputs"]);
  spec.outputs = channels(d["outputs"]);
  spec.dt = nb::cast<double>(d["dt"]);
  spec.control_box = {nb::cast<Vector>(d["low"]), nb::cast<Vector>(d["high"])};
  spec.x0_mean = nb::cast<Vector>(d["x0_mean"]);
  spec.x0_sd = nb::cast<Vector>(d["x0_sd"]);
  spec.process_sd = nb::cast<Vector>(d["process_sd"]);
  spec.output_sd = nb::cast<Vector>(d["output_sd"]);
  spec.emission = nb::cast<Matrix>(d["emission"]);
  spec.region = {nb::cast<Vector>(d["region_low"]), nb::cast<Vector>(d["region_high"])};
  for (const auto& [velocity, position] : nb::cast<std::vector<std::tuple<Index, Index>>>(d["derivatives"])) {
    spec.derivatives.push_back({velocity, position});
  }
  return std::make_shared<PythonSystem>(std::move(spec), d["transition"]);
}

Dict spec_of(const System& system) {
  const systems::SystemSpec& spec = system.spec();
  nb::dict result;
  result["name"] = spec.name;
  result["summary"] = spec.summary;
  result["states"] = systems::channel_names(spec.states);
  result["inputs"] = systems::channel_names(spec.controls);
  result["outputs"] = systems::channel_names(spec.outputs);
  result["dt"] = spec.dt;
  result["low"] = Vector(spec.control_box.low);
  result["high"] = Vector(spec.control_box.high);
  result["x0_mean"] = Vector(spec.x0_mean);
  result["x0_sd"] = Vector(spec.x0_sd);
  result["process_sd"] = Vector(spec.process_sd);
  result["output_sd"] = Vector(spec.output_sd);
  result["emission"] = Matrix(spec.emission);
  result["region_low"] = Vector(spec.region.low);
  result["region_high"] = Vector(spec.region.high);
  nb::dict derivatives;
  for (const systems::DerivativeRelation& d : spec.derivatives) {
    derivatives[spec.states[static_cast<std::size_t>(d.velocity)].name.c_str()] =
        spec.states[static_cast<std::size_t>(d.position)].name;
  }
  result["derivative_of"] = derivatives;
  return result;
}

Dict parameters_of(const System& system) {
  nb::dict result;
  for (const systems::Parameter& parameter : system.parameters()) {
    result[std::string(parameter.name).c_str()] = parameter.value;
  }
  return result;
}

systems::SimulateOptions options_of(std::uint64_t seed, std::uint32_t trial, const std::optional<Vector>& x0,
                                    const std::optional<Vector>& process_sd, const std::optional<Vector>& output_sd) {
  return {.seed = seed, .trial = trial, .x0 = x0, .process_sd = process_sd, .output_sd = output_sd};
}

}  // namespace

void bind_systems(nb::module_& m) {
  m.def("system_names", &systems::system_names);
  nb::class_<System>(m, "System", "A simulated system.")
      .def_static(
          "make", [](const std::string& name) { return std::shared_ptr<System>(systems::make_system(name)); },
          nb::arg("name"))
      .def_static("define", &define, nb::arg("definition"))
      .def_prop_ro("spec", &spec_of)
      .def_prop_ro("parameters", &parameters_of)
      .def("set_parameter", &System::set_parameter, nb::arg("name"), nb::arg("value"))
      .def(
          "next", [](const System& self, const Vector& x, const Vector& c) { return self.next(x, c); },
          nb::arg("state"), nb::arg("control"))
      .def(
          "simulate",
          [](const System& self, const ArrayIn& controls, std::uint64_t seed, std::uint32_t trial,
             const std::optional<Vector>& x0, const std::optional<Vector>& process_sd,
             const std::optional<Vector>& output_sd) {
            const Matrix c = controls;
            const systems::Trajectory run =
                systems::simulate(self, c, options_of(seed, trial, x0, process_sd, output_sd));
            return std::make_tuple(run.times, run.states, run.controls, run.outputs);
          },
          nb::arg("controls"), nb::arg("seed"), nb::arg("trial"), nb::arg("x0").none(), nb::arg("process_sd").none(),
          nb::arg("output_sd").none())
      .def(
          "random_controls",
          [](const System& self, Index steps, Index shortest, Index longest, std::uint64_t seed, std::uint32_t trial) {
            return systems::random_controls(self, steps, {.shortest = shortest, .longest = longest}, seed, trial);
          },
          nb::arg("steps"), nb::arg("shortest"), nb::arg("longest"), nb::arg("seed"), nb::arg("trial"))
      .def(
          "initial_state",
          [](const System& self, std::uint64_t seed, std::uint32_t trial) {
            return systems::Simulator(self, {.seed = seed, .trial = trial}).initial_state();
          },
          nb::arg("seed"), nb::arg("trial"))
      .def(
          "advance",
          [](const System& self, const Vector& x, const Vector& c, Index t, std::uint64_t seed, std::uint32_t trial) {
            return systems::Simulator(self, {.seed = seed, .trial = trial}).advance(x, c, t);
          },
          nb::arg("state"), nb::arg("control"), nb::arg("t"), nb::arg("seed"), nb::arg("trial"))
      .def(
          "measure",
          [](const System& self, const Vector& x, Index t, std::uint64_t seed, std::uint32_t trial) {
            return systems::Simulator(self, {.seed = seed, .trial = trial}).measure(x, t);
          },
          nb::arg("state"), nb::arg("t"), nb::arg("seed"), nb::arg("trial"));
}

}  // namespace gpilot::python
