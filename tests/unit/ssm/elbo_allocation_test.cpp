#include <gtest/gtest.h>

#include <memory>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/allocation_counter.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::AllocationCounter;
using test::RandomProblem;

class ElboAllocation : public testing::TestWithParam<Index> {
 protected:
  void SetUp() override {
    if (!AllocationCounter::available()) {
      GTEST_SKIP() << "a sanitizer has taken malloc";
    }
  }
};

TEST(AllocationCounter, CountsOperatorNewAndEigen) {
  if (!AllocationCounter::available()) {
    GTEST_SKIP() << "a sanitizer has taken malloc";
  }
  const AllocationCounter counter;
  const std::unique_ptr<int> one = std::make_unique<int>(1);
  const Matrix two = Matrix::Zero(*one, 3);
  EXPECT_EQ(counter.count(), 2) << two;
}

TEST_P(ElboAllocation, NoneOnceTheFirstEvaluationIsDone) {
  const Index D = GetParam();
  const RandomProblem problem({.states = D, .inducing = 20, .rows = 200, .kinematics = D > 1, .angles = D % 4 == 0});
  Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, D));
  Parameters p_bar;
  StatePosterior q_bar;
  elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
  for (int k = 2; k <= 3; ++k) {
    const AllocationCounter counter;
    elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
    EXPECT_EQ(counter.count(), 0) << "gradient, evaluation " << k;
  }
  const AllocationCounter counter;
  elbo.value(problem.parameters, problem.q);
  EXPECT_EQ(counter.count(), 0) << "value";
}

INSTANTIATE_TEST_SUITE_P(States, ElboAllocation, testing::Values(1, 2, 4, 6));

}  // namespace
}  // namespace gpilot::ssm
