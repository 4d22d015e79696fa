/// Bits that do not depend on threads or on whether features are kept between the passes.
#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::RandomProblem;

struct Evaluation {
  Evaluation(const RandomProblem& problem, int threads, const std::vector<gp::Weights>* weights = nullptr) {
    Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, problem.structure.states),
              threads);
    alone = elbo.value(problem.parameters, problem.q, weights);
    value = elbo.gradient(problem.parameters, problem.q, p_bar, q_bar, weights);
    v = elbo.weights();
  }

  double alone = 0.0;
  double value = 0.0;
  Parameters p_bar;
  StatePosterior q_bar;
  std::vector<gp::Weights> v;
};

void expect_same_bits(const Evaluation& a, const Evaluation& b) {
  EXPECT_EQ(a.alone, b.alone);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.q_bar.m, b.q_bar.m);
  EXPECT_EQ(a.q_bar.A, b.q_bar.A);
  EXPECT_EQ(a.q_bar.S_chol, b.q_bar.S_chol);
  EXPECT_EQ(a.p_bar.log_variance, b.p_bar.log_variance);
  EXPECT_EQ(a.p_bar.log_length_scales, b.p_bar.log_length_scales);
  EXPECT_EQ(a.p_bar.log_linear_sd, b.p_bar.log_linear_sd);
  EXPECT_EQ(a.p_bar.mean_weights, b.p_bar.mean_weights);
  EXPECT_EQ(a.p_bar.Z, b.p_bar.Z);
  EXPECT_EQ(a.p_bar.log_q, b.p_bar.log_q);
  EXPECT_EQ(a.p_bar.log_r, b.p_bar.log_r);
  EXPECT_EQ(a.p_bar.C, b.p_bar.C);
  EXPECT_EQ(a.p_bar.d, b.p_bar.d);
  for (std::size_t g = 0; g < a.v.size(); ++g) {
    EXPECT_EQ(a.v[g].mu, b.v[g].mu);
    EXPECT_EQ(a.v[g].Sigma, b.v[g].Sigma);
  }
}

TEST(ElboThreads, SameBitsForOneTwoAndThreeThreads) {
  const RandomProblem problem({.inducing = 12, .rows = 700, .kinematics = true});
  const Evaluation one(problem, 1);
  expect_same_bits(one, Evaluation(problem, 2));
  expect_same_bits(one, Evaluation(problem, 3));
}

TEST(ElboThreads, SameBitsForMoreThreadsThanBlocks) {
  const RandomProblem problem({.inducing = 5, .rows = 60});
  expect_same_bits(Evaluation(problem, 1), Evaluation(problem, 8));
}

TEST(ElboThreads, ValueAloneIsTheValueBesideTheGradient) {
  const RandomProblem problem({.inducing = 12, .rows = 300});
  const Evaluation one(problem, 1);
  EXPECT_NEAR(one.alone, one.value, 1e-12 * std::abs(one.value));
}

TEST(ElboThreads, ASecondEvaluationHasTheSameBits) {
  const RandomProblem problem({.inducing = 12, .rows = 300});
  Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 2), 2);
  Parameters p_bar;
  StatePosterior q_bar;
  const double first = elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
  Parameters elsewhere = problem.parameters;
  elsewhere.log_q.array() += 0.5;
  elbo.gradient(elsewhere, problem.q, p_bar, q_bar);
  EXPECT_EQ(elbo.gradient(problem.parameters, problem.q, p_bar, q_bar), first);
  const Evaluation fresh(problem, 1);
  EXPECT_EQ(p_bar.Z, fresh.p_bar.Z);
  EXPECT_EQ(q_bar.A, fresh.q_bar.A);
}

/// A series so long that some features are computed anew in the second pass, beside its two halves, whose features are
/// kept.
/// With given weights the bounds add up but for KL[q(v) || p(v)], and so do the gradients.
TEST(ElboBlocks, FeaturesComputedAnewGiveWhatKeptOnesGive) {
  constexpr Index kRows = 8000;
  RandomProblem whole({.states = 1, .inducing = 30, .rows = 2 * kRows - 2, .linear_kernel = false});
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kGaussHermite, 1, 49);
  const std::vector<gp::Weights> weights{{Vector::LinSpaced(30, -0.5, 0.5), 0.3 * Matrix::Identity(30, 30)}};
  const auto gradient_of = [&](const Series& series, const StatePosterior& q, Parameters& p_bar,
                               StatePosterior& q_bar) {
    Elbo elbo(whole.structure, series, nodes);
    return elbo.gradient(whole.parameters, q, p_bar, q_bar, &weights);
  };
  Parameters p_whole;
  StatePosterior q_whole;
  const double value = gradient_of(whole.series, whole.q, p_whole, q_whole);
  Parameters p_sum;
  double sum = gp::kl_to_standard_normal(weights.front());
  for (std::size_t k = 0; k < 2; ++k) {
    const Index begin = whole.series.start[k];
    const Index count = whole.series.start[k + 1] - begin;
    const Series part = concatenate({{whole.series.controls.middleCols(begin, count).transpose(),
                                      whole.series.outputs.middleCols(begin, count).transpose(),
                                      whole.series.broad[static_cast<std::size_t>(begin)]}});
    const StatePosterior q{whole.q.m.middleCols(begin, count), whole.q.A.middleCols(begin, count),
                           whole.q.S_chol.middleCols(begin, count)};
    Parameters p_bar;
    StatePosterior q_bar;
    sum += gradient_of(part, q, p_bar, q_bar);
    p_sum = k == 0 ? p_bar : p_sum;
    if (k == 1) {
      p_sum.Z += p_bar.Z;
      p_sum.log_length_scales += p_bar.log_length_scales;
    }
    EXPECT_LT((q_bar.S_chol - q_whole.S_chol.middleCols(begin, count)).cwiseAbs().maxCoeff(), 1e-8);
  }
  EXPECT_NEAR(value, sum, 1e-10 * std::abs(sum));
  EXPECT_LT((p_whole.Z - p_sum.Z).norm(), 1e-9 * p_sum.Z.norm());
  EXPECT_LT((p_whole.log_length_scales - p_sum.log_length_scales).norm(), 1e-9 * p_sum.log_length_scales.norm());
}

}  // namespace
}  // namespace gpilot::ssm
