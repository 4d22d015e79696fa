#include "gpilot/study/writable.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "descriptor.hpp"
#include "gpilot/error.hpp"

namespace gpilot::study {

namespace {

namespace fs = std::filesystem;

/// Permissions alone do not tell (a read-only file system, a quota): create a file beside the target and remove it.
void try_to_create_beside(const std::string& path, const fs::path& target) {
  std::string probe = (target.parent_path() / ".gpilot.XXXXXX").string();
  const int descriptor = ::mkstemp(probe.data());
  if (descriptor < 0) {
    refuse_to_write(path, std::strerror(errno));
  }
  ::close(descriptor);
  ::unlink(probe.c_str());
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty()) {
    throw InputError("the name of the file to write is empty");
  }
  std::error_code ignored;
  const fs::path target = fs::weakly_canonical(fs::absolute(path), ignored);
  const fs::file_status status = fs::status(target, ignored);
  if (fs::is_directory(status) || !fs::path(path).has_filename()) {
    refuse_to_write(path, "it is a directory");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    if (::access(target.c_str(), W_OK) != 0) {
      refuse_to_write(path, std::strerror(errno));
    }
    return;
  }
  if (!fs::is_directory(target.parent_path(), ignored)) {
    refuse_to_write(path, fmt::format("there is no directory '{}'", fs::path(path).parent_path().string()));
  }
  try_to_create_beside(path, target);
}

}  // namespace gpilot::study
