#include "gpilot/study/record.hpp"

#include "gpilot/core/enum_names.hpp"

namespace gpilot::study {

namespace {

constexpr EnumNames<StepStatus, 5> kStatuses{{{StepStatus::kAsked, "asked"},
                                              {StepStatus::kTold, "told"},
                                              {StepStatus::kFailed, "failed"},
                                              {StepStatus::kUnsafe, "unsafe"},
                                              {StepStatus::kUnknown, "unknown"}}};
constexpr EnumNames<SequenceOrigin, 4> kOrigins{{{SequenceOrigin::kFirst, "first"},
                                                 {SequenceOrigin::kReset, "reset"},
                                                 {SequenceOrigin::kBroken, "broken"},
                                                 {SequenceOrigin::kImported, "imported"}}};

}  // namespace

std::string_view name(StepStatus status) {
  return name_in(kStatuses, status);
}
std::string_view name(SequenceOrigin origin) {
  return name_in(kOrigins, origin);
}
StepStatus step_status_from_name(std::string_view text) {
  return kind_in(kStatuses, "status of a step", text);
}
SequenceOrigin sequence_origin_from_name(std::string_view text) {
  return kind_in(kOrigins, "origin of a sequence", text);
}

}  // namespace gpilot::study
