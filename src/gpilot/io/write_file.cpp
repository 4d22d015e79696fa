#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "gpilot/io/descriptor.hpp"
#include "gpilot/io/table.hpp"
#include "gpilot/io/write_target.hpp"

namespace gpilot::io {
namespace {

namespace fs = std::filesystem;

void write_directly(const std::string& path, std::string_view text) {
  const Descriptor file(path, O_WRONLY);
  if (!file.is_open()) {
    refuse_to_write(path, std::strerror(errno));
  }
  write_all(file, text, path);
}

/// A name beside the target that no other writer uses.
fs::path temporary_path(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  return target.parent_path() / fmt::format(".{}.{}.{}.tmp", target.filename().string(), ::getpid(), counter++);
}

/// Removes the temporary file unless the rename has happened.
struct RemoveUnlessKept {
  fs::path path;
  bool kept = false;
  ~RemoveUnlessKept() {
    if (!kept) {
      ::unlink(path.c_str());
    }
  }
};

void replace_file(const std::string& path, const fs::path& target, std::string_view text) {
  const fs::path temporary = temporary_path(target);
  const Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open()) {
    refuse_to_write(path, std::strerror(errno));
  }
  RemoveUnlessKept guard{temporary};
  write_all(file, text, path);
  if (::fsync(file.get()) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
    fail_to_write(path);
  }
  guard.kept = true;
  sync_directory(target.parent_path());
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view text) {
  const WriteTarget target = write_target(path);
  if (target.direct) {
    write_directly(path, text);
  } else {
    replace_file(path, target.file, text);
  }
}

}  // namespace gpilot::io
