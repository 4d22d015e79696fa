#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "arrays.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/options/kernel_name.hpp"
#include "gpilot/options/layout.hpp"
#include "gpilot/ssm/observed_states.hpp"
#include "modules.hpp"

namespace gpilot::python {

namespace {

using Names = std::vector<std::string>;

/// "se", "matern32+linear", "linear", as the command line takes it.
void take_kernel(const Dict& values, ssm::ModelSpec& spec) {
  std::string text;
  take(values, "kernel", text);
  if (!text.empty()) {
    options::set_kernel(spec, text, "kernel");
  }
}

}  // namespace

ssm::ModelSpec spec_from(const Dict& values) {
  ssm::ModelSpec spec;
  take(values, "inputs", spec.inputs);
  take(values, "outputs", spec.outputs);
  take(values, "states", spec.states);
  take(values, "dt", spec.dt);
  take(values, "inducing", spec.inducing);
  take_kernel(values, spec);
  std::string word;
  take(values, "mean", word);
  spec.mean = word.empty() ? spec.mean : ssm::mean_from_name(word);
  word.clear();
  take(values, "nodes", word);
  spec.nodes = word.empty() ? spec.nodes : gp::node_rule_from_name(word);
  take(values, "node_points", spec.node_points);
  std::vector<std::tuple<Index, Index>> derivatives;
  take(values, "derivatives", derivatives);
  for (const auto& [velocity, position] : derivatives) {
    spec.derivatives.push_back({velocity, position});
  }
  take(values, "angles", spec.angles);
  take(values, "x0_mean", spec.x0_mean);
  take(values, "x0_sd", spec.x0_sd);
  take(values, "offset", spec.d);
  take(values, "learn_emission", spec.learn_C);
  take(values, "learn_offset", spec.learn_d);
  take(values, "output_sd", spec.output_sd);
  take(values, "process_sd", spec.process_sd);
  std::vector<std::tuple<std::string, double, double>> ranges;
  take(values, "ranges", ranges);
  for (const auto& [name, low, high] : ranges) {
    spec.ranges.push_back({name, low, high});
  }
  take_knowledge(values, spec);
  take(values, "emission", spec.C);
  if (spec.C.size() == 0 && !spec.states.empty()) {
    spec.C = ssm::emission_matrix(ssm::observed_states(spec), static_cast<Index>(spec.states.size()));
  }
  return spec;
}

void bind_data(nb::module_& m) {
  nb::class_<Data>(m, "Data", "Recordings to learn from: sequences of controls (time, P) and outputs (time, E).")
      .def(
          "__init__",
          [](Data* self, Names inputs, Names outputs, double dt) {
            new (self) Data{.inputs = std::move(inputs), .outputs = std::move(outputs), .dt = dt};
          },
          nb::arg("inputs"), nb::arg("outputs"), nb::arg("dt"))
      .def(
          "add",
          [](Data& data, const ArrayIn& controls, const ArrayIn& outputs, bool broad_start) {
            data.sequences.push_back({.controls = controls, .outputs = outputs, .broad_start = broad_start});
          },
          nb::arg("controls"), nb::arg("outputs"), nb::arg("broad_start") = false, "Adds a sequence; copies it.")
      .def_static("read_csv", &Data::read_csv, nb::arg("files"), nb::arg("inputs"), nb::arg("outputs"),
                  nb::arg("dt") = nb::none(), nb::call_guard<nb::gil_scoped_release>())
      .def_ro("inputs", &Data::inputs)
      .def_ro("outputs", &Data::outputs)
      .def_ro("dt", &Data::dt)
      .def("__len__", [](const Data& data) { return data.sequences.size(); })
      .def(
          "controls",
          [](nb::handle self, std::size_t k) {
            return view(nb::cast<const Data&>(self).sequences.at(k).controls, self);
          },
          nb::arg("sequence"), "Of a sequence, read-only (time, P).")
      .def(
          "outputs_of",
          [](nb::handle self, std::size_t k) {
            return view(nb::cast<const Data&>(self).sequences.at(k).outputs, self);
          },
          nb::arg("sequence"), "Of a sequence, read-only (time, E).");
}

}  // namespace gpilot::python
