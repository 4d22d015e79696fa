#include "gpilot/io/json_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gpilot::io {

namespace {

using Json = JsonReader::Json;

/// exp(kLargestLogarithm) = 1e100.
constexpr double kLargestLogarithm = 230.25850929940458;

bool allowed(double value, Rule rule) {
  switch (rule) {
    case Rule::kFinite:
    case Rule::kNullable:
      return std::isfinite(value);
    case Rule::kPositive:
      return std::isfinite(value) && value > 0.0;
    case Rule::kNotNegative:
      return std::isfinite(value) && value >= 0.0;
    case Rule::kLogarithm:
      return std::abs(value) <= kLargestLogarithm;
  }
  return false;
}

std::string_view expectation(Rule rule) {
  switch (rule) {
    case Rule::kFinite:
      return "a finite number";
    case Rule::kPositive:
      return "a positive number";
    case Rule::kNotNegative:
      return "a number of at least 0";
    case Rule::kLogarithm:
      return "a logarithm between -230 and 230";
    case Rule::kNullable:
      return "a finite number or null";
  }
  return "";
}

/// "the text \"abc\"", "an object", "3": what stands where something else was expected. Never long.
std::string found(const Json& value) {
  if (value.is_object()) {
    return "an object";
  }
  if (value.is_array()) {
    return fmt::format("an array of {}", value.size());
  }
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kLongest) {
    text.resize(kLongest);
    text += "..";
  }
  return text;
}

void append(std::string& text, const JsonWriter::Json& value, std::size_t indent) {
  const bool nested = value.is_array() && !value.empty() && value.front().is_structured();
  if (value.empty() || !(value.is_object() || nested)) {
    text += value.dump();
    return;
  }
  const std::string margin(indent + 1, ' ');
  text += value.is_object() ? "{\n" : "[\n";
  std::size_t left = value.size();
  for (const auto& [key, entry] : value.items()) {
    text += margin;
    if (value.is_object()) {
      text += JsonWriter::Json(key).dump() + ": ";
    }
    append(text, entry, indent + 1);
    text += --left > 0 ? ",\n" : "\n";
  }
  text.append(indent, ' ');
  text += value.is_object() ? '}' : ']';
}

}  // namespace

void JsonWriter::vector(const char* key, const Vector& values, Index /*size*/, Rule /*rule*/) {
  json_[key] = std::vector<double>(values.begin(), values.end());
}

void JsonWriter::matrix(const char* key, const Matrix& values, Index /*rows*/, Index /*cols*/, Rule /*rule*/) {
  Json rows = Json::array();
  for (Index i = 0; i < values.rows(); ++i) {
    const Vector row = values.row(i);
    rows.push_back(std::vector<double>(row.begin(), row.end()));
  }
  json_[key] = std::move(rows);
}

std::string JsonWriter::format() const {
  std::string text;
  append(text, json_, 0);
  return text + '\n';
}

JsonReader::JsonReader(const Json& json, const std::string& file, std::string path)
    : json_(json), file_(file), path_(std::move(path)) {
  if (!json.is_object()) {
    fail(path_, fmt::format("expected an object, found {}", found(json)));
  }
}

void JsonReader::fail(const std::string& path, std::string_view message) const {
  throw InputError(fmt::format("{}: damaged model file: {}: {}", file_, path.empty() ? "the whole" : path, message));
}

std::string JsonReader::join(const char* key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

std::string JsonReader::element(const std::string& path, std::size_t i) {
  return fmt::format("{}[{}]", path, i);
}

const Json& JsonReader::at(const char* key) const {
  const auto found_at = json_.find(key);
  if (found_at == json_.end()) {
    fail(join(key), "the key is missing");
  }
  return *found_at;
}

const Json& JsonReader::array(const char* key) const {
  const Json& value = at(key);
  if (!value.is_array()) {
    fail(join(key), fmt::format("expected an array, found {}", found(value)));
  }
  return value;
}

void JsonReader::check_size(const Json& entries, Index size, const std::string& path, std::string_view of) const {
  if (!entries.is_array() || static_cast<Index>(entries.size()) != size) {
    fail(path, fmt::format("expected an array of {} {}, found {}", size, of, found(entries)));
  }
}

double JsonReader::read_number(const Json& value, Rule rule, const std::string& path) const {
  if (rule == Rule::kNullable && value.is_null()) {
    return kNaN;
  }
  if (!value.is_number() || !allowed(value.get<double>(), rule)) {
    fail(path, fmt::format("expected {}, found {}", expectation(rule), found(value)));
  }
  return value.get<double>();
}

Index JsonReader::read_count(const Json& value, Index lowest, Index highest, const std::string& path) const {
  const auto too_large = [](const Json& v) {
    return v.is_number_unsigned() && v.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  };
  if (!value.is_number_integer() || too_large(value) || value.get<Index>() < lowest || value.get<Index>() > highest) {
    fail(path, fmt::format("expected a whole number from {} to {}, found {}", lowest, highest, found(value)));
  }
  return value.get<Index>();
}

void JsonReader::flag(const char* key, bool& value) const {
  const Json& entry = at(key);
  if (!entry.is_boolean()) {
    fail(join(key), fmt::format("expected true or false, found {}", found(entry)));
  }
  value = entry.get<bool>();
}

void JsonReader::text(const char* key, std::string& value) const {
  const Json& entry = at(key);
  if (!entry.is_string()) {
    fail(join(key), fmt::format("expected a text, found {}", found(entry)));
  }
  value = entry.get<std::string>();
}

void JsonReader::texts(const char* key, std::vector<std::string>& values) const {
  const Json& entries = array(key);
  values.clear();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].is_string()) {
      fail(element(join(key), i), fmt::format("expected a text, found {}", found(entries[i])));
    }
    values.push_back(entries[i].get<std::string>());
  }
}

void JsonReader::counts(const char* key, std::vector<Index>& values) const {
  const Json& entries = array(key);
  values.clear();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    values.push_back(read_count(entries[i], 0, std::numeric_limits<Index>::max(), element(join(key), i)));
  }
}

void JsonReader::seed(const char* key, std::uint64_t& value) const {
  const Json& entry = at(key);
  if (!entry.is_number_unsigned()) {
    fail(join(key), fmt::format("expected a whole number from 0 to 2^64 - 1, found {}", found(entry)));
  }
  value = entry.get<std::uint64_t>();
}

void JsonReader::number(const char* key, double& value, Rule rule) const {
  value = read_number(at(key), rule, join(key));
}

void JsonReader::numbers(const char* key, std::vector<double>& values, Rule rule) const {
  Vector read;
  vector(key, read, static_cast<Index>(array(key).size()), rule);
  values.assign(read.begin(), read.end());
}

void JsonReader::vector(const char* key, Vector& values, Index size, Rule rule) const {
  const Json& entries = array(key);
  const std::string path = join(key);
  check_size(entries, size, path, "numbers");
  values.resize(size);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Json& entry = entries[i];
    const bool plain = entry.is_number() && allowed(entry.get<double>(), rule);
    values(static_cast<Index>(i)) = plain ? entry.get<double>() : read_number(entry, rule, element(path, i));
  }
}

void JsonReader::matrix(const char* key, Matrix& values, Index rows, Index cols, Rule rule) const {
  const Json& entries = array(key);
  const std::string path = join(key);
  check_size(entries, rows, path, "rows");
  // Before anything is allocated: the text itself is then as large as what it asks for.
  for (std::size_t i = 0; i < entries.size(); ++i) {
    check_size(entries[i], cols, element(path, i), "numbers");
  }
  values.resize(rows, cols);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (std::size_t j = 0; j < entries[i].size(); ++j) {
      const Json& entry = entries[i][j];
      const bool plain = entry.is_number() && allowed(entry.get<double>(), rule);
      values(static_cast<Index>(i), static_cast<Index>(j)) =
          plain ? entry.get<double>() : read_number(entry, rule, element(element(path, i), j));
    }
  }
}

void JsonReader::vector_or_empty(const char* key, Vector& values, Index size, Rule rule) const {
  vector(key, values, array(key).empty() ? 0 : size, rule);
}

void JsonReader::matrix_or_empty(const char* key, Matrix& values, Index rows, Index cols, Rule rule) const {
  const bool empty = array(key).empty();
  matrix(key, values, empty ? 0 : rows, empty ? 0 : cols, rule);
}

}  // namespace gpilot::io
