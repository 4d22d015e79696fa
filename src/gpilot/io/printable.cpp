#include "gpilot/io/printable.hpp"

#include <algorithm>

namespace gpilot::io {

std::string printable(std::string_view text, std::size_t longest) {
  const bool cut = text.size() > longest;
  std::string result(text.substr(0, longest));
  while (cut && !result.empty() && (static_cast<unsigned char>(result.back()) & 0x80) != 0) {
    result.pop_back();  // not half a letter
  }
  std::ranges::replace_if(
      result, [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; }, '?');
  return cut ? result + ".." : result;
}

}  // namespace gpilot::io
