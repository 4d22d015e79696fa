#include "write_target.hpp"

#include <fmt/format.h>

#include <system_error>

#include "descriptor.hpp"
#include "gpilot/error.hpp"
#include "store.hpp"

namespace gpilot::study {

namespace fs = std::filesystem;

WriteTarget write_target(const std::string& path) {
  if (path.empty()) {
    throw InputError("the name of the file to write is empty");
  }
  std::error_code ignored;
  WriteTarget target{fs::weakly_canonical(fs::absolute(path), ignored)};
  const fs::file_status status = fs::status(target.file, ignored);
  if (fs::is_directory(status) || !fs::path(path).has_filename()) {
    refuse_to_write(path, "it is a directory");
  }
  if (fs::is_regular_file(status) && Store::is_database(target.file.string())) {
    refuse_to_write(path, "it is a study (an SQLite database), which is never replaced");
  }
  target.direct = fs::exists(status) && !fs::is_regular_file(status);
  if (!target.direct && !fs::is_directory(target.file.parent_path(), ignored)) {
    refuse_to_write(path, fmt::format("there is no directory '{}'", fs::path(path).parent_path().string()));
  }
  return target;
}

}  // namespace gpilot::study
