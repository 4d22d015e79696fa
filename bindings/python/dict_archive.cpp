#include "dict_archive.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"
#include "gpilot/explore/region.hpp"

namespace gpilot::python {

std::string DictArchive::path(std::string_view key) const {
  return what_.empty() ? std::string(key) : fmt::format("{}.{}", what_, key);
}

std::optional<nb::object> DictArchive::find(const Field& field) {
  known_.emplace_back(field.key);
  if (!values_.contains(field.key)) {
    return std::nullopt;
  }
  return nb::object(values_[field.key]);
}

void DictArchive::require(const Field& field, const std::string& complaint) const {
  if (!complaint.empty()) {
    throw InputError(fmt::format("{}: {}", path(field.key), complaint));
  }
}

void DictArchive::wrong_type(const Field& field, std::string_view expected, nb::handle value) const {
  const std::string type = nb::cast<std::string>(value.type().attr("__name__"));
  throw nb::type_error(fmt::format("{}: expected {}, not {}", path(field.key), expected, type).c_str());
}

void DictArchive::word(const Field& field, std::string& value, const std::vector<std::string>& known) {
  if (const auto given = find(field)) {
    if (!nb::isinstance<nb::str>(*given)) {
      wrong_type(field, "a text", *given);
    }
    const auto text = nb::cast<std::string>(*given);
    require(field, options::complaint(field.key, text, known));
    value = text;
  }
}

std::int64_t DictArchive::read_count(const Field& field, std::int64_t value, std::int64_t lowest,
                                     std::int64_t highest) {
  const auto given = find(field);
  if (!given) {
    return value;
  }
  if (nb::isinstance<nb::bool_>(*given) || PyIndex_Check(given->ptr()) == 0) {
    wrong_type(field, options::expectation(lowest, highest), *given);
  }
  int overflow = 0;
  const nb::object whole = nb::steal(PyNumber_Index(given->ptr()));
  const std::int64_t number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  require(field, overflow != 0 ? fmt::format("expected {}, not {}", options::expectation(lowest, highest),
                                             nb::cast<std::string>(nb::str(whole)))
                               : options::complaint(number, lowest, highest));
  return number;
}

void DictArchive::seed(const Field& field, std::uint64_t& value) {
  value = static_cast<std::uint64_t>(read_count(field, static_cast<std::int64_t>(value), 0, options::kLargestSeed));
}

void DictArchive::optional_count(const Field& field, std::optional<Index>& value, std::int64_t lowest,
                                 std::int64_t highest) {
  if (values_.contains(field.key) && !nb::object(values_[field.key]).is_none()) {
    value = read_count(field, 0, lowest, highest);
  } else {
    known_.emplace_back(field.key);
  }
}

void DictArchive::number(const Field& field, double& value, NumberRule rule) {
  const auto given = find(field);
  if (!given || given->is_none()) {
    return;
  }
  const double number = PyFloat_AsDouble(given->ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    wrong_type(field, options::expectation(rule), *given);
  }
  require(field, options::complaint(number, rule));
  value = number;
}

void DictArchive::flag(const Field& field, bool& value) {
  if (const auto given = find(field)) {
    if (!nb::isinstance<nb::bool_>(*given)) {
      wrong_type(field, "True or False", *given);
    }
    value = nb::cast<bool>(*given);
  }
}

void DictArchive::region(const Field& field, std::vector<ssm::Range>& value) {
  if (const auto given = find(field)) {
    if (!nb::isinstance<nb::str>(*given)) {
      wrong_type(field, "a text such as \"y=-0.5:0.5\"", *given);
    }
    value = explore::parse_region(nb::cast<std::string>(*given));
  }
}

void DictArchive::finish() const {
  for (const auto& [key, value] : values_) {
    const std::string name = nb::cast<std::string>(nb::str(key));
    if (std::ranges::find(known_, name) == known_.end()) {
      throw InputError(path(name) + ": " + unknown_name_message("option", name, known_));
    }
  }
}

}  // namespace gpilot::python
