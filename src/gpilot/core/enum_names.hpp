#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/suggest.hpp"

/// The words that stand for the values of an enum in files and options.
namespace gpilot {

template <class Kind, std::size_t N>
using EnumNames = std::array<std::pair<Kind, std::string_view>, N>;

template <class Kind, std::size_t N>
std::string_view name_in(const EnumNames<Kind, N>& names, Kind kind) {
  for (const auto& [value, text] : names) {
    if (value == kind) {
      return text;
    }
  }
  return "";
}

/// Throws InputError for a word that is none of them, with the nearest one; `what` says what it should have been.
template <class Kind, std::size_t N>
Kind kind_in(const EnumNames<Kind, N>& names, std::string_view what, std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [value, word] : names) {
    if (word == text) {
      return value;
    }
    known.emplace_back(word);
  }
  throw InputError(unknown_name_message(what, text, known));
}

}  // namespace gpilot
