#pragma once

#include <string>

#include "gpilot/inference/fit.hpp"

namespace gpilot::inference {

/// Where a fit is, as a share of the most it may do. A fit is a number of stages, each the training of one candidate;
/// how many evaluations a stage takes is not known before, so its end may come as a jump ahead.
class FitProgress {
 public:
  /// `stages` is the most there can be, the linear model included.
  FitProgress(const FitOptions& options, double stages);

  void begin(const std::string& stage, double objective);
  /// To be called at every evaluation of the bound. Returns false when the user wants training to end.
  bool evaluated(double objective);
  /// Within a stage that knows how far it is itself.
  bool reached(double fraction_of_stage, double objective);
  void end(double objective);
  /// All is done, whether every stage was needed or not.
  void complete(double objective);
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }
  const std::string& stage() const { return stage_; }

 private:
  void show(double fraction_of_stage, double objective);

  const FitOptions& options_;
  double stages_;
  double budget_;  ///< evaluations of a stage that uses all it may
  double done_ = 0.0;
  double shown_ = 0.0;  ///< fraction: it never falls
  double weight_ = 0.0;
  double evaluations_ = 0.0;
  std::string stage_;
};

}  // namespace gpilot::inference
