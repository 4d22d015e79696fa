#include "gpilot/report/live_news.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpilot::report {

namespace {

constexpr std::size_t kMostChanges = 64;  // that are kept: a page which was away for longer takes all

}  // namespace

void LiveNews::take(const StudyNews& news) {
  newest_ = news;
  if (news.changes) {
    steps_.push_back({news.since, news.changes});
  }
  if (steps_.size() > kMostChanges) {
    steps_.pop_front();
  }
  const std::set<Listener*> waiting = listeners;  // one may go while it is told
  std::ranges::for_each(waiting, [](Listener* listener) { listener->notify(); });
}

std::string LiveNews::event() const {
  const Json data = {{"version", newest_.version}, {"problem", newest_.problem}};
  return fmt::format("event: study\ndata: {}\n\n", embeddable(data));
}

std::shared_ptr<const std::string> LiveNews::update(std::string_view since) const {
  if (!newest_.record) {
    return nullptr;
  }
  auto step = std::ranges::find(steps_, since, &Step::since);
  if (step != steps_.end() || since == newest_.version) {
    std::string changes;
    for (; step != steps_.end(); ++step) {
      changes += fmt::format("{}{}", changes.empty() ? "" : ",", *step->changes);
    }
    if (changes.size() < newest_.record->size()) {
      return std::make_shared<const std::string>(
          fmt::format(R"({{"version":"{}","changes":[{}]}})", newest_.version, changes));
    }
  }
  return std::make_shared<const std::string>(
      fmt::format(R"({{"version":"{}","record":{}}})", newest_.version, *newest_.record));
}

}  // namespace gpilot::report
