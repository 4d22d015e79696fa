#include "gpilot/core/distributions.hpp"

#include <gtest/gtest.h>

namespace gpilot {
namespace {

TEST(Distributions, AreThoseOfTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(student_t_quantile(0.95, 3.0), 2.353363434801824, 1e-12);
  EXPECT_NEAR(chi_squared_tail(3.841458820694124, 1.0), 0.05, 1e-13);
  EXPECT_EQ(chi_squared_tail(0.0, 4.0), 1.0);
}

TEST(Distributions, NormalQuantileInvertsItsProbability) {
  for (const double z : {-3.0, -0.5, 0.0, 1.7}) {
    EXPECT_NEAR(normal_quantile(normal_cdf(z)), z, 1e-12);
    constexpr double kStep = 1e-6;
    EXPECT_NEAR((normal_cdf(z + kStep) - normal_cdf(z - kStep)) / (2.0 * kStep), normal_density(z), 1e-9);
  }
}

}  // namespace
}  // namespace gpilot
