#pragma once

#include <memory>
#include <string>

#include "gpilot/io/descriptor.hpp"

namespace gpilot::study {

/// The right to write to a study: one process at a time has it. It is a lock of the kernel on FILE.lock, so that it
/// ends with the process however that dies; the file names the holder.
class WriterLock {
 public:
  /// Throws StudyBusy naming the holder's process id and start time if another process has the lock.
  explicit WriterLock(const std::string& study);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  WriterLock(WriterLock&&) = delete;
  WriterLock& operator=(WriterLock&&) = delete;

  /// Who held it before and died, e.g. "process 17 on host since ..", or "".
  const std::string& left_by() const { return left_by_; }

 private:
  std::string path_;
  std::unique_ptr<io::Descriptor> file_;
  std::string left_by_;
};

}  // namespace gpilot::study
