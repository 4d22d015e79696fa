#pragma once

#include <filesystem>
#include <string>
#include <string_view>

/// POSIX files, for what must be on the disk when a call returns.
namespace gpilot::io {

/// An open file descriptor, closed at the end of its scope.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  bool is_open() const { return value_ >= 0; }
  int get() const { return value_; }

 private:
  int value_;
};

/// Throws std::system_error with errno: "PATH: cannot write the file: ..".
[[noreturn]] void fail_to_write(const std::string& path);
/// Throws InputError: "PATH: cannot write the file: REASON".
[[noreturn]] void refuse_to_write(const std::string& path, std::string_view reason);

/// Writes all of the text or fails; `path` is for the message.
void write_all(const Descriptor& file, std::string_view text, const std::string& path);

/// Puts the names in a directory on the disk: a new name is safe only once its directory is. A file system that cannot
/// sync directories has done its best.
void sync_directory(const std::filesystem::path& directory);

}  // namespace gpilot::io
