#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gpilot {

/// The number of single-character insertions, deletions and substitutions that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that `name` was most likely meant to be, or "" if none is near. Upper and lower case count as equal.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

/// A sentence for an unknown name: "unknown kind 'nmae', did you mean 'name'? (known: name, other)".
std::string unknown_name_message(std::string_view kind, std::string_view name, std::span<const std::string> candidates);

}  // namespace gpilot
