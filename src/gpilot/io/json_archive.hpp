#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/types.hpp"
#include "gpilot/io/printable.hpp"

/// Two archives with one interface, so that a layout is written down once and serves both directions:
///
///   template <class Archive, class Point> void describe(Archive& file, Point& p) { file.number("x", p.x, kFinite); }
///
/// JsonWriter stores each value under its key; JsonReader fetches it and throws InputError, naming the file and the
/// path of the key, unless it has the type, the shape and the range that the layout asks for.
namespace gpilot::io {

/// What a number may be.
enum class Rule {
  kFinite,
  kPositive,     ///< finite and above 0
  kNotNegative,  ///< finite and at least 0
  kLogarithm,    ///< of something that a double holds with room to spare, so that its exponential and square exist
  kNullable,     ///< finite, or null for NaN
};

class JsonWriter {
 public:
  using Json = nlohmann::ordered_json;

  template <class Describe>
  void object(const char* key, Describe&& describe) {
    JsonWriter child;
    describe(child);
    json_[key] = std::move(child.json_);
  }

  template <class Items, class Describe>
  void list(const char* key, const Items& items, Describe&& describe) {
    Json entries = Json::array();
    for (const auto& item : items) {
      JsonWriter child;
      describe(child, item);
      entries.push_back(std::move(child.json_));
    }
    json_[key] = std::move(entries);
  }

  /// A list of known length.
  template <class Items, class Describe>
  void list(const char* key, const Items& items, Index /*size*/, Describe&& describe) {
    list(key, items, std::forward<Describe>(describe));
  }

  template <class Kind, class FromName>
  void word(const char* key, const Kind& kind, FromName&& /*from_name*/) {
    json_[key] = std::string(name(kind));
  }

  void flag(const char* key, const bool& value) { json_[key] = value; }
  void text(const char* key, const std::string& value) { json_[key] = value; }
  void texts(const char* key, const std::vector<std::string>& values) { json_[key] = values; }
  template <class Integer>
  void count(const char* key, const Integer& value, Index /*lowest*/, Index /*highest*/) {
    json_[key] = value;
  }
  void counts(const char* key, const std::vector<Index>& values) { json_[key] = values; }
  void seed(const char* key, const std::uint64_t& value) { json_[key] = value; }
  void number(const char* key, const double& value, Rule /*rule*/) { json_[key] = value; }
  void numbers(const char* key, const std::vector<double>& values, Rule /*rule*/) { json_[key] = values; }
  void vector(const char* key, const Vector& values, Index size, Rule rule);
  void matrix(const char* key, const Matrix& values, Index rows, Index cols, Rule rule);
  void vector_or_empty(const char* key, const Vector& values, Index size, Rule rule) {
    vector(key, values, size, rule);
  }
  void matrix_or_empty(const char* key, const Matrix& values, Index rows, Index cols, Rule rule) {
    matrix(key, values, rows, cols, rule);
  }
  /// A key that older files lack: always written.
  template <class Describe>
  void optional(const char* /*key*/, Describe&& describe) {
    describe();
  }
  template <class Check>
  void require(const char* /*key*/, Check&& /*check*/) {}

  /// Objects over several lines, a list of lists one entry a line, anything else on one line.
  std::string format() const;

 private:
  Json json_ = Json::object();
};

class JsonReader {
 public:
  using Json = nlohmann::json;

  /// `json` and `file` must outlive the reader. Throws if `json` is not an object.
  JsonReader(const Json& json, const std::string& file, std::string path);

  template <class Describe>
  void object(const char* key, Describe&& describe) {
    JsonReader child(at(key), file_, join(key));
    describe(child);
  }

  template <class Item, class Describe>
  void list(const char* key, std::vector<Item>& items, Describe&& describe) {
    const Json& entries = array(key);
    items.clear();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      JsonReader child(entries[i], file_, element(join(key), i));
      describe(child, items.emplace_back());
    }
  }

  template <class Item, class Describe>
  void list(const char* key, std::vector<Item>& items, Index size, Describe&& describe) {
    check_size(array(key), size, join(key), "entries");
    list(key, items, std::forward<Describe>(describe));
  }

  template <class Kind, class FromName>
  void word(const char* key, Kind& kind, FromName&& from_name) {
    std::string value;
    text(key, value);
    require(key, [&] { kind = from_name(value); });
  }

  void flag(const char* key, bool& value) const;
  void text(const char* key, std::string& value) const;
  void texts(const char* key, std::vector<std::string>& values) const;
  /// `highest` must be a value of Integer.
  template <class Integer>
  void count(const char* key, Integer& value, Index lowest, Index highest) const {
    value = static_cast<Integer>(read_count(at(key), lowest, highest, join(key)));
  }
  void counts(const char* key, std::vector<Index>& values) const;
  void seed(const char* key, std::uint64_t& value) const;
  void number(const char* key, double& value, Rule rule) const;
  void numbers(const char* key, std::vector<double>& values, Rule rule) const;
  void vector(const char* key, Vector& values, Index size, Rule rule) const;
  void matrix(const char* key, Matrix& values, Index rows, Index cols, Rule rule) const;
  void vector_or_empty(const char* key, Vector& values, Index size, Rule rule) const;
  void matrix_or_empty(const char* key, Matrix& values, Index rows, Index cols, Rule rule) const;

  /// A key that older files lack: what it holds is left as it is then.
  template <class Describe>
  void optional(const char* key, Describe&& describe) const {
    if (json_.contains(key)) {
      describe();
    }
  }

  /// Runs a check of what has been read; its InputError is passed on with the file and the key in front.
  template <class Check>
  void require(const char* key, Check&& check) const {
    try {
      check();
    } catch (const InputError& error) {
      fail(join(key), printable(error.what()));  // it may quote the file
    }
  }

 private:
  [[noreturn]] void fail(const std::string& path, std::string_view message) const;
  const Json& at(const char* key) const;
  const Json& array(const char* key) const;
  void check_size(const Json& entries, Index size, const std::string& path, std::string_view of) const;
  double read_number(const Json& value, Rule rule, const std::string& path) const;
  Index read_count(const Json& value, Index lowest, Index highest, const std::string& path) const;
  std::string join(const char* key) const;
  static std::string element(const std::string& path, std::size_t i);

  const Json& json_;
  const std::string& file_;
  std::string path_;  ///< of the object, "" at the top
};

}  // namespace gpilot::io
