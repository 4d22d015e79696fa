/// Preloaded into gpilot (LD_PRELOAD): the n-th call that writes to a regular file, syncs or truncates one fails.
///   GPILOT_DISK_FAILS_AT=n      which call, from 1
///   GPILOT_DISK_STAYS_DEAD=1    and every call after it
///   GPILOT_DISK_COUNT=FILE      the number of calls is written there at the end
/// Other programs that inherit the variables are left alone.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::atomic<long> calls{0};

bool is_gpilot() {
  static const bool value = std::string_view(program_invocation_short_name) == "gpilot";
  return value;
}

bool fails(int file, int error) {
  static const long at =
      std::getenv("GPILOT_DISK_FAILS_AT") != nullptr ? std::atol(std::getenv("GPILOT_DISK_FAILS_AT")) : 0;
  static const bool stays_dead = std::getenv("GPILOT_DISK_STAYS_DEAD") != nullptr;
  struct stat status {};
  if (!is_gpilot() || file <= 2 || ::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    return false;
  }
  const long call = ++calls;
  if (at > 0 && (call == at || (stays_dead && call > at))) {
    errno = error;
    return true;
  }
  return false;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

struct Report {
  ~Report() {
    const char* path = std::getenv("GPILOT_DISK_COUNT");
    if (path != nullptr && is_gpilot()) {
      if (std::FILE* file = std::fopen(path, "w")) {
        std::fprintf(file, "%ld\n", calls.load());
        std::fclose(file);
      }
    }
  }
} report;

}  // namespace

extern "C" {

ssize_t write(int file, const void* data, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return fails(file, ENOSPC) ? -1 : real(file, data, size);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return fails(file, ENOSPC) ? -1 : real(file, data, size, offset);
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return fails(file, ENOSPC) ? -1 : real(file, data, size, offset);
}

int fsync(int file) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails(file, EIO) ? -1 : real(file);
}

int fdatasync(int file) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return fails(file, EIO) ? -1 : real(file);
}

int ftruncate(int file, off_t size) {
  static const auto real = next<int (*)(int, off_t)>("ftruncate");
  return fails(file, EIO) ? -1 : real(file, size);
}

int ftruncate64(int file, off64_t size) {
  static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
  return fails(file, EIO) ? -1 : real(file, size);
}

}  // extern "C"
