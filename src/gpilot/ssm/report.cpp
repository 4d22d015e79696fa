#include "gpilot/ssm/report.hpp"

#include "gpilot/core/enum_names.hpp"

namespace gpilot::ssm {

namespace {

constexpr EnumNames<FitStatus, 7> kStatuses{{{FitStatus::kNone, ""},
                                             {FitStatus::kConverged, "converged"},
                                             {FitStatus::kIterationLimit, "iteration limit"},
                                             {FitStatus::kNotUseful, "not yet useful"},
                                             {FitStatus::kMotionAsNoise, "motion as noise"},
                                             {FitStatus::kInterrupted, "interrupted"},
                                             {FitStatus::kFailed, "failed"}}};

double norm(const std::vector<double>& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())).norm();
}

}  // namespace

std::string_view name(FitStatus status) {
  return name_in(kStatuses, status);
}

FitStatus fit_status_from_name(std::string_view text) {
  return kind_in(kStatuses, "status of a training", text);
}

double HeldOut::model_ratio() const {
  return norm(hold) > 0.0 ? norm(model) / norm(hold) : kNaN;
}

double HeldOut::linear_ratio() const {
  return norm(hold) > 0.0 ? norm(linear) / norm(hold) : kNaN;
}

std::optional<Index> HeldOut::skilled_steps() const {
  if (runs == 0) {
    return std::nullopt;
  }
  // At the first steps of a slow motion both are at the noise of the outputs: the farthest step tells.
  std::size_t steps = model.size();
  while (steps > 0 && !(model[steps - 1] < hold[steps - 1])) {
    --steps;
  }
  return static_cast<Index>(steps);
}

}  // namespace gpilot::ssm
