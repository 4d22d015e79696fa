#pragma once

// See parallel_for.h. Every loop has threads of its own, so there is nothing to share or to isolate.

namespace oneapi::tbb {

class task_arena {
 public:
  explicit task_arena(int /*threads*/) {}

  template <typename Work>
  void execute(Work&& work) {
    work();
  }
};

namespace this_task_arena {

template <typename Work>
void isolate(Work&& work) {
  work();
}

}  // namespace this_task_arena

}  // namespace oneapi::tbb
