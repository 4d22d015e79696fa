#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gpilot::io {

class Descriptor;

/// A record that grows by whole lines: each is on the disk before append() returns, so that a crash or a power failure
/// later loses none, and leaves at most its last line incomplete.
class LineFile {
 public:
  /// Makes the file; its name is on the disk, too, when this returns. Throws InputError if it is there already or
  /// cannot be made.
  explicit LineFile(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  LineFile(LineFile&&) = delete;
  LineFile& operator=(LineFile&&) = delete;

  /// `line` has no line break. Throws std::system_error if the disk fails.
  void append(std::string_view line);

 private:
  std::string path_;
  std::unique_ptr<Descriptor> file_;
};

}  // namespace gpilot::io
