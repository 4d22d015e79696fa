#include "gpilot/rig/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/rig/protocol.hpp"

namespace gpilot::rig {
namespace {

constexpr std::size_t kTail = 2048;

/// O_NONBLOCK means nothing to a regular file; a pipe that nobody reads must not keep us.
posix::Descriptor open_log(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  return posix::Descriptor(::open(path.c_str(), kFlags, 0666));
}

}  // namespace

RigLog::RigLog(std::string path, std::int64_t longest)
    : path_(std::move(path)), longest_(longest), file_(open_log(path_)) {
  struct stat status {};
  if (!file_.is_open() || ::fstat(file_.get(), &status) != 0) {
    throw InputError(fmt::format("{}: cannot write the rig's log: {}", path_, std::strerror(errno)));
  }
  regular_ = S_ISREG(status.st_mode);
  size_ = status.st_size;
  posix::set_nonblocking(pipe_.read);
  const posix::SignalBlock block;  // the thread inherits it: signals are for the caller's threads
  thread_ = std::thread([this] { pump(); });
}

RigLog::~RigLog() {
  stop_.write.reset();
  thread_.join();
}

void RigLog::pump() {
  const posix::SigpipeGuard guard;
  for (;;) {
    std::array<pollfd, 2> wait{{{pipe_.read.get(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}}};
    if (::poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) {
      break;
    }
    const bool stopping = wait[1].revents != 0;
    // Somebody who outlived the rig's process group may write for ever: a pipe holds 64 KiB as a rule, 1 MiB at most.
    constexpr int kReadsAtTheEnd = 32;
    for (int i = 0; stopping && i < kReadsAtTheEnd && read_some(); ++i) {
    }
    if (stopping) {
      break;
    }
    if (wait[0].revents != 0 && !read_some() && errno != EAGAIN && errno != EINTR) {
      break;
    }
  }
  const std::lock_guard lock(mutex_);
  at_end_ = true;
  changed_.notify_all();
}

/// False if nothing was read: errno is 0 at the end of the pipe.
bool RigLog::read_some() {
  std::array<char, 1 << 16> buffer;
  errno = 0;
  const ssize_t count = ::read(pipe_.read.get(), buffer.data(), buffer.size());
  if (count <= 0) {
    return false;
  }
  keep({buffer.data(), static_cast<std::size_t>(count)});
  return true;
}

void RigLog::keep(std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    tail_.append(text.substr(text.size() - std::min(text.size(), kTail)));
    tail_.erase(0, tail_.size() - std::min(tail_.size(), kTail));
  }
  if (regular_ && size_ > 0 && size_ + static_cast<std::int64_t>(text.size()) > longest_) {
    rotate();
  }
  while (file_.is_open() && !text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;  // a full disk costs lines of the log: the rig has to go on
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    size_ += std::max<ssize_t>(written, 0);
  }
}

void RigLog::rotate() {
  const std::string old = path_ + ".1";
  if (std::rename(path_.c_str(), old.c_str()) == 0) {
    file_ = open_log(path_);
  } else if (::ftruncate(file_.get(), 0) != 0) {
    return;
  }
  size_ = 0;
}

std::string RigLog::last_lines(double wait_s) {
  constexpr std::size_t kLines = 5;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(wait_s), [this] { return at_end_; });
  std::vector<std::string> lines;
  std::string_view rest = tail_;
  while (lines.size() < kLines && !rest.empty()) {
    const std::size_t start = rest.find_last_of("\r\n");
    const std::string_view line = start == std::string_view::npos ? rest : rest.substr(start + 1);
    if (!line.empty()) {
      lines.push_back(quote_rig_line(line));
    }
    rest = start == std::string_view::npos ? std::string_view{} : rest.substr(0, start);
  }
  std::ranges::reverse(lines);
  return fmt::format("{}", fmt::join(lines, " | "));
}

}  // namespace gpilot::rig
