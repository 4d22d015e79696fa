#pragma once

#include <functional>
#include <string>

#include "gpilot/types.hpp"

namespace gpilot::inference {

struct LbfgsOptions {
  int max_iterations = 100;
  int memory = 12;
  double tolerance = 1e-6;  ///< stop when the value changes by less, relative, over five iterations
};

struct LbfgsResult {
  double value = 0.0;  ///< at the best point seen, which is what x is set to
  int iterations = 0;
  int evaluations = 0;
  bool converged = false;
  std::string message;  ///< why it stopped, when not by convergence
};

/// Minimises f(x, gradient) (LBFGSpp). A line search that gives up is not an error: the best point seen is kept and the
/// message says so. f may return +infinity where it is not defined.
LbfgsResult minimize(const std::function<double(const Vector&, Vector&)>& f, Vector& x, const LbfgsOptions& options);

}  // namespace gpilot::inference
