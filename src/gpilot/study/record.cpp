#include "gpilot/study/record.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "gpilot/error.hpp"

namespace gpilot::study {

namespace {

template <class Kind, std::size_t N>
using Names = std::array<std::pair<Kind, std::string_view>, N>;

constexpr Names<StepStatus, 5> kStatuses{{{StepStatus::kAsked, "asked"},
                                          {StepStatus::kTold, "told"},
                                          {StepStatus::kFailed, "failed"},
                                          {StepStatus::kUnsafe, "unsafe"},
                                          {StepStatus::kUnknown, "unknown"}}};
constexpr Names<StepPhase, 4> kPhases{{{StepPhase::kRandom, "random"},
                                       {StepPhase::kChosen, "chosen"},
                                       {StepPhase::kSafe, "safe"},
                                       {StepPhase::kImported, "imported"}}};
constexpr Names<SequenceOrigin, 4> kOrigins{{{SequenceOrigin::kFirst, "first"},
                                             {SequenceOrigin::kReset, "reset"},
                                             {SequenceOrigin::kBroken, "broken"},
                                             {SequenceOrigin::kImported, "imported"}}};

template <class Kind, std::size_t N>
std::string_view name_in(const Names<Kind, N>& names, Kind kind) {
  for (const auto& [value, text] : names) {
    if (value == kind) {
      return text;
    }
  }
  return "";
}

template <class Kind, std::size_t N>
Kind kind_in(const Names<Kind, N>& names, std::string_view what, std::string_view text) {
  for (const auto& [value, known] : names) {
    if (known == text) {
      return value;
    }
  }
  throw InputError(fmt::format("unknown {} '{}'", what, text));
}

}  // namespace

std::string_view name(StepStatus status) {
  return name_in(kStatuses, status);
}
std::string_view name(StepPhase phase) {
  return name_in(kPhases, phase);
}
std::string_view name(SequenceOrigin origin) {
  return name_in(kOrigins, origin);
}
StepStatus step_status_from_name(std::string_view text) {
  return kind_in(kStatuses, "status of a step", text);
}
StepPhase step_phase_from_name(std::string_view text) {
  return kind_in(kPhases, "phase of a step", text);
}
SequenceOrigin sequence_origin_from_name(std::string_view text) {
  return kind_in(kOrigins, "origin of a sequence", text);
}

}  // namespace gpilot::study
