#include "gpilot/ssm/report.hpp"

#include "gpilot/core/enum_names.hpp"

namespace gpilot::ssm {

namespace {

constexpr EnumNames<FitStatus, 6> kStatuses{{{FitStatus::kNone, ""},
                                             {FitStatus::kConverged, "converged"},
                                             {FitStatus::kIterationLimit, "iteration limit"},
                                             {FitStatus::kMotionAsNoise, "motion as noise"},
                                             {FitStatus::kInterrupted, "interrupted"},
                                             {FitStatus::kFailed, "failed"}}};

}  // namespace

std::string_view name(FitStatus status) {
  return name_in(kStatuses, status);
}

FitStatus fit_status_from_name(std::string_view text) {
  return kind_in(kStatuses, "status of a training", text);
}

}  // namespace gpilot::ssm
