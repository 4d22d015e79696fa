#include "gpilot/plan/roll_out.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/dense_plan.hpp"
#include "support/random_context.hpp"

namespace gpilot::plan {
namespace {

using test::RandomContext;

constexpr Index kHorizon = 5;

const std::vector<RandomContext::Options> kCases{
    {},
    {.states = 3, .controls = 2, .outputs = 2, .kernel = kernels::Kind::kMatern52, .seed = 2},
    {.kinematics = true, .seed = 3},
    {.inducing = 0, .seed = 4},
    {.states = 1, .linear_kernel = false, .seed = 5},
};

/// A situation whose path stays near: a model of random weights may run away.
struct Path {
  explicit Path(const RandomContext::Options& options, Index count = 3, Index draws = 0)
      : random(options), context(random.context()) {
    random.belief.mean *= 0.3;
    tame();
    context.history = nullptr;
    uncertainty = function_uncertainty(context);
    RandomStream stream(options.seed, Purpose::kTest, 9);
    plans.resize(kHorizon * options.controls, count);
    for (Index n = 0; n < count; ++n) {
      for (Index t = 0; t < kHorizon; ++t) {
        plans.block(t * options.controls, n, options.controls, 1) = random.random_control(stream);
      }
    }
    paths = std::make_unique<RollOut>(context, uncertainty, kHorizon, draws);
    paths->run(plans);
  }

  void tame() {
    std::vector<gp::Weights> weights = random.transition.weights();
    for (gp::Weights& w : weights) {
      w.mu *= 0.3;
    }
    random.transition = ssm::Transition(random.transition.structure(), random.transition.parameters(), weights);
  }

  Matrix points(Index n) const {
    Matrix X(kHorizon, paths->points().cols());
    for (Index t = 0; t < kHorizon; ++t) {
      X.row(t) = paths->points().row(t * paths->paths() + n);
    }
    return X;
  }

  RandomContext random;
  DecisionContext context;
  std::vector<gp::PackedPosterior> uncertainty;
  Matrix plans;
  std::unique_ptr<RollOut> paths;
};

TEST(RollOut, FollowsTheMeanOfTheTransition) {
  for (const auto& options : kCases) {
    Path path(options);
    for (Index n = 0; n < 3; ++n) {
      ASSERT_EQ(path.paths->sensible_rows(n), kHorizon);
      const Vector expected =
          test::kicked_outputs(path.context, path.plans.col(n), Matrix::Zero(options.states, kHorizon));
      EXPECT_LT((path.paths->outputs(n).mean - expected).cwiseAbs().maxCoeff(), 1e-10) << "seed " << options.seed;
    }
  }
}

TEST(RollOut, ResponseIsWhatAKickOnTheWayDoes) {
  constexpr double kStep = 1e-5;
  for (const auto& options : kCases) {
    Path path(options);
    const Index D = options.states;
    const Matrix response = path.paths->outputs(1).response;
    for (Index t = 0; t < kHorizon; ++t) {
      for (Index d = 0; d < D; ++d) {
        Matrix kick = Matrix::Zero(D, kHorizon);
        kick(d, t) = kStep;
        const Vector above = test::kicked_outputs(path.context, path.plans.col(1), kick);
        const Vector below = test::kicked_outputs(path.context, path.plans.col(1), -kick);
        const Vector differences = (above - below) / (2.0 * kStep);
        EXPECT_LT((response.col(d * kHorizon + t) - differences).cwiseAbs().maxCoeff(), 1e-6)
            << "seed " << options.seed << ", row " << t << ", state " << d;
      }
    }
  }
}

/// cov(y_s, y_t) = C P_s (F_{t-1} .. F_s)^T C^T for s <= t, with P_{t+1} = F P F^T + L^-1 Q L^-T, Q as plans count on
/// it.
TEST(RollOut, NoiseIsThatOfTheStatesRecursion) {
  for (const auto& options : kCases) {
    Path path(options);
    const ssm::Transition& transition = path.context.transition;
    const ssm::Parameters& p = transition.parameters();
    const Index E = options.outputs;
    const Matrix X = path.points(2);
    Matrix expected = Matrix::Zero(E * kHorizon, E * kHorizon);
    Matrix covariance = path.context.belief.covariance;
    const Matrix Q = transition.left_inverse() * path.context.planned_process_variance().asDiagonal() *
                     transition.left_inverse().transpose();
    for (Index s = 0; s < kHorizon; ++s) {
      const Matrix F = test::step_slope(transition, X.row(s).transpose());
      covariance = Matrix(F * covariance * F.transpose() + Q);
      Matrix later = covariance;
      for (Index t = s; t < kHorizon; ++t) {
        const Matrix together = p.C * later * p.C.transpose();
        expected.block(E * s, E * t, E, E) = together;
        expected.block(E * t, E * s, E, E) = together.transpose();
        if (t + 1 < kHorizon) {
          later = Matrix(later * test::step_slope(transition, X.row(t + 1).transpose()).transpose());
        }
      }
      expected.block(E * s, E * s, E, E).diagonal() += p.log_r.array().exp().matrix();
    }
    EXPECT_LT((path.paths->outputs(2).noise - expected).cwiseAbs().maxCoeff(), 1e-6) << "seed " << options.seed;
  }
}

TEST(RollOut, SignalIsTheFunctionsCovarianceThroughThePath) {
  for (const auto& options : kCases) {
    Path path(options);
    const ssm::Transition& transition = path.context.transition;
    const PlannedOutputs& outputs = path.paths->outputs(0);
    const Matrix X = path.points(0);
    std::vector<Matrix> V;
    for (std::size_t g = 0; g < transition.bases().size(); ++g) {
      V.push_back(test::dense_covariance(transition, g, X));
      EXPECT_LT((outputs.V[g] - V[g]).cwiseAbs().maxCoeff(), 1e-10) << "seed " << options.seed;
    }
    const test::DensePath dense = test::dense_path(transition, X);
    const Matrix to_function = dense.to_function.bottomRows(options.outputs * kHorizon);
    const Matrix expected = to_function * test::block_diagonal(V) * to_function.transpose();
    EXPECT_LT((outputs.signal - expected).cwiseAbs().maxCoeff(), 1e-6) << "seed " << options.seed;
  }
}

TEST(RollOut, DoesNotDependOnTheOtherPlans) {
  Path path(kCases[1]);
  const Vector mean = path.paths->outputs(2).mean;
  const Matrix signal = path.paths->outputs(2).signal;
  path.paths->run(path.plans.col(2));
  EXPECT_EQ(path.paths->paths(), 1);
  EXPECT_LT((path.paths->outputs(0).mean - mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((path.paths->outputs(0).signal - signal).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(RollOut, DrawsAreFunctions) {
  constexpr Index kDraws = 4;
  Path path({}, 3, kDraws);
  ASSERT_EQ(path.paths->paths_of_plan(), kDraws);
  ASSERT_EQ(path.paths->paths(), 3 * kDraws);
  Matrix plans = path.plans;
  plans.col(2) = plans.col(0);
  plans.bottomRows(1)(0, 2) += 0.5;  // leaves plan 0 in the last row
  path.paths->run(plans);
  for (Index k = 0; k < kDraws; ++k) {
    // The same function at the same points, and another one for another draw.
    EXPECT_EQ(path.points(k).leftCols(2), path.points(2 * kDraws + k).leftCols(2)) << "draw " << k;
    EXPECT_GT((path.points(k).row(1) - path.points((k + 1) % kDraws).row(1)).norm(), 1e-3) << "draw " << k;
    // Draws start where the mean does.
    EXPECT_EQ(path.points(k).row(0).head(2), path.context.belief.mean.transpose());
  }
}

TEST(RollOut, HoldsAPathThatLeavesTheModel) {
  RandomContext random({.states = 1, .inducing = 0});
  ssm::Parameters p = random.transition.parameters();
  p.mean_weights(0, 0) = 40.0;  // x' = 40 x + ..
  random.transition = ssm::Transition(random.transition.structure(), p, random.transition.weights());
  random.belief.mean(0) = 0.5;
  DecisionContext context = random.context();
  context.history = nullptr;
  const auto uncertainty = function_uncertainty(context);
  RollOut paths(context, uncertainty, kHorizon);
  paths.run(Matrix::Zero(kHorizon, 2));
  EXPECT_LT(paths.sensible_rows(0), kHorizon);
  EXPECT_TRUE(paths.points().allFinite());
}

}  // namespace
}  // namespace gpilot::plan
