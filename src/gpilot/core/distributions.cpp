#include "gpilot/core/distributions.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>

namespace gpilot {

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double normal_density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
}

double normal_quantile(double level) {
  return boost::math::quantile(boost::math::normal(), level);
}

double student_t_quantile(double level, double degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), level);
}

double chi_squared_tail(double statistic, double degrees) {
  return boost::math::cdf(boost::math::complement(boost::math::chi_squared(degrees), statistic));
}

}  // namespace gpilot
