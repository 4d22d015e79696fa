#pragma once

namespace gpilot::test {

/// Counts what the calling thread asks of malloc, calloc, realloc and aligned allocation (and so of operator new and of
/// Eigen) while it lives. Sanitizers bring their own malloc: counting is then not available.
class AllocationCounter {
 public:
  AllocationCounter();
  ~AllocationCounter();
  AllocationCounter(const AllocationCounter&) = delete;
  AllocationCounter& operator=(const AllocationCounter&) = delete;

  int count() const;
  static bool available();
};

}  // namespace gpilot::test
