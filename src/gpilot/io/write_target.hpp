#pragma once

#include <filesystem>
#include <string>

namespace gpilot::io {

/// Where a file of this name is written.
struct WriteTarget {
  std::filesystem::path file;  ///< through symbolic links, so that the file itself is replaced, not the link
  bool direct = false;         ///< a device or pipe, which cannot be replaced
};

/// Throws InputError for a path that no file can have: empty, a directory, or in a directory that is not there; and for
/// a study, which nothing may replace.
WriteTarget write_target(const std::string& path);

}  // namespace gpilot::io
