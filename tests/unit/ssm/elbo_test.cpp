#include "gpilot/ssm/elbo.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/bound_gradient.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::RandomProblem;

struct Case {
  Index states;
  kernels::Kind kernel;
  bool linear;
  bool kinematics;
  MeanKind mean;
  bool angles = false;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.states << " states, " << kernels::name(c.kernel) << (c.linear ? "+linear" : "")
       << (c.kinematics ? ", kinematics" : "") << (c.angles ? ", angles" : "") << ", mean " << name(c.mean);
}

class ElboGradient : public testing::TestWithParam<Case> {};

TEST_P(ElboGradient, MatchesCentralDifferences) {
  const Case c = GetParam();
  const RandomProblem problem({.states = c.states,
                               .kernel = c.kernel,
                               .linear_kernel = c.linear,
                               .mean = c.mean,
                               .kinematics = c.kinematics,
                               .angles = c.angles});
  Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, c.states));
  Free free = Free::defaults(problem.structure);
  free.C = free.d = free.mean = true;
  test::expect_bound_gradient(problem, elbo, free);
}

INSTANTIATE_TEST_SUITE_P(
    All, ElboGradient,
    testing::Values(Case{1, kernels::Kind::kSquaredExponential, false, false, MeanKind::kZero},
                    Case{2, kernels::Kind::kSquaredExponential, true, true, MeanKind::kIdentity},
                    Case{2, kernels::Kind::kMatern12, false, false, MeanKind::kIdentity},
                    Case{2, kernels::Kind::kMatern32, true, false, MeanKind::kLinear},
                    Case{3, kernels::Kind::kMatern52, false, true, MeanKind::kLinear},
                    Case{4, kernels::Kind::kSquaredExponential, true, true, MeanKind::kIdentity},
                    Case{5, kernels::Kind::kMatern32, true, false, MeanKind::kZero},
                    Case{1, kernels::Kind::kMatern52, true, false, MeanKind::kIdentity, true},
                    Case{2, kernels::Kind::kSquaredExponential, true, true, MeanKind::kIdentity, true},
                    Case{3, kernels::Kind::kMatern32, false, false, MeanKind::kIdentity, true},
                    Case{4, kernels::Kind::kSquaredExponential, true, true, MeanKind::kIdentity, true}));

}  // namespace
}  // namespace gpilot::ssm
