#include "gpilot/trials/test_set.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/systems/system.hpp"

namespace gpilot::trials {
namespace {

class TestSetOf : public testing::TestWithParam<const char*> {};

TEST_P(TestSetOf, HasNoisyOutputsOfNoiseFreeRunsInTheBox) {
  const auto system = systems::make_system(GetParam());
  const TestSet set = make_test_set(*system, TestRange::kWide);
  ASSERT_EQ(static_cast<Index>(set.sequences.size()), kTestTrajectories);
  Vector noise = Vector::Zero(system->output_dim());
  for (std::size_t n = 0; n < set.sequences.size(); ++n) {
    const ssm::Sequence& s = set.sequences[n];
    ASSERT_EQ(s.rows(), kTestSteps + 1);
    EXPECT_NO_THROW(systems::check_in_control_box(*system, s.controls.topRows(kTestSteps)));
    EXPECT_TRUE(s.outputs.row(0).array().isNaN().all());
    noise += (s.outputs - set.truth[n]).bottomRows(kTestSteps).cwiseAbs2().colwise().sum().transpose();
  }
  noise = (noise / static_cast<double>(kTestTrajectories * kTestSteps)).cwiseSqrt();
  const Vector ratio = noise.cwiseQuotient(system->spec().output_sd);
  EXPECT_LT((ratio.array() - 1.0).abs().maxCoeff(), 0.06);  // 4 sds of the sd of 2400 values
}

TEST_P(TestSetOf, StaysNearTheRegionOfInterest) {
  const auto system = systems::make_system(GetParam());
  const Box& region = system->spec().region;
  const Vector centre = system->spec().emission * (0.5 * (region.low + region.high));
  const Vector half = system->spec().emission * (0.5 * (region.high - region.low));
  for (const Matrix& truth : make_test_set(*system, TestRange::kWide).truth) {
    for (Index e = 0; e < truth.cols(); ++e) {
      EXPECT_LE((truth.col(e).array() - centre(e)).abs().maxCoeff(), 3.0 * half(e));
    }
  }
}

TEST_P(TestSetOf, EndsWhereItLeavesTheRegion) {
  const auto system = systems::make_system(GetParam());
  const Box& region = system->spec().region;
  const Vector centre = system->spec().emission * (0.5 * (region.low + region.high));
  const Vector half = system->spec().emission * (0.5 * (region.high - region.low));
  const TestSet set = make_test_set(*system, TestRange::kRegion);
  Index rows = 0;
  for (std::size_t n = 0; n < set.truth.size(); ++n) {
    EXPECT_EQ(set.truth[n].rows(), set.sequences[n].rows());
    EXPECT_EQ(set.sequences[n].controls.rows(), set.sequences[n].rows());
    rows += set.truth[n].rows();
    for (Index e = 0; e < half.size(); ++e) {
      // The first row is drawn from p(x_0), which may reach a little beyond.
      EXPECT_LE((set.truth[n].col(e).tail(set.truth[n].rows() - 1).array() - centre(e)).abs().maxCoeff(), half(e));
    }
  }
  EXPECT_GT(rows, kTestTrajectories * (kTestSteps + 1) / 2);  // redrawn until most of them stay
}

TEST_P(TestSetOf, IsAMixtureOfFourKinds) {
  const auto system = systems::make_system(GetParam());
  const Box& box = system->spec().control_box;
  const TestSet set = make_test_set(*system, TestRange::kWide);
  for (std::size_t n = 0; n < set.sequences.size(); ++n) {
    const Matrix c = set.sequences[n].controls.topRows(kTestSteps);
    Index changes = 0;
    for (Index t = 1; t < kTestSteps; ++t) {
      changes += c.row(t) == c.row(t - 1) ? 0 : 1;
    }
    const auto kind = static_cast<Index>(n) / 10;
    if (kind == 1) {
      EXPECT_EQ(changes, kTestSteps - 1) << "sine " << n;
    } else if (kind == 2) {
      EXPECT_LE(changes, 4) << "steps " << n;
    } else {
      EXPECT_GE(changes, kind == 3 ? 2 : 11) << "holds " << n;
    }
    const bool corners =
        ((c.rowwise() - box.low.transpose()).array() == 0.0 || (c.rowwise() - box.high.transpose()).array() == 0.0)
            .all();
    EXPECT_EQ(corners, kind == 3) << n;
  }
}

TEST_P(TestSetOf, DependsOnTheSystemAlone) {
  auto system = systems::make_system(GetParam());
  const TestSet a = make_test_set(*system, TestRange::kWide);
  const TestSet b = make_test_set(*system, TestRange::kWide);
  for (std::size_t n = 0; n < a.truth.size(); ++n) {
    EXPECT_EQ(a.truth[n], b.truth[n]);
    EXPECT_EQ(a.sequences[n].outputs.bottomRows(kTestSteps), b.sequences[n].outputs.bottomRows(kTestSteps));
  }
  Box half = system->spec().control_box;
  half.high = 0.5 * (half.low + half.high);
  system->set_control_box(half);
  const TestSet c = make_test_set(*system, TestRange::kWide);
  EXPECT_NE(a.truth[0], c.truth[0]);
  EXPECT_NO_THROW(systems::check_in_control_box(*system, c.sequences[15].controls.topRows(kTestSteps)));
}

TEST_P(TestSetOf, IsTheSameWithAllStatesObserved) {
  const auto system = systems::make_system(GetParam());
  const TestSet latent = make_test_set(*system, TestRange::kWide);
  system->observe_states();
  const TestSet observed = make_test_set(*system, TestRange::kWide);
  const std::vector<Index> own = system->spec().own_outputs();
  EXPECT_TRUE(latent.output_sd.isApprox(Vector(observed.output_sd(own)), 1e-14));  // sums of other widths
  for (std::size_t n = 0; n < latent.truth.size(); ++n) {
    EXPECT_EQ(latent.truth[n], Matrix(observed.truth[n](Eigen::all, own)));
    EXPECT_EQ(latent.sequences[n].outputs.bottomRows(kTestSteps),
              Matrix(observed.sequences[n].outputs.bottomRows(kTestSteps)(Eigen::all, own)));
    EXPECT_EQ(latent.sequences[n].controls.topRows(kTestSteps), observed.sequences[n].controls.topRows(kTestSteps));
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, TestSetOf, testing::Values("pendulum", "cart-pole", "tras"),
                         [](const auto& name) { return name.param[0] == 'c' ? "cart_pole" : name.param; });

TEST(TestSet, AnOutputThatDoesNotMoveIsJudgedByItsNoise) {
  const auto system = systems::make_system("tras");
  // Controls that hold the azimuth still do not exist, but a box of one point at rest moves it little.
  system->set_control_box({Vector{{0.0, 0.0}}, Vector{{0.0, 0.0}}});
  const TestSet set = make_test_set(*system, TestRange::kWide);
  EXPECT_TRUE((set.output_sd.array() >= system->spec().output_sd.array()).all());
}

}  // namespace
}  // namespace gpilot::trials
