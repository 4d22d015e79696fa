#include "gpilot/report/study_watch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <thread>
#include <utility>

#include "gpilot/report/changes.hpp"
#include "gpilot/study/study.hpp"

namespace gpilot::report {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLook{200};        // between two looks at the files
constexpr milliseconds kLeastPause{500};  // between two records
constexpr int kShare = 4;                 // a record may take a fifth of one core: so many times its cost is waited

/// What changes when somebody writes to a study: the file and the log beside it.
using Marks = std::array<std::int64_t, 6>;

Marks marks_of(const std::string& path) {
  Marks marks{};
  std::size_t i = 0;
  for (const char* const suffix : {"", "-wal"}) {
    struct stat info {};
    if (::stat((path + suffix).c_str(), &info) == 0) {
      marks[i] = static_cast<std::int64_t>(info.st_ino);
      marks[i + 1] = info.st_size;
      marks[i + 2] = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
    }
    i += 3;
  }
  return marks;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// Sleeps, but not long after a stop was asked for.
void wait(milliseconds time, const std::atomic<bool>& stop) {
  const auto end = Clock::now() + time;
  while (!stop && Clock::now() < end) {
    std::this_thread::sleep_for(std::min<Clock::duration>(milliseconds(50), end - Clock::now()));
  }
}

}  // namespace

void watch_study(const std::string& path, const DescribeModel& describe, const std::atomic<bool>& stop,
                 const std::function<void(const StudyNews&)>& tell) {
  StudyNews news;
  Json memory;
  Json shown;  // the record that was told last
  Marks seen{-1};
  Index count = 0;
  const auto mine = std::chrono::system_clock::now().time_since_epoch().count();  // another server has other versions
  const auto say = [&](std::string problem) {
    if (problem != news.problem) {
      news.problem = std::move(problem);
      news.changes = nullptr;  // the record is the same
      tell(news);
    }
  };
  for (; !stop; wait(kLook, stop)) {
    if (!is_there(path)) {
      say("its file is not there: it was moved or deleted");
      seen = {-1};
      continue;
    }
    const Marks now = marks_of(path);
    if (now == seen) {
      continue;
    }
    const auto begin = Clock::now();
    try {
      const study::Study study = study::Study::open(path, study::Access::kRead);
      Json record = study_record(study, {.history = History::kKept, .describe = describe, .memory = &memory});
      news.record = std::make_shared<const std::string>(embeddable(record));
      news.changes =
          shown.is_null() ? nullptr : std::make_shared<const std::string>(embeddable(changes(shown, record)));
      news.since = std::exchange(news.version, fmt::format("{}-{}", mine, ++count));
      shown = std::move(record);
      news.problem.clear();
      seen = now;
      tell(news);
    } catch (const std::exception& error) {  // it may be gone, or damaged, or half copied: it is looked at again
      say(error.what());
    }
    wait(std::max(kLeastPause, std::chrono::duration_cast<milliseconds>(kShare * (Clock::now() - begin))), stop);
  }
}

}  // namespace gpilot::report
