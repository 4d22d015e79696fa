#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/typing.h>

#include <memory>
#include <optional>

#include "gpilot/model.hpp"
#include "gpilot/plan/choice.hpp"

/// The parts of the module, a function each; module.cpp calls them in this order.
namespace gpilot::python {

namespace nb = nanobind;

/// With their types in the stubs.
using Dict = nb::typed<nb::dict, nb::str, nb::any>;
using DictList = nb::typed<nb::list, Dict>;

void bind_data(nb::module_& m);
void bind_model(nb::module_& m);
void bind_explorer(nb::module_& m);
void bind_study(nb::module_& m);
void bind_rig(nb::module_& m);
void bind_systems(nb::module_& m);
void bind_compare(nb::module_& m);

/// A shared model as Python sees it, or None.
std::optional<Model> model_or_none(const std::shared_ptr<const ssm::Model>& model);

/// A spec from a dict: inputs, outputs, states, dt, kernel ("se+linear"), .. as gpilot/_gpssm.py writes it. What is not
/// given has its default. An emission that is not given follows from the names, as on the command line.
ssm::ModelSpec spec_from(const Dict& values);
/// What is known about the functions, as gpilot/_knowledge.py writes it.
void take_knowledge(const Dict& values, ssm::ModelSpec& spec);
/// The same of a spec, as GPSSM takes it.
void put_knowledge(const ssm::ModelSpec& spec, nb::dict& values);

/// A value of a dict, if it is there and not None.
template <class Value>
void take(const Dict& values, const char* key, Value& value) {
  if (values.contains(key) && !nb::object(values[key]).is_none()) {
    value = nb::cast<Value>(values[key]);
  }
}

}  // namespace gpilot::python
