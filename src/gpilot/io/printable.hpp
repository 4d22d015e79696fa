#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpilot::io {

/// A text from somebody's file as it may stand in a message: cut after `longest` bytes, without control characters.
std::string printable(std::string_view text, std::size_t longest = 200);

}  // namespace gpilot::io
