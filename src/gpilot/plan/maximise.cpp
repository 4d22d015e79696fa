#include "gpilot/plan/maximise.hpp"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "gpilot/core/error.hpp"
#include "gpilot/plan/halton.hpp"

namespace gpilot::plan {

namespace {

constexpr Index kMostControlsWithCorners = 6;  ///< 64 corners

/// Where the search looks first, one point a row [n x P].
Matrix start_points(const Box& box, const SearchOptions& options) {
  const Index P = box.low.size();
  if (P == 1) {
    return Vector::LinSpaced(options.grid, box.low(0), box.high(0));
  }
  const Index corners = P <= kMostControlsWithCorners ? Index{1} << P : 0;
  Matrix unit(corners + 1 + options.starts, P);
  for (Index k = 0; k < corners; ++k) {
    for (Index p = 0; p < P; ++p) {
      unit(k, p) = static_cast<double>((k >> p) & 1);
    }
  }
  unit.row(corners).setConstant(0.5);
  for (Index k = 0; k < options.starts; ++k) {
    for (Index p = 0; p < P; ++p) {
      unit(corners + 1 + k, p) = halton(k, p);
    }
  }
  Matrix points = unit * (box.high - box.low).asDiagonal();
  points.rowwise() += box.low.transpose();
  return points;
}

/// All points seen, with their values.
struct Seen {
  const Criterion& criterion;
  std::vector<Vector> controls;
  std::vector<double> values;

  /// Throws nothing: NLopt is C.
  double evaluate(VectorRef control, Vector* gradient) {
    constexpr double kLowest = -std::numeric_limits<double>::infinity();
    double value = kLowest;
    try {
      value = criterion.value(control, gradient);
    } catch (const NumericalError&) {  // counts as not finite
    }
    if (!std::isfinite(value) || (gradient != nullptr && !gradient->allFinite())) {
      value = kLowest;
    }
    controls.emplace_back(control);
    values.push_back(value);
    return value;
  }
};

double objective(unsigned n, const double* x, double* gradient_out, void* data) {
  auto& seen = *static_cast<Seen*>(data);
  const Eigen::Map<const Vector> control(x, static_cast<Index>(n));
  Vector gradient;
  const double value = seen.evaluate(control, gradient_out != nullptr ? &gradient : nullptr);
  const bool usable = std::isfinite(value);
  if (gradient_out != nullptr) {
    Eigen::Map<Vector>(gradient_out, static_cast<Index>(n)) = usable ? gradient : Vector::Zero(control.size());
  }
  return usable ? value : -1e300;  // NLopt's searches step back from it
}

/// A local search; whatever its verdict, all that it saw counts.
void refine(Seen& seen, const Box& box, Vector from, const SearchOptions& options) {
  const auto n = static_cast<unsigned>(from.size());
  const nlopt_algorithm algorithm = seen.criterion.has_gradient() ? NLOPT_LD_SLSQP : NLOPT_LN_BOBYQA;
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> search(nlopt_create(algorithm, n), nlopt_destroy);
  nlopt_set_lower_bounds(search.get(), box.low.data());
  nlopt_set_upper_bounds(search.get(), box.high.data());
  nlopt_set_max_objective(search.get(), objective, &seen);
  nlopt_set_maxeval(search.get(), options.evaluations);
  nlopt_set_xtol_rel(search.get(), 1e-6);
  nlopt_set_ftol_rel(search.get(), 1e-10);
  double value = 0.0;
  nlopt_optimize(search.get(), from.data(), &value);
}

/// The best of all; among ties the lowest control.
std::size_t best_of(const Seen& seen, double tie) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : seen.values) {
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  const double limit = high - tie * std::max(high - low, std::abs(high) * 1e-3);
  std::size_t best = seen.values.size();
  for (std::size_t k = 0; k < seen.values.size(); ++k) {
    if (seen.values[k] >= limit &&
        (best == seen.values.size() || std::ranges::lexicographical_compare(seen.controls[k], seen.controls[best]))) {
      best = k;
    }
  }
  return best;
}

}  // namespace

Choice maximise(const Criterion& criterion, const Box& box, const SearchOptions& options) {
  const Matrix points = start_points(box, options);
  Seen seen{criterion, {}, {}};
  for (Index k = 0; k < points.rows(); ++k) {
    seen.evaluate(points.row(k).transpose(), nullptr);
  }
  Choice choice;
  if (points.cols() == 1) {
    choice.landscape.resize(points.rows(), 2);
    choice.landscape << points, Eigen::Map<const Vector>(seen.values.data(), points.rows());
  }
  std::vector<std::size_t> order(seen.values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return seen.values[a] > seen.values[b]; });
  if (!std::isfinite(seen.values[order.front()])) {
    throw NumericalError(fmt::format("the criterion is not finite at any of {} controls of the box", order.size()));
  }
  const auto refined = std::min(static_cast<std::size_t>(options.refined), order.size());
  for (std::size_t k = 0; k < refined; ++k) {
    if (std::isfinite(seen.values[order[k]])) {
      refine(seen, box, seen.controls[order[k]], options);
    }
  }
  const std::size_t best = best_of(seen, options.tie);
  choice.control = seen.controls[best].cwiseMax(box.low).cwiseMin(box.high);
  choice.criterion = seen.values[best];
  choice.evaluations = static_cast<int>(seen.values.size());
  return choice;
}

}  // namespace gpilot::plan
