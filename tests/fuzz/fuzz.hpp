#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

/// What the fuzzers share. Each has one entry point, as libFuzzer wants it: bytes in, nothing out. It may refuse the
/// bytes with the exceptions that the reader's header names; any other exception, and any promise that does not hold,
/// is a finding, which ends the program.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gpilot::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void require(bool holds, const char* promise, const std::string& detail = {}) {
  if (!holds) {
    std::fprintf(stderr, "broken promise: %s\n%s\n", promise, detail.c_str());
    std::abort();
  }
}

/// A message is one line that fits a screen, whatever the input holds.
inline void require_readable(const std::string& message) {
  constexpr std::size_t kLongest = 2000;
  require(!message.empty() && message.size() <= kLongest, "a message of 1 to 2000 bytes", message);
  for (const char letter : message) {
    const auto byte = static_cast<unsigned char>(letter);
    require(byte >= 0x20 && byte != 0x7f, "a message without control characters", message);
  }
}

}  // namespace gpilot::fuzz
