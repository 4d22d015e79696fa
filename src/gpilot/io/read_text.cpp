#include "gpilot/io/read_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "gpilot/core/error.hpp"

namespace gpilot::io {

std::string read_text(const std::string& path, std::string_view expected, std::size_t largest) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    throw InputError(fmt::format("{}: is a directory, expected {}", path, expected));
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  // In pieces, so that a device without an end is refused, too.
  std::array<char, 1 << 16> piece;
  while (stream.is_open() && !stream.bad()) {
    stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > largest) {
      throw InputError(fmt::format("{}: more than {} bytes, expected {}", path, largest, expected));
    }
    if (stream.eof()) {
      return text;
    }
  }
  throw InputError(
      fmt::format("{}: cannot read the file: {}", path, errno == 0 ? "unknown reason" : std::strerror(errno)));
}

bool is_database(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::array<char, kMagic.size()> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return file && std::string_view(start.data(), start.size()) == kMagic;
}

}  // namespace gpilot::io
