#pragma once

#include "gpilot/report/numbers.hpp"

namespace gpilot::report {

/// What makes `after` of `before`, for a page that holds `before`. Null: nothing. An object has one or more of
///   "=": the value that takes the place of the old one, whatever that was,
///   "-": keys that are gone; ".": changes by key,
///   "n": the length to which a list is cut first; "#": changes of its elements, [index, changes] each; "+": elements
///        that are added at its end.
/// web/src/changes.ts applies them.
Json changes(const Json& before, const Json& after);

}  // namespace gpilot::report
