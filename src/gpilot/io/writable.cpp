#include "gpilot/study/writable.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "descriptor.hpp"
#include "gpilot/error.hpp"
#include "write_target.hpp"

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
  const WriteTarget target = write_target(path);
  if (!target.direct) {
    try_to_create_beside(path, target.file);
  } else if (::access(target.file.c_str(), W_OK) != 0) {
    refuse_to_write(path, std::strerror(errno));
  }
}

void make_directory(const std::string& path) {
  std::error_code error;
  fs::create_directory(path, error);
  if (error) {
    throw InputError(fmt::format("{}: cannot make the directory: {}", path, error.message()));
  }
  sync_directory((fs::absolute(path) / "").parent_path().parent_path());
}

}  // namespace gpilot::study
