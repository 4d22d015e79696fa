#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "gpilot/report/record.hpp"

namespace gpilot::report {

/// What is known of a study that somebody else writes.
struct StudyNews {
  std::string version;  ///< of the record, another text (digits and -) for another record; "" before the first
  std::string problem;  ///< why the study cannot be read now; "" if it can
  std::shared_ptr<const std::string> record;     ///< JSON; null before the first
  std::string since;                             ///< the version before this one; "" if there was none
  std::shared_ptr<const std::string> changes{};  ///< what makes this record of that one (changes.hpp); null if unknown
};

/// Looks at a study until `stop` and tells every change: of what it holds, and of whether it can be read. The study is
/// opened to read only when its files have changed, and never more often than leaves the machine to the writer.
void watch_study(const std::string& path, const DescribeModel& describe, const std::atomic<bool>& stop,
                 const std::function<void(const StudyNews&)>& tell);

}  // namespace gpilot::report
