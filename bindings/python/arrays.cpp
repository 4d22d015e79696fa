#include "arrays.hpp"

#include <cmath>

namespace gpilot::python {

namespace {

bool is_value(double number, bool missing) {
  return std::isfinite(number) || (missing && std::isnan(number));
}

/// A float or an int, but no bool and nothing that would have to be converted.
bool plain_number(PyObject* object, double& number) {
  if (PyFloat_Check(object)) {
    number = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (!PyLong_CheckExact(object)) {
    return false;
  }
  number = PyLong_AsDouble(object);
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  return true;
}

bool plain_numbers(nb::handle value, bool missing, Vector& numbers) {
  if (numbers.size() == 1 && plain_number(value.ptr(), numbers(0))) {
    return is_value(numbers(0), missing);
  }
  PyObject* sequence = value.ptr();
  if (!(PyList_CheckExact(sequence) || PyTuple_CheckExact(sequence)) ||
      PySequence_Fast_GET_SIZE(sequence) != numbers.size()) {
    return false;
  }
  for (Index i = 0; i < numbers.size(); ++i) {
    if (!plain_number(PySequence_Fast_GET_ITEM(sequence, i), numbers(i)) || !is_value(numbers(i), missing)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Vector numbers(const char* name, nb::handle value, Index size, bool missing) {
  Vector result(size);
  if (!plain_numbers(value, missing, result)) {
    const nb::object vector = nb::module_::import_("gpilot._data").attr("vector");
    result = nb::cast<Vector>(vector(name, value, size, missing));
  }
  return result;
}

std::optional<Vector> numbers_or_none(const char* name, nb::handle value, Index size) {
  return value.is_none() ? std::nullopt : std::optional(numbers(name, value, size));
}

}  // namespace gpilot::python
