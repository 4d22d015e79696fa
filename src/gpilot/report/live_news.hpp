#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "gpilot/report/study_watch.hpp"

namespace gpilot::report {

/// Somebody who waits for events.
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  Listener(Listener&&) = delete;
  Listener& operator=(Listener&&) = delete;
  virtual ~Listener() = default;
  virtual void notify() = 0;
};

/// What a live page is told: the record of the study as it is, or what has changed since a version that the page has.
class LiveNews {
 public:
  /// Takes what is new, and tells all that listen.
  void take(const StudyNews& news);

  /// {"version", "problem"} as an event of a stream.
  std::string event() const;
  /// The record alone; null before the first.
  std::shared_ptr<const std::string> record() const { return newest_.record; }
  /// {"version", "changes": [..]} for a page that has `since`, one after the other to be applied (changes.hpp);
  /// {"version", "record"} where they are not at hand or longer than the record. Null before the first.
  std::shared_ptr<const std::string> update(std::string_view since) const;

  std::set<Listener*> listeners{};

 private:
  struct Step {
    std::string since;
    std::shared_ptr<const std::string> changes;
  };
  StudyNews newest_{};
  std::deque<Step> steps_{};  ///< the newest last
};

}  // namespace gpilot::report
