/// Free runs over rows that a function had not learned from.
#include "gpilot/inference/rolling_runs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/core/random.hpp"
#include "gpilot/inference/candidate_search.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"

namespace gpilot::inference {
namespace {

/// A trained linear candidate of the pendulum, with all that rolling_runs() needs.
class RollingRunsTest : public ::testing::Test {
 protected:
  explicit RollingRunsTest(Index rows = 30) {
    const auto system = systems::make_system("pendulum");
    spec_ = trials::model_spec(*system);
    spec_.inducing = 0;
    const systems::Trajectory run =
        systems::simulate(*system, systems::random_controls(*system, rows, {1, 3}, 5), {.seed = 5});
    search_ = std::make_unique<CandidateSearch>(ssm::Dataset{{run.controls, run.outputs}}, spec_, options_, nullptr);
    candidate_ = search_->train_all().front();
  }

  RollingRuns runs(const ssm::StatePosterior& q, const ssm::Series& series, RollingOptions options = {}) const {
    return rolling_runs(candidate_.dynamics, q, series, search_->nodes(), options);
  }

  ssm::ModelSpec spec_;
  FitOptions options_;
  std::unique_ptr<CandidateSearch> search_;
  TrainedCandidate candidate_;
};

TEST_F(RollingRunsTest, AModelThatHasLearnedBeatsHoldingTheLastValue) {
  const RollingRuns all = runs(candidate_.q, search_->series());
  EXPECT_EQ(all.runs, 12);
  EXPECT_LT(all.rmse(), 0.5 * std::sqrt(all.hold_squares.sum() / all.counts.sum()));
  EXPECT_EQ(all.rmse_by_step().size(), 10U);
  EXPECT_EQ(static_cast<double>(all.surprise.rows()), all.counts.sum());  // every row is measured
}

TEST_F(RollingRunsTest, TheFunctionIsThatOfTheRowsBefore) {
  const RollingOptions one{.runs = 1};
  const RollingRuns before = runs(candidate_.q, search_->series(), one);
  ssm::StatePosterior q = candidate_.q;
  q.m.rightCols(8) *= -3.0;  // the one run begins in the middle of the last two thirds
  EXPECT_EQ(runs(q, search_->series(), one).squares, before.squares);
}

// Those of all rows have seen what is to be predicted. Taken as they are, the shift would raise the error by 62 %.
TEST_F(RollingRunsTest, TheStatesOfTheRowsBeforeAreSmoothedAnew) {
  const double before = runs(candidate_.q, search_->series()).rmse();
  ssm::StatePosterior q = candidate_.q;
  q.m.row(1).array() += 0.2;
  EXPECT_NEAR(runs(q, search_->series()).rmse(), before, 0.3 * before);
}

TEST_F(RollingRunsTest, MissingValuesAreNotCompared) {
  ssm::Series series = search_->series();
  const RollingRuns all = runs(candidate_.q, series);
  series.outputs.rightCols(2).setConstant(kNaN);
  const RollingRuns fewer = runs(candidate_.q, series);
  EXPECT_LT(fewer.counts.sum(), all.counts.sum());
  EXPECT_TRUE(std::isfinite(fewer.rmse()));
  EXPECT_EQ(static_cast<double>((!fewer.surprise.array().isNaN()).count()), fewer.counts.sum());
}

TEST_F(RollingRunsTest, OneWildValueCountsNoMoreThanTheWidthOfARange) {
  ssm::Series series = search_->series();
  series.outputs(0, series.rows() - 1) = 1e6;
  const RollingRuns all = runs(candidate_.q, series);
  EXPECT_LT(all.rmse(), 3.5);
}

class FewRowsTest : public RollingRunsTest {
 protected:
  FewRowsTest() : RollingRunsTest(4) {}
};

TEST_F(FewRowsTest, HaveNoRunsAndNoCalibration) {
  const RollingRuns none = runs(candidate_.q, search_->series());
  EXPECT_EQ(none.runs, 0);
  EXPECT_TRUE(std::isnan(none.rmse()));
  EXPECT_EQ(calibrated_spread(none).size(), 0);
}

TEST(CalibratedSpread, IsWhatNinetyPerCentOfTheErrorsAskFor) {
  RandomStream random(1, Purpose::kTest);
  RollingRuns runs;
  runs.runs = 1'000'000;  // evidence enough
  runs.surprise = 3.0 * random.normal_matrix(20000, 2);
  runs.surprise.col(1) /= 6.0;
  EXPECT_NEAR(calibrated_spread(runs)(0), 3.0, 0.1);
  EXPECT_NEAR(calibrated_spread(runs)(1), 0.5, 0.02);
  runs.runs = 3;  // as much as the prior of no factor weighs
  EXPECT_NEAR(calibrated_spread(runs)(0), std::sqrt(3.0), 0.05);
}

}  // namespace
}  // namespace gpilot::inference
