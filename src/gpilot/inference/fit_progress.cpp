#include "gpilot/inference/fit_progress.hpp"

#include <algorithm>

namespace gpilot::inference {

namespace {

constexpr double kLinearWeight = 0.2;  ///< of a stage without inducing points, beside one with them; for a bar only
constexpr double kOpenEnd = 0.99;      ///< the last hundredth is for what comes after training

}  // namespace

FitProgress::FitProgress(const FitOptions& options, double stages)
    : options_(options),
      stages_(stages - 1.0 + kLinearWeight),
      budget_(static_cast<double>((options.method == Method::kEm ? options.rounds : 0) *
                                      (options.e_steps + options.m_iterations) +
                                  options.polish)) {}

void FitProgress::begin(const std::string& stage, double objective) {
  stage_ = stage;
  weight_ = stage == "linear" ? kLinearWeight : 1.0;
  evaluations_ = 0.0;
  show(0.0, objective);
}

bool FitProgress::evaluated(double objective) {
  evaluations_ += 1.0;
  return reached(evaluations_ / budget_, objective);
}

bool FitProgress::reached(double fraction_of_stage, double objective) {
  if (stopped()) {
    return false;
  }
  show(std::min(fraction_of_stage, 1.0), objective);
  return true;
}

void FitProgress::end(double objective) {
  show(1.0, objective);
  done_ += weight_;
  weight_ = 0.0;
}

void FitProgress::complete(double objective) {
  shown_ = 1.0;
  show(0.0, objective);
}

void FitProgress::show(double fraction_of_stage, double objective) {
  if (options_.on_progress) {
    shown_ = std::max(shown_, std::min((done_ + fraction_of_stage * weight_) / stages_, 1.0) * kOpenEnd);
    options_.on_progress({stage_, shown_, objective});
  }
}

}  // namespace gpilot::inference
