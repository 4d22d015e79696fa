#include "gpilot/io/line_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "gpilot/io/descriptor.hpp"

namespace gpilot::io {

LineFile::LineFile(std::string path)
    : path_(std::move(path)), file_(std::make_unique<Descriptor>(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND)) {
  if (!file_->is_open()) {
    refuse_to_write(path_, std::strerror(errno));
  }
  sync_directory(std::filesystem::absolute(path_).parent_path());
}

LineFile::~LineFile() = default;

void LineFile::append(std::string_view line) {
  std::string text(line);
  text += '\n';
  write_all(*file_, text, path_);  // one call of the system for the whole line
  if (::fsync(file_->get()) != 0) {
    fail_to_write(path_);
  }
}

}  // namespace gpilot::io
