#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gpilot/core/types.hpp"

namespace gpilot::inference {

struct LbfgsOptions {
  int max_iterations = 100;
  int memory = 12;
  double tolerance = 1e-6;  ///< stop when the value changes by less, relative, over five iterations
};

enum class LbfgsStop {
  kConverged,
  kIterationLimit,
  kLineSearch,  ///< the line search gave up
  kNoDescent,   ///< the direction points uphill: the gradient is wrong, or rounding has eaten it
};

/// In words: "iteration limit reached".
std::string_view name(LbfgsStop stop);

struct LbfgsResult {
  double value = 0.0;  ///< at the best point seen, which is what x is set to
  int iterations = 0;
  int evaluations = 0;
  LbfgsStop stop = LbfgsStop::kConverged;
  std::string detail;  ///< what LBFGSpp says about kLineSearch and kNoDescent, else empty

  bool converged() const { return stop == LbfgsStop::kConverged; }
  /// Why it stopped; empty if it converged.
  std::string message() const;
};

/// Minimises f(x, gradient) (LBFGSpp). A line search that gives up is not an error: the best point seen is kept and
/// `stop` says so. Where f is not defined it returns +infinity; what it throws passes through, and x is then the point
/// that it was thrown at.
LbfgsResult minimize(const std::function<double(const Vector&, Vector&)>& f, Vector& x, const LbfgsOptions& options);

}  // namespace gpilot::inference
