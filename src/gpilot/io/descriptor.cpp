#include "gpilot/io/descriptor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "gpilot/core/error.hpp"

namespace gpilot::io {

Descriptor::Descriptor(const std::filesystem::path& path, int flags)
    : value_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}

Descriptor::~Descriptor() {
  if (value_ >= 0) {
    ::close(value_);
  }
}

void fail_to_write(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), fmt::format("{}: cannot write the file", path));
}

void refuse_to_write(const std::string& path, std::string_view reason) {
  throw InputError(fmt::format("{}: cannot write the file: {}", path, reason));
}

void write_all(const Descriptor& file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      fail_to_write(path);
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

void sync_directory(const std::filesystem::path& directory) {
  const Descriptor opened(directory, O_RDONLY | O_DIRECTORY);
  if (opened.is_open()) {
    ::fsync(opened.get());
  }
}

}  // namespace gpilot::io
