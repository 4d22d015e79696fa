#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpilot/core/central_interval.hpp"
#include "gpilot/core/types.hpp"

namespace gpilot::trials {

// Part of the protocol (docs/results/protocol.md): published figures depend on them. In units of the test standard
// deviation. The bounds keep one model that went astray from deciding a mean over trials.
inline constexpr double kSmallestSd = 0.01;
inline constexpr double kLargestSurprise = 100.0;  ///< nats per value

/// Sums over predicted values, all in units of the test standard deviation.
class Scores {
 public:
  /// `error` is not clamped here; `sd` is what the model believes.
  void add(double error, double sd) {
    const double z = error / std::max(sd, kSmallestSd);
    const double surprise = 0.5 * (std::log(2.0 * std::numbers::pi) + z * z) + std::log(std::max(sd, kSmallestSd));
    surprise_ += std::min(surprise, kLargestSurprise);
    inside_ += std::abs(z) <= kNormal90 ? 1 : 0;
    ++count_;
  }
  double nlpd() const { return surprise_ / static_cast<double>(count_); }
  double coverage() const { return static_cast<double>(inside_) / static_cast<double>(count_); }

 private:
  double surprise_ = 0.0;
  Index inside_ = 0;
  Index count_ = 0;
};

}  // namespace gpilot::trials
