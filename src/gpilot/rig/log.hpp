#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "gpilot/rig/posix.hpp"

namespace gpilot::rig {

/// Appends what comes out of a pipe to a file, by a thread of its own, so that the writer never waits for long.
class RigLog {
 public:
  /// Throws InputError if the file cannot be opened, std::system_error if there can be no pipe or thread. What is not a
  /// regular file (/dev/null) is never rotated.
  RigLog(std::string path, std::int64_t longest);
  /// Keeps what is in the pipe by now; does not wait for other writers to close it.
  ~RigLog();
  RigLog(const RigLog&) = delete;
  RigLog& operator=(const RigLog&) = delete;
  RigLog(RigLog&&) = delete;
  RigLog& operator=(RigLog&&) = delete;

  /// The end that the rig writes to.
  int writable() const { return pipe_.write.get(); }
  /// To be called once the rig has its copy: the end of the log is seen only then.
  void close_writable() { pipe_.write.reset(); }

  const std::string& path() const { return path_; }
  /// The last lines, printable and short, joined by " | ". Waits so long at most for the writer to close the pipe.
  std::string last_lines(double wait_s);

 private:
  void pump();
  bool read_some();
  void keep(std::string_view text);
  void rotate();

  std::string path_;
  std::int64_t longest_;
  posix::Descriptor file_;
  bool regular_ = false;
  std::int64_t size_ = 0;
  posix::Pipe pipe_;
  posix::Pipe stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool at_end_ = false;  ///< guarded by mutex_, as is tail_
  std::string tail_;
  std::thread thread_;
};

}  // namespace gpilot::rig
