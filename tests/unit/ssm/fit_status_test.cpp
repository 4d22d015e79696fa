#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gpilot::ssm
