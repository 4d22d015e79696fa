#include "gpilot/inference/lbfgs.hpp"

#include <LBFGS.h>
#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "gpilot/core/enum_names.hpp"

namespace gpilot::inference {

namespace {

constexpr EnumNames<LbfgsStop, 4> kStops{{{LbfgsStop::kConverged, "converged"},
                                          {LbfgsStop::kIterationLimit, "iteration limit reached"},
                                          {LbfgsStop::kLineSearch, "the line search gave up"},
                                          {LbfgsStop::kNoDescent, "no direction leads downhill"}}};

}  // namespace

std::string_view name(LbfgsStop stop) {
  return name_in(kStops, stop);
}

std::string LbfgsResult::message() const {
  if (converged()) {
    return {};
  }
  return detail.empty() ? std::string(name(stop)) : fmt::format("{}: {}", name(stop), detail);
}

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
  bool in_objective = false;  // its exceptions have the same types as the library's
  auto tracked = [&](const Vector& at, Vector& gradient) {
    ++result.evaluations;
    in_objective = true;
    const double value = f(at, gradient);
    in_objective = false;
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
    if (result.iterations >= options.max_iterations) {
      result.stop = LbfgsStop::kIterationLimit;
    }
  } catch (const std::runtime_error& error) {
    if (in_objective) {
      throw;
    }
    result.stop = LbfgsStop::kLineSearch;
    result.detail = error.what();
  } catch (const std::logic_error& error) {
    if (in_objective) {
      throw;
    }
    result.stop = LbfgsStop::kNoDescent;
    result.detail = error.what();
  }
  x = best;
  return result;
}

}  // namespace gpilot::inference
