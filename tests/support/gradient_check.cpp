#include "support/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpilot::test {

testing::AssertionResult gradient_matches(const std::function<double(const Vector&)>& function, const Vector& at,
                                          const Vector& gradient, double tolerance, double step, double floor,
                                          const std::vector<std::string>& names) {
  if (gradient.size() != at.size()) {
    return testing::AssertionFailure() << "the gradient has " << gradient.size() << " entries, expected " << at.size();
  }
  const double largest = gradient.size() > 0 ? gradient.cwiseAbs().maxCoeff() : 0.0;
  double worst = 0.0;
  Index worst_at = 0;
  double worst_difference = 0.0;
  for (Index i = 0; i < at.size(); ++i) {
    const double h = step * std::max(1.0, std::abs(at(i)));
    const auto shifted = [&](double by) {
      Vector x = at;
      x(i) += by;
      return function(x);
    };
    const double difference = (8.0 * (shifted(h) - shifted(-h)) - (shifted(2.0 * h) - shifted(-2.0 * h))) / (12.0 * h);
    const double scale = std::max({std::abs(difference), std::abs(gradient(i)), floor * largest, 1e-12});
    double error = std::abs(difference - gradient(i)) / scale;
    if (std::isnan(error)) {
      error = std::numeric_limits<double>::infinity();
    }
    if (error > worst) {
      worst = error;
      worst_at = i;
      worst_difference = difference;
    }
  }
  if (worst <= tolerance) {
    return testing::AssertionSuccess();
  }
  const auto k = static_cast<std::size_t>(worst_at);
  return testing::AssertionFailure() << "entry " << worst_at << (k < names.size() ? " (" + names[k] + ")" : "")
                                     << ": gradient " << gradient(worst_at) << ", central difference "
                                     << worst_difference << ", relative error " << worst;
}

}  // namespace gpilot::test
