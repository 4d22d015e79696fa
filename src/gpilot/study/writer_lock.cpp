#include "gpilot/study/writer_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>  // kill is POSIX's
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "gpilot/study/record.hpp"
#include "gpilot/study/stamp.hpp"

namespace gpilot::study {

namespace {

constexpr std::chrono::seconds kPatience{2};  ///< with the lock of a process that has died

/// The holder's line, without anything unprintable that might stand in a damaged file.
std::string read_holder(const io::Descriptor& file) {
  std::array<char, 200> text{};
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  std::string holder;
  for (ssize_t i = 0; i < size && text[static_cast<std::size_t>(i)] >= ' '; ++i) {
    holder += text[static_cast<std::size_t>(i)];
  }
  return holder;
}

/// Whether the holder named in a lock is a process of this machine that is gone. A child that it was about to start may
/// keep the lock for some milliseconds more.
bool has_died(const std::string& holder) {
  long pid = 0;
  return std::sscanf(holder.c_str(), "process %ld", &pid) == 1 && pid > 0 &&
         holder.find(fmt::format(" on {} ", host_name())) != std::string::npos &&
         ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

/// Whether the path still leads to the open file: a holder that ends removes it.
bool is_at(const io::Descriptor& file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

WriterLock::WriterLock(const std::string& study)
    // Of the file itself, by whatever link or path it is reached.
    : path_(std::filesystem::weakly_canonical(study).string() + ".lock") {
  const auto begin = std::chrono::steady_clock::now();
  while (!file_) {
    auto file = std::make_unique<io::Descriptor>(path_, O_RDWR | O_CREAT);
    if (!file->is_open()) {
      io::refuse_to_write(path_, std::strerror(errno));
    }
    if (::flock(file->get(), LOCK_EX | LOCK_NB) == 0) {
      if (is_at(*file, path_)) {
        file_ = std::move(file);
      }
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) {
      io::fail_to_write(path_);
    }
    const std::string holder = read_holder(*file);
    if (!has_died(holder) || std::chrono::steady_clock::now() - begin > kPatience) {
      throw StudyBusy(fmt::format("{}: another writer has the study: {}", study,
                                  holder.empty() ? "a process that has just begun" : holder));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  left_by_ = read_holder(*file_);
  if (::ftruncate(file_->get(), 0) != 0) {
    io::fail_to_write(path_);
  }
  io::write_all(*file_, fmt::format("process {} on {} since {}\n", ::getpid(), host_name(), utc_now()), path_);
}

WriterLock::~WriterLock() {
  ::unlink(path_.c_str());  // before the lock goes with the descriptor, so that nobody locks a file without a name
}

}  // namespace gpilot::study
