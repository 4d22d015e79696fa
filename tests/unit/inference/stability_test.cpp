#include "gpilot/inference/stability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "support/toy_data.hpp"

namespace gpilot::inference {
namespace {

/// A linear model of 40 rows of x' = a x + 0.4 c, y = x + noise.
ssm::Model linear_model(double a) {
  constexpr Index kRows = 40;
  constexpr double kOutputSd = 0.02;
  RandomStream random(5, Purpose::kTest, 22);
  ssm::Sequence sequence = test::toy_sequence(kRows);
  double x = 0.1;
  for (Index t = 0; t < kRows; ++t) {
    sequence.outputs(t, 0) = x + kOutputSd * random.normal();
    x = a * x + 0.4 * sequence.controls(t, 0);
  }
  ssm::ModelSpec spec = test::toy_spec();
  spec.inducing = 0;
  return fit({sequence}, spec, test::quick_options());
}

TEST(Stability, DoublingOfAnUnstableLinearModel) {
  const ssm::Model model = linear_model(1.1);
  const std::optional<double> rows = doubling_rows(model.gp);
  ASSERT_TRUE(rows.has_value());
  EXPECT_NEAR(*rows, std::numbers::ln2 / std::log(1.1), 0.3);
  EXPECT_NE(model.report.message.find("it is unstable: a deviation doubles every 7."), std::string::npos)
      << model.report.message;
}

TEST(Stability, NothingIsSaidOfAStableOne) {
  const ssm::Model model = linear_model(0.8);
  EXPECT_FALSE(doubling_rows(model.gp).has_value());
  EXPECT_EQ(model.report.message.find("unstable"), std::string::npos) << model.report.message;
}

TEST(Stability, NothingIsSaidOfAGaussianProcess) {
  ssm::Dynamics dynamics = linear_model(1.1).gp;
  dynamics.structure.inducing = 1;
  EXPECT_FALSE(doubling_rows(dynamics).has_value());
}

}  // namespace
}  // namespace gpilot::inference
