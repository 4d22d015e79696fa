#include "gpilot/plan/limits.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gpilot/core/error.hpp"
#include "support/message_of.hpp"

namespace gpilot::plan {
namespace {

using test::message_of;

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kOutputs{"y_th", "y_p", "z"};

TEST(OutputLimits, AreFoundByTheNameOfAnOutputOrOfItsState) {
  const OutputLimits limits =
      make_limits(kOutputs, std::vector<NamedLimit>{{"th", -0.8, 0.8}, {"z", -kNone, 2.0}}, 0.1);
  EXPECT_EQ(limits.low, (Vector{{-0.8, -kNone, -kNone}}));
  EXPECT_EQ(limits.high, (Vector{{0.8, kNone, 2.0}}));
  EXPECT_EQ(limits.delta, 0.1);
  EXPECT_TRUE(limits.any());
  EXPECT_FALSE(make_limits(kOutputs, {}, 0.1).any());
}

TEST(OutputLimits, AreViolatedOutsideAndByNothingThatIsMissing) {
  const OutputLimits limits =
      make_limits(kOutputs, std::vector<NamedLimit>{{"y_th", -0.8, 0.8}, {"z", 0.0, kNone}}, 0.1);
  EXPECT_FALSE(limits.violated_by(Vector{{0.8, 1e9, 0.0}}));
  EXPECT_TRUE(limits.violated_by(Vector{{0.81, 0.0, 1.0}}));
  EXPECT_TRUE(limits.violated_by(Vector{{-0.81, 0.0, 1.0}}));
  EXPECT_TRUE(limits.violated_by(Vector{{0.0, 0.0, -0.1}}));
  EXPECT_FALSE(limits.violated_by(Vector{{kNaN, 0.0, 1.0}}));
  EXPECT_TRUE(limits.violated_by(Vector{{kNaN, 0.0, -1.0}}));
}

TEST(OutputLimits, RefuseWhatMakesNoSense) {
  const auto message = [](std::vector<NamedLimit> limits, double delta = 0.05) {
    return message_of<InputError>([&] { make_limits(kOutputs, limits, delta); });
  };
  EXPECT_NE(message({{"y_ht", 0.0, 1.0}}).find("limit: unknown output 'y_ht', did you mean 'y_th'?"), std::string::npos)
      << message({{"y_ht", 0.0, 1.0}});
  EXPECT_EQ(message({{"th", 0.0, 1.0}, {"y_th", 0.0, 2.0}}), "limit: 'y_th' has two");
  EXPECT_EQ(message({{"z", 1.0, 1.0}}), "limits of 'z': [1, 1] is no interval, expected low < high");
  EXPECT_NE(message({{"z", kNaN, 1.0}}).find("limits of 'z'"), std::string::npos);
  EXPECT_EQ(message({}, 0.0), "delta: 0, expected a probability between 0 and 1");
  EXPECT_NE(message({}, 1.0).find("delta: 1"), std::string::npos);
  EXPECT_NE(message({}, kNaN).find("delta: nan"), std::string::npos);
  const OutputLimits short_ones{.low = Vector::Zero(2), .high = Vector::Ones(2)};
  EXPECT_EQ(message_of<InputError>([&] { short_ones.validate(kOutputs); }),
            "limits: 2 lower and 2 upper ones, expected 3, one an output");
}

}  // namespace
}  // namespace gpilot::plan
