#include "gpilot/report/changes.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpilot::report {
namespace {

/// As web/src/changes.ts does it.
Json applied(Json value, const Json& changes) {
  if (changes.is_null()) {
    return value;
  }
  if (changes.contains("=")) {
    return changes["="];
  }
  if (value.is_array()) {
    while (changes.contains("n") && value.size() > changes["n"].get<std::size_t>()) {
      value.erase(value.size() - 1);
    }
    for (const Json& change : changes.value("#", Json::array())) {
      Json& element = value[change[0].get<std::size_t>()];
      element = applied(element, change[1]);
    }
    for (const Json& more : changes.value("+", Json::array())) {
      value.push_back(more);
    }
    return value;
  }
  for (const Json& key : changes.value("-", Json::array())) {
    value.erase(key.get<std::string>());
  }
  const Json by_key = changes.value(".", Json::object());
  for (const auto& [key, change] : by_key.items()) {
    value[key] = applied(value.contains(key) ? value[key] : Json(), change);
  }
  return value;
}

void expect_change(const char* before, const char* after, const char* expected) {
  const Json from = Json::parse(before);
  const Json to = Json::parse(after);
  const Json change = changes(from, to);
  EXPECT_EQ(change, Json::parse(expected)) << change.dump();
  EXPECT_EQ(applied(from, change), to);
}

TEST(Changes, OfWhatIsTheSameAreNone) {
  expect_change(R"({"a": [1, {"b": null}], "c": "x"})", R"({"a": [1, {"b": null}], "c": "x"})", "null");
}

TEST(Changes, AreWhatWasAppended) {
  expect_change(R"({"y": [[1, 2], [3, 4]], "n": 2})", R"({"y": [[1, 2, 5], [3, 4, 6]], "n": 3})",
                R"({".": {"y": {"#": [[0, {"+": [5]}], [1, {"+": [6]}]]}, "n": {"=": 3}}})");
}

TEST(Changes, OfAFewElementsNameThem) {
  expect_change("[0, 1, 2, 3, 4, 5, 6, 7]", "[0, 1, 2, 3, 9, 5, 6, 7, 8]", R"({"#": [[4, {"=": 9}]], "+": [8]})");
  expect_change("[0, 1, 2, 3]", "[9, 8, 2, 3]", R"({"=": [9, 8, 2, 3]})");
}

TEST(Changes, TakeAwayWhatIsGone) {
  expect_change(R"({"a": 1, "b": [1, 2, 3, 4, 5]})", R"({"b": [1, 2], "c": {}})",
                R"({"-": ["a"], ".": {"b": {"n": 2}, "c": {"=": {}}}})");
}

TEST(Changes, OfAnotherKindReplace) {
  expect_change(R"({"a": [1], "b": {"c": 1}})", R"({"a": {"x": 1}, "b": null})",
                R"({".": {"a": {"=": {"x": 1}}, "b": {"=": null}}})");
  expect_change("null", R"({"a": 1})", R"({"=": {"a": 1}})");
}

}  // namespace
}  // namespace gpilot::report
