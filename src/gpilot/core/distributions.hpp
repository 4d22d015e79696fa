#pragma once

/// Distributions of statistics. Boost's headers take seconds to read, so only one source does.
namespace gpilot {

/// P(Z < z) of a standard normal.
double normal_cdf(double z);
/// Its density.
double normal_density(double z);
/// The z with P(Z < z) = level, 0 < level < 1.
double normal_quantile(double level);
/// The same of Student's t.
double student_t_quantile(double level, double degrees);
/// P(X > statistic) of a chi-squared variable.
double chi_squared_tail(double statistic, double degrees);

}  // namespace gpilot
