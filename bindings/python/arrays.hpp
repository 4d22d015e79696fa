#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>

#include "gpilot/core/types.hpp"

namespace gpilot::python {

namespace nb = nanobind;

/// A numpy array of any layout in, [rows x columns]; copied by whoever keeps it.
using ArrayIn = nb::DRef<const Matrix>;
using VectorIn = nb::DRef<const Vector>;

using MatrixView = nb::ndarray<nb::numpy, const double, nb::ndim<2>>;
using VectorView = nb::ndarray<nb::numpy, const double, nb::ndim<1>>;

/// A read-only array that shows a matrix without copying it; `owner` is the Python object that the matrix lives in.
inline MatrixView view(const Matrix& values, nb::handle owner) {
  const auto rows = static_cast<std::size_t>(values.rows());
  const auto columns = static_cast<std::size_t>(values.cols());
  return MatrixView(values.data(), {rows, columns}, owner, {1, static_cast<std::int64_t>(rows)});
}

inline VectorView view(const Vector& values, nb::handle owner) {
  return VectorView(values.data(), {static_cast<std::size_t>(values.size())}, owner);
}

/// So many numbers from what a user gave: a number, a list, an array. Where one looks like a mistake (and where it
/// takes more than a glance) gpilot._data.vector decides, which raises what the user is to read. Answers come one at a
/// time and often: what numpy needs to look at one took a tenth of the time of storing it.
Vector numbers(const char* name, nb::handle value, Index size, bool missing = false);
std::optional<Vector> numbers_or_none(const char* name, nb::handle value, Index size);

}  // namespace gpilot::python
