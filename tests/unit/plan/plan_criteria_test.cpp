#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "gpilot/plan/function_uncertainty.hpp"
#include "gpilot/plan/plan_criterion.hpp"
#include "support/dense_plan.hpp"
#include "support/random_context.hpp"

/// The value of a plan against the posterior update it stands for: one joint Gaussian of the function at the points of
/// the plan and of the reference, the state, the noises and the outputs, conditioned by the textbook.
namespace gpilot::plan {
namespace {

using test::RandomContext;

constexpr Index kHorizon = 4;
constexpr Index kPlans = 3;

const std::vector<RandomContext::Options> kCases{
    {},
    {.states = 3, .controls = 2, .outputs = 2, .seed = 2},
    {.kinematics = true, .seed = 3},
    {.states = 3, .outputs = 1, .kernel = kernels::Kind::kMatern32, .linear_kernel = false, .seed = 6},
};

double log_determinant(const Matrix& K) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(K).eigenvalues().array().log().sum();
}

class PlanValue : public testing::TestWithParam<std::size_t> {
 protected:
  PlanValue() : options_(kCases[GetParam()]), random_(options_), context_(random_.context()) {
    random_.belief.mean *= 0.3;
    std::vector<gp::Weights> weights = random_.transition.weights();
    for (gp::Weights& w : weights) {
      w.mu *= 0.3;
    }
    random_.transition = ssm::Transition(random_.transition.structure(), random_.transition.parameters(), weights);
    context_.history = nullptr;
    uncertainty_ = function_uncertainty(context_);
    RandomStream stream(1, Purpose::kTest, 9);
    paths_ = std::make_unique<RollOut>(context_, uncertainty_, kHorizon);
    Matrix plans(kHorizon * options_.controls, kPlans);
    for (Index n = 0; n < kPlans; ++n) {
      for (Index t = 0; t < kHorizon; ++t) {
        plans.block(t * options_.controls, n, options_.controls, 1) = random_.random_control(stream);
      }
    }
    paths_->run(plans);
  }

  /// All that is needed of plan n, with f at the points of the path and at further ones X.
  struct Joint {
    Matrix outputs;                         ///< [E H x E H]
    Matrix function;                        ///< [G H x G H] of f along the path
    Matrix outputs_function;                ///< [E H x G H]
    std::vector<Matrix> at_reference;       ///< [G] of [R x R]
    std::vector<Matrix> outputs_reference;  ///< [G] of [E H x R]
  };

  Joint joint(Index n, const Matrix& reference) const {
    const ssm::Transition& transition = context_.transition;
    const Index E = options_.outputs;
    Matrix path(kHorizon, paths_->points().cols());
    for (Index t = 0; t < kHorizon; ++t) {
      path.row(t) = paths_->points().row(t * kPlans + n);
    }
    Matrix all(kHorizon + reference.rows(), path.cols());
    all << path, reference;
    const test::DensePath dense = test::dense_path(transition, path);
    const Matrix to_start = dense.to_start.bottomRows(E * kHorizon);
    const Matrix to_noise = dense.to_noise.bottomRows(E * kHorizon);
    const Matrix to_function = dense.to_function.bottomRows(E * kHorizon);
    Joint result;
    std::vector<Matrix> V;
    for (std::size_t g = 0; g < transition.bases().size(); ++g) {
      const Matrix both = test::dense_covariance(transition, g, all);
      V.push_back(both.topLeftCorner(kHorizon, kHorizon));
      result.at_reference.push_back(both.bottomRightCorner(reference.rows(), reference.rows()));
      result.outputs_reference.push_back(to_function.middleCols(static_cast<Index>(g) * kHorizon, kHorizon) *
                                         both.topRightCorner(kHorizon, reference.rows()));
    }
    result.function = test::block_diagonal(V);
    result.outputs_function = to_function * result.function;
    const Vector q = context_.planned_process_variance();
    const Vector r = transition.parameters().log_r.array().exp();
    result.outputs = to_start * context_.belief.covariance * to_start.transpose() +
                     to_noise * q.replicate(kHorizon, 1).asDiagonal() * to_noise.transpose() +
                     result.outputs_function * to_function.transpose();
    result.outputs.diagonal() += r.replicate(kHorizon, 1);
    return result;
  }

  RandomContext::Options options_;
  RandomContext random_;
  DecisionContext context_;
  std::vector<gp::PackedPosterior> uncertainty_;
  std::unique_ptr<RollOut> paths_;
};

TEST_P(PlanValue, OfInformationIsThatOfThePosteriorUpdate) {
  InformationGain criterion;
  for (Index n = 0; n < kPlans; ++n) {
    ASSERT_EQ(paths_->sensible_rows(n), kHorizon);
    const Joint all = joint(n, Matrix(0, paths_->points().cols()));
    const Matrix given = test::conditioned(all.outputs, all.outputs_function.transpose(), all.function);
    const double expected = 0.5 * (log_determinant(all.outputs) - log_determinant(given));
    EXPECT_NEAR(criterion.value(*paths_, n, paths_->outputs(n)), expected, 1e-5 * expected) << "plan " << n;
    EXPECT_GT(expected, 0.0);
  }
}

TEST_P(PlanValue, OfTheReferenceIsThatOfThePosteriorUpdate) {
  Reference reference = make_reference(context_, uncertainty_);
  ASSERT_GT(reference.X.rows(), 10);
  ReferenceVariance criterion(reference);
  criterion.prepare(*paths_);
  for (Index n = 0; n < kPlans; ++n) {
    const Joint all = joint(n, reference.X);
    double now = 0.0;
    double reduction = 0.0;
    double variance = 0.0;
    for (std::size_t g = 0; g < all.at_reference.size(); ++g) {
      const Vector before = all.at_reference[g].diagonal();
      const Vector after = test::conditioned(all.at_reference[g], all.outputs_reference[g], all.outputs).diagonal();
      now += before.squaredNorm();
      reduction += before.dot(before - after);
      variance += before.mean() / static_cast<double>(all.at_reference.size());
    }
    const double expected = reduction / now;
    EXPECT_NEAR(criterion.value(*paths_, n, paths_->outputs(n)), expected, 1e-5 * expected) << "plan " << n;
    EXPECT_GT(expected, 0.0);
    EXPECT_LT(expected, 1.0);
    EXPECT_NEAR(reference.variance, variance, 1e-9);
  }
}

TEST_P(PlanValue, OfEntropyIsThatOfTheFunctionAlongThePath) {
  PathEntropy criterion;
  const Joint all = joint(1, Matrix(0, paths_->points().cols()));
  const std::vector<Index> rows = context_.transition.structure().gp_rows();
  double expected = 0.0;
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const double q = std::exp(context_.transition.parameters().log_q(rows[g]));
    const Index at = static_cast<Index>(g) * kHorizon;
    const Matrix V = all.function.block(at, at, kHorizon, kHorizon);
    expected += 0.5 * log_determinant(Matrix::Identity(kHorizon, kHorizon) + V / q);
  }
  EXPECT_NEAR(criterion.value(*paths_, 1, paths_->outputs(1)), expected, 1e-8 * expected);
}

INSTANTIATE_TEST_SUITE_P(Models, PlanValue, testing::Range<std::size_t>(0, 4));

}  // namespace
}  // namespace gpilot::plan
