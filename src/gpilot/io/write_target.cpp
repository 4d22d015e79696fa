#include "gpilot/io/write_target.hpp"

#include <fmt/format.h>

#include <system_error>

#include "gpilot/core/error.hpp"
#include "gpilot/io/descriptor.hpp"
#include "gpilot/io/read_text.hpp"

namespace gpilot::io {

namespace fs = std::filesystem;

namespace {

/// Through links to files that are not there yet, which fs::weakly_canonical leaves as they are.
fs::path followed(fs::path path) {
  constexpr int kMostLinks = 40;  // as the system
  std::error_code error;
  for (int k = 0; k < kMostLinks && fs::is_symlink(path, error); ++k) {
    const fs::path target = fs::read_symlink(path, error);
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  return path;
}

}  // namespace

WriteTarget write_target(const std::string& path) {
  if (path.empty()) {
    throw InputError("the name of the file to write is empty");
  }
  std::error_code ignored;
  WriteTarget target{fs::weakly_canonical(followed(fs::absolute(path)), ignored)};
  const fs::file_status status = fs::status(target.file, ignored);
  if (fs::is_directory(status) || !fs::path(path).has_filename()) {
    refuse_to_write(path, "it is a directory");
  }
  if (fs::is_regular_file(status) && is_database(target.file.string())) {
    refuse_to_write(path, "it is a study (an SQLite database), which is never replaced");
  }
  target.direct = fs::exists(status) && !fs::is_regular_file(status);
  if (!target.direct && !fs::is_directory(target.file.parent_path(), ignored)) {
    refuse_to_write(path, fmt::format("there is no directory '{}'", fs::path(path).parent_path().string()));
  }
  return target;
}

}  // namespace gpilot::io
