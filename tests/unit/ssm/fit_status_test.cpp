#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/report.hpp"

namespace gpilot::ssm {
namespace {

/// Files hold these words: they stay.
TEST(FitStatus, WordsAreThoseOfTheFiles) {
  const std::map<std::string, FitStatus> words{{"", FitStatus::kNone},
                                               {"converged", FitStatus::kConverged},
                                               {"iteration limit", FitStatus::kIterationLimit},
                                               {"motion as noise", FitStatus::kMotionAsNoise},
                                               {"interrupted", FitStatus::kInterrupted},
                                               {"failed", FitStatus::kFailed}};
  for (const auto& [word, status] : words) {
    EXPECT_EQ(name(status), word);
    EXPECT_EQ(fit_status_from_name(word), status);
  }
  EXPECT_THROW(fit_status_from_name("done"), InputError);
}

TEST(HeldOut, HasNoRatioWhereNothingChanged) {
  const HeldOut held{.model = {0.1, 0.2}, .linear = {0.1, 0.1}, .hold = {0.0, 0.0}, .runs = 5};
  EXPECT_TRUE(std::isnan(held.model_ratio()));
  EXPECT_TRUE(std::isnan(held.linear_ratio()));
  const HeldOut moving{.model = {1.0}, .linear = {2.0}, .hold = {4.0}, .runs = 5};
  EXPECT_EQ(moving.model_ratio(), 0.25);
  EXPECT_EQ(moving.linear_ratio(), 0.5);
}

}  // namespace
}  // namespace gpilot::ssm
