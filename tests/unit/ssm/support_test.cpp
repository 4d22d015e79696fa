/// Predictions that one draw cannot ruin, and that say where they leave their data.
#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/core/random.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/ensemble.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/report.hpp"
#include "support/toy_data.hpp"

namespace gpilot::ssm {
namespace {

TEST(CentralDraws, OfANormalAreItsMeanAndStandardDeviation) {
  RandomStream random(1, Purpose::kTest);
  const Vector draws = (3.0 + 2.0 * random.normal_vector(100000).array()).matrix();
  EXPECT_NEAR(central(draws).median, 3.0, 0.03);
  EXPECT_NEAR(central(draws).sd, 2.0, 0.03);
}

TEST(CentralDraws, AreNotMovedByAFewThatDiverge) {
  RandomStream random(2, Purpose::kTest);
  Vector draws = random.normal_vector(200);
  const CentralDraws before = central(draws);
  draws.head(6).setConstant(1e12);
  const CentralDraws after = central(draws);
  EXPECT_NEAR(after.median, before.median, 0.2);
  EXPECT_NEAR(after.sd, before.sd, 0.3);
}

class SupportTest : public ::testing::Test {
 protected:
  SupportTest() {
    const Sequence rows = test::toy_sequence(40);
    model_ = inference::fit({rows}, test::toy_spec(), test::quick_options());
    new_ = test::toy_sequence(20, 7);
  }

  Prediction run(Index draws) const {
    return Predictor(model_, model_.gp).free_run(new_, {.warmup = 2, .draws = draws});
  }

  Model model_;
  Sequence new_;
};

TEST_F(SupportTest, RowsLikeTheTrainingRowsAreSupported) {
  for (const Index draws : {0, 50}) {
    const Prediction prediction = run(draws);
    EXPECT_EQ(std::ranges::count(prediction.beyond, true), 0) << draws << " draws";
  }
}

TEST_F(SupportTest, AControlFarOutsideTheDataIsMarkedFromThereOn) {
  new_.controls(9, 0) = 40.0;
  for (const Index draws : {0, 50}) {
    const Prediction prediction = run(draws);
    EXPECT_FALSE(prediction.beyond[9]);
    for (std::size_t t = 10; t < 20; ++t) {
      EXPECT_TRUE(prediction.beyond[t]) << draws << " draws, row " << t;
    }
  }
}

TEST_F(SupportTest, AModelThatDoesNotKnowItsDataMarksNothing) {
  model_.gp.support.resize(0);
  new_.controls(9, 0) = 40.0;
  EXPECT_EQ(std::ranges::count(run(0).beyond, true), 0);
}

TEST_F(SupportTest, APointPredictionOfDrawsIsTheirMedian) {
  const Prediction prediction = run(100);
  EXPECT_EQ(prediction.mean.bottomRows(18), prediction.quantiles[3].bottomRows(18));
}

TEST(HeldOut, TellsHowFarAheadAModelIsWorthSomething) {
  HeldOut held{.model = {0.2, 0.1, 0.2, 0.9}, .linear = {0.4, 0.2, 0.4, 1.8}, .hold = {0.1, 0.2, 0.4, 0.8}, .runs = 5};
  EXPECT_EQ(held.skilled_steps(), 3);  // the first step, where both are at the noise, does not count against it
  EXPECT_DOUBLE_EQ(held.linear_ratio(), 2.0 * held.model_ratio());
  held.hold = {0.1, 0.05, 0.1, 0.8};
  EXPECT_EQ(held.skilled_steps(), 0);
  held.hold = {1.0, 1.0, 1.0, 1.0};
  EXPECT_EQ(held.skilled_steps(), 4);
  EXPECT_FALSE(HeldOut{}.skilled_steps().has_value());
  EXPECT_TRUE(std::isnan(HeldOut{}.model_ratio()));
}

}  // namespace
}  // namespace gpilot::ssm
