#include "support/allocation_counter.hpp"

#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GPILOT_COUNTS_ALLOCATIONS 1
#else
#define GPILOT_COUNTS_ALLOCATIONS 0
#endif

namespace {

thread_local bool counting = false;
thread_local int allocations = 0;

[[maybe_unused]] void note() {
  if (counting) {
    ++allocations;
    if (std::getenv("GPILOT_ABORT_ON_ALLOCATION") != nullptr) {
      std::abort();  // for a debugger: the backtrace names the line
    }
  }
}

}  // namespace

#if GPILOT_COUNTS_ALLOCATIONS
// The program's own definitions take the place of the C library's, which stay slew_box under these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* pointer, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
  note();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  note();
  return __libc_calloc(count, size);
}
void* realloc(void* pointer, std::size_t size) {
  note();
  return __libc_realloc(pointer, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  note();
  return __libc_memalign(alignment, size);
}
}
// NOLINTEND(bugprone-reserved-identifier)
#endif

namespace gpilot::test {

AllocationCounter::AllocationCounter() {
  allocations = 0;
  counting = true;
}

AllocationCounter::~AllocationCounter() {
  counting = false;
}

int AllocationCounter::count() const {
  return allocations;
}

bool AllocationCounter::available() {
  return GPILOT_COUNTS_ALLOCATIONS != 0;
}

}  // namespace gpilot::test
