#include "gpilot/inference/start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/predictive_density.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/kalman.hpp"
#include "support/random_problem.hpp"

namespace gpilot::inference {
namespace {

using test::RandomProblem;

/// `count` tight clusters of ten points around (10 k, -10 k).
Matrix clusters(Index count) {
  RandomStream random(1, Purpose::kTest);
  Matrix points = 0.01 * random.normal_matrix(10 * count, 2);
  for (Index n = 0; n < points.rows(); ++n) {
    const double k = 10.0 * static_cast<double>(n % count);
    points.row(n) += Eigen::RowVector2d(k, -k);
  }
  return points;
}

TEST(KMeans, FindsTheCentresOfClusters) {
  const Matrix points = clusters(4);
  Matrix centres = k_means(points, 4, 0);
  std::vector<double> first(centres.col(0).data(), centres.col(0).data() + 4);
  std::sort(first.begin(), first.end());
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(first[k], 10.0 * static_cast<double>(k), 0.05);
  }
}

TEST(KMeans, AsManyCentresAsPointsAreThePoints) {
  const Matrix points = Matrix::Random(6, 2);
  const Matrix centres = k_means(points, 6, 3);
  for (Index n = 0; n < 6; ++n) {
    EXPECT_EQ((centres.rowwise() - points.row(n)).rowwise().squaredNorm().minCoeff(), 0.0);
  }
}

TEST(KMeans, IsDeterministicBySeedAndSurvivesDuplicates) {
  const Matrix points = clusters(5);
  EXPECT_EQ(k_means(points, 3, 7), k_means(points, 3, 7));
  EXPECT_NE(k_means(points, 7, 7, 0), k_means(points, 7, 7, 1));
  const Matrix same = Matrix::Constant(8, 2, 0.3);
  EXPECT_EQ(k_means(same, 4, 0), Matrix::Constant(4, 2, 0.3));
}

TEST(TransitionInputs, AreMeansAndControlsOfRowsThatHaveASuccessor) {
  const RandomProblem problem({});
  const Matrix points = transition_inputs(problem.structure, problem.series, problem.q);
  ASSERT_EQ(points.rows(), problem.series.transitions());
  const Index second = problem.series.start[1];
  EXPECT_EQ(points.row(0).head(2), problem.q.m.col(0).transpose());
  EXPECT_EQ(points(second - 1, 0), problem.q.m(0, second));  // the last row of the first sequence starts nothing
  EXPECT_EQ(points(second - 1, 2), problem.series.controls(0, second));
}

TEST(KinematicStart, FollowsTheOutputsAndTheirRate) {
  ssm::Structure structure;
  structure.states = 2;
  structure.kinematics = {{0, 1, 0.5}};
  structure.x0_mean = Vector::Zero(2);
  structure.x0_sd = Vector::Constant(2, 10.0);
  const Vector line = Vector::LinSpaced(21, 0.0, 4.0);  // 0.2 a step
  const ssm::Series series = ssm::concatenate({{Matrix(21, 0), line}});
  ssm::Parameters p = ssm::default_parameters(structure);
  p.log_r.setConstant(std::log(1e-6));
  const ssm::StatePosterior q = kinematic_start(structure, series, p, 0.5);
  EXPECT_LT((q.m.row(0).transpose() - line).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((q.m.row(1).array() - 0.2).abs().maxCoeff(), 1e-2);
}

TEST(OutputVarianceGuess, IsHalfTheWhiteNoiseThatWouldGiveTheSecondDifferences) {
  RandomStream random(1, Purpose::kTest);
  const double sd = 0.1;
  const ssm::Series series = ssm::concatenate({{Matrix(4000, 0), sd * random.normal_matrix(4000, 1)}});
  EXPECT_NEAR(output_variance_guess(series)(0), 0.5 * sd * sd, 0.05 * sd * sd);
}

/// log p(y_k | y_0..y_t) of a linear model by two evidences of the Kalman filter.
double ahead_density(const LinearGaussian& model, const ssm::Series& series, Index t, Index k) {
  ssm::Series masked = series;
  const Index n = series.rows();
  masked.outputs.rightCols(n - t - 1).setConstant(std::nan(""));
  const double without = test::kalman_rts(model, masked).log_evidence;
  masked.outputs.col(k) = series.outputs.col(k);
  return test::kalman_rts(model, masked).log_evidence - without;
}

class PredictiveDensity : public testing::TestWithParam<int> {};

TEST_P(PredictiveDensity, OfALinearModelIsTheKalmanFilters) {
  const int steps = GetParam();
  const RandomProblem problem(
      {.states = 3, .inducing = 0, .linear_kernel = false, .mean = ssm::MeanKind::kLinear, .kinematics = true});
  const ssm::Series& series = problem.series;
  const LinearGaussian model = test::linear_model(problem.structure, problem.parameters);
  double total = 0.0;
  Index values = 0;
  for (Index s = 0; s < series.sequences(); ++s) {
    const Index end = series.start[static_cast<std::size_t>(s) + 1];
    for (Index t = series.start[static_cast<std::size_t>(s)]; t < end; ++t) {
      for (Index k = t + 1; k <= t + steps && k < end; ++k) {
        total += ahead_density(model, series, t, k);
        values += series.outputs.rows() - series.outputs.col(k).array().isNaN().count();
      }
    }
  }
  const std::vector<gp::Weights> none(problem.structure.gp_rows().size(), gp::Weights{Vector(0), Matrix(0, 0)});
  const ssm::Transition transition(problem.structure, problem.parameters, none);
  const double density = predictive_density(transition, series, gp::make_nodes(gp::NodeRule::kCubature3, 3), steps);
  EXPECT_NEAR(density, total / static_cast<double>(values), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Steps, PredictiveDensity, testing::Values(1, 2, 4));

}  // namespace
}  // namespace gpilot::inference
