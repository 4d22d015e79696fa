#include "gpilot/inference/lbfgs.hpp"

#include <LBFGS.h>

#include <limits>
#include <stdexcept>

namespace gpilot::inference {

LbfgsResult minimize(const std::function<double(const Vector&, Vector&)>& f, Vector& x, const LbfgsOptions& options) {
  LBFGSpp::LBFGSParam<double> parameters;
  parameters.m = options.memory;
  parameters.max_iterations = options.max_iterations;
  parameters.epsilon = 1e-9;
  parameters.epsilon_rel = 1e-9;
  parameters.past = 5;
  parameters.delta = options.tolerance;
  parameters.max_linesearch = 30;
  // Armijo, the library's default, lets negative curvature into the memory: the next direction may then point uphill.
  parameters.linesearch = LBFGSpp::LBFGS_LINESEARCH_BACKTRACKING_WOLFE;

  LbfgsResult result;
  result.value = std::numeric_limits<double>::infinity();
  Vector best = x;
  auto tracked = [&](const Vector& at, Vector& gradient) {
    ++result.evaluations;
    const double value = f(at, gradient);
    if (value < result.value) {
      result.value = value;
      best = at;
    }
    return value;
  };
  LBFGSpp::LBFGSSolver<double> solver(parameters);
  try {
    double value = 0.0;
    result.iterations = solver.minimize(tracked, x, value);
    result.converged = result.iterations < options.max_iterations;
    if (!result.converged) {
      result.message = "iteration limit reached";
    }
  } catch (const std::runtime_error& error) {  // the line search gave up
    result.message = error.what();
  } catch (const std::logic_error& error) {  // the direction was no descent
    result.message = error.what();
  }
  x = best;
  return result;
}

}  // namespace gpilot::inference
