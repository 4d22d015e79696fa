#include "gpilot/io/writable.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "gpilot/core/error.hpp"
#include "gpilot/io/csv_reader.hpp"
#include "gpilot/io/descriptor.hpp"
#include "gpilot/io/read_text.hpp"
#include "gpilot/io/toml_reader.hpp"
#include "gpilot/io/write_target.hpp"

namespace gpilot::io {

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

std::string_view describe(FileKind kind) {
  switch (kind) {
    case FileKind::kModel:
      return "a model";
    case FileKind::kTable:
      return "a CSV file";
    case FileKind::kJson:
      return "a JSON file";
    case FileKind::kStudy:
      return "a study";
    case FileKind::kReport:
      return "a report";
    case FileKind::kConfig:
      return "a configuration";
    case FileKind::kNothing:
    case FileKind::kOther:
      break;
  }
  return "a file that gpilot does not know";
}

/// Whether there is a number in it: a blank line alone would do as a row of any text.
bool is_table(const std::string& path) {
  try {
    CsvReader reader(path);
    while (reader.next()) {
      if (!std::ranges::all_of(reader.values(), [](double value) { return std::isnan(value); })) {
        return true;
      }
    }
  } catch (const InputError&) {
    return false;
  }
  return false;
}

/// A page of `gpilot report`, by its first bytes (web/src/page.html).
bool is_report(std::string_view start) {
  return start.starts_with("<!doctype html>") && start.find("<title>gpilot report</title>") != std::string_view::npos;
}

/// Whether it has the tables without which there is no study. Its values may be wrong.
bool is_config(const std::string& path) {
  std::error_code ignored;
  if (fs::file_size(path, ignored) > kLargestToml) {
    return false;
  }
  try {
    const TomlValue toml = parse_toml(read_text(path, "a configuration"), path);
    return toml.find("study") != nullptr && toml.find("input") != nullptr && toml.find("output") != nullptr;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

FileKind kind_of_file(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || fs::file_size(path, ignored) == 0) {
    return FileKind::kNothing;
  }
  if (is_database(path)) {
    return FileKind::kStudy;
  }
  constexpr std::size_t kStart = 4096;  // a report has its title after 700
  std::array<char, kStart> buffer{};
  std::ifstream file(path, std::ios::binary);
  file.read(buffer.data(), buffer.size());
  const std::string_view start(buffer.data(), static_cast<std::size_t>(file.gcount()));
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && start[first] == '{') {
    return start.find("\"gpilot-model\"") != std::string_view::npos ? FileKind::kModel : FileKind::kJson;
  }
  if (is_report(start)) {
    return FileKind::kReport;
  }
  if (is_config(path)) {
    return FileKind::kConfig;
  }
  return is_table(path) ? FileKind::kTable : FileKind::kOther;
}

void check_replaceable(const std::string& path, FileKind kind) {
  assert(kind != FileKind::kOther);
  const FileKind found = kind_of_file(path);
  if (found != FileKind::kNothing && found != kind) {
    refuse_to_write(path, fmt::format("what stands there is {}, not {}; name another file, or remove it first",
                                      describe(found), describe(kind)));
  }
}

void check_not_input(const std::string& output, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::is_regular_file(output, error) && fs::equivalent(output, input, error) && !error) {
      refuse_to_write(output, "it is also an input of this command, which is never replaced");
    }
  }
}

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

}  // namespace gpilot::io
