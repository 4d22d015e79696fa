#include "gpilot/report/changes.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace gpilot::report {

namespace {

/// Finds keys in about the order in which they stand: looked for where the last one was found first, since an object of
/// ours finds a key by going through all of them.
class InOrder {
 public:
  explicit InOrder(const Json& object) : object_(object), next_(object.begin()) {}
  /// Null if there is none.
  const Json* find(const std::string& key) {
    const auto found = next_ != object_.end() && next_.key() == key ? next_ : object_.find(key);
    if (found == object_.end()) {
      return nullptr;
    }
    next_ = std::next(found);
    return &*found;
  }

 private:
  const Json& object_;
  Json::const_iterator next_;
};

Json object_changes(const Json& before, const Json& after) {
  Json result = Json::object();
  InOrder newer(after);
  for (const auto& [key, value] : before.items()) {
    if (newer.find(key) == nullptr) {
      result["-"].push_back(key);
    }
  }
  InOrder older(before);
  for (const auto& [key, value] : after.items()) {
    const Json* const old = older.find(key);
    if (old == nullptr) {
      result["."][key] = {{"=", value}};
    } else if (Json change = changes(*old, value); !change.is_null()) {
      result["."][key] = std::move(change);
    }
  }
  return result.empty() ? Json() : result;
}

Json list_changes(const Json& before, const Json& after) {
  const std::size_t common = std::min(before.size(), after.size());
  Json result = Json::object();
  if (before.size() > common) {
    result["n"] = common;
  }
  std::size_t changed = 0;
  for (std::size_t i = 0; i < common; ++i) {
    if (Json change = changes(before[i], after[i]); !change.is_null()) {
      // A list of numbers of which many differ is shorter as a whole.
      if (after[i].is_primitive() && 4 * ++changed > after.size()) {
        return {{"=", after}};
      }
      result["#"].push_back({i, std::move(change)});
    }
  }
  for (std::size_t i = common; i < after.size(); ++i) {
    result["+"].push_back(after[i]);
  }
  return result.empty() ? Json() : result;
}

}  // namespace

Json changes(const Json& before, const Json& after) {
  if (before.is_object() && after.is_object()) {
    return object_changes(before, after);
  }
  if (before.is_array() && after.is_array()) {
    return list_changes(before, after);
  }
  return before == after ? Json() : Json{{"=", after}};
}

}  // namespace gpilot::report
