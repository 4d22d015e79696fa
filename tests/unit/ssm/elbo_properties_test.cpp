/// What must hold of the bound whatever its gradient: missing data, several sequences, given and optimal weights,
/// threads.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/bound_gradient.hpp"
#include "support/flat_states.hpp"
#include "support/gradient_check.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::flatten;
using test::gradient_matches;
using test::RandomProblem;

const double kLogTwoPi = std::log(2.0 * std::numbers::pi);

Elbo elbo_of(const RandomProblem& problem, int threads = 1) {
  return {problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, problem.structure.states), threads};
}

std::vector<gp::Weights> random_weights(const Structure& structure, std::uint64_t seed) {
  RandomStream random(seed, Purpose::kTest, 7);
  std::vector<gp::Weights> weights;
  const Index n = structure.features();
  for (std::size_t g = 0; g < structure.gp_rows().size(); ++g) {
    const Matrix root = 0.3 * random.normal_matrix(n, n);
    weights.push_back({0.5 * random.normal_vector(n), root * root.transpose() + 0.1 * Matrix::Identity(n, n)});
  }
  return weights;
}

double kl_of(const std::vector<gp::Weights>& weights) {
  double kl = 0.0;
  for (const gp::Weights& v : weights) {
    kl += gp::kl_to_standard_normal(v);
  }
  return kl;
}

/// E log N(y | c^T x + d, r) under N(m, P), written out.
double expected_log_density(const RandomProblem& problem, Index e, Index t, double y) {
  const Index D = problem.structure.states;
  const Vector c = problem.parameters.C.row(e).transpose();
  const double r = std::exp(problem.parameters.log_r(e));
  const Matrix P = marginal_covariances(problem.q).middleCols(D * t, D);
  const double residual = y - c.dot(problem.q.m.col(t)) - problem.parameters.d(e);
  return -0.5 * (kLogTwoPi + std::log(r) + (residual * residual + c.dot(P * c)) / r);
}

TEST(MissingOutputs, DropTheirTermAndNothingElse) {
  RandomProblem problem({.states = 3, .kinematics = true});
  Elbo elbo = elbo_of(problem);
  const double complete = elbo.value(problem.parameters, problem.q);
  for (const auto& [e, t] : {std::pair<Index, Index>{0, 3}, {1, 0}, {1, 10}}) {
    const double y = problem.series.outputs(e, t);
    ASSERT_FALSE(std::isnan(y));
    problem.series.outputs(e, t) = std::nan("");
    EXPECT_NEAR(elbo.value(problem.parameters, problem.q), complete - expected_log_density(problem, e, t, y), 1e-10);
    problem.series.outputs(e, t) = y;
  }
}

TEST(MissingOutputs, AreTheLimitOfInfiniteNoise) {
  RandomProblem problem({.states = 3});
  const Index n = problem.series.rows();
  problem.series.outputs.row(1).setConstant(0.7);
  RandomProblem noisy = problem;
  noisy.parameters.log_r(1) = 30.0;
  problem.series.outputs.row(1).setConstant(std::nan(""));
  Elbo missing = elbo_of(problem);
  Elbo infinite = elbo_of(noisy);
  Parameters p_bar;
  Parameters p_bar_noisy;
  StatePosterior q_bar;
  StatePosterior q_bar_noisy;
  const double value = missing.gradient(problem.parameters, problem.q, p_bar, q_bar);
  const double limit = infinite.gradient(noisy.parameters, noisy.q, p_bar_noisy, q_bar_noisy);
  EXPECT_NEAR(value, limit + 0.5 * static_cast<double>(n) * (kLogTwoPi + 30.0), 1e-9);
  EXPECT_LT((flatten(q_bar, problem.series) - flatten(q_bar_noisy, problem.series)).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(p_bar.log_r(1), 0.0);
}

/// The rows [begin, end) of a problem's series as a dataset of one sequence, with their q(x).
struct Part {
  Part(const RandomProblem& problem, Index begin, Index end)
      : q(StatePosterior::zero(problem.q.states(), end - begin)) {
    const Index D = problem.q.states();
    data.push_back({problem.series.controls.middleCols(begin, end - begin).transpose(),
                    problem.series.outputs.middleCols(begin, end - begin).transpose(),
                    problem.series.broad[static_cast<std::size_t>(begin)]});
    series = concatenate(data);
    q.m = problem.q.m.middleCols(begin, end - begin);
    q.A = problem.q.A.middleCols(D * begin, D * (end - begin));
    q.S_chol = problem.q.S_chol.middleCols(D * begin, D * (end - begin));
  }

  double value(const RandomProblem& problem, const std::vector<gp::Weights>* weights) const {
    Elbo elbo(problem.structure, series, gp::make_nodes(gp::NodeRule::kAuto, problem.structure.states));
    return elbo.value(problem.parameters, q, weights);
  }

  Dataset data;
  Series series;
  StatePosterior q;
};

TEST(Sequences, AddUpButForThePriorOfTheWeights) {
  const RandomProblem problem({.kinematics = true});
  const std::vector<gp::Weights> weights = random_weights(problem.structure, 1);
  Elbo elbo = elbo_of(problem);
  const std::vector<Index>& start = problem.series.start;
  const double first = Part(problem, start[0], start[1]).value(problem, &weights);
  const double second = Part(problem, start[1], start[2]).value(problem, &weights);
  EXPECT_NEAR(elbo.value(problem.parameters, problem.q, &weights), first + second + kl_of(weights), 1e-10);
}

TEST(Sequences, TheirOrderDoesNotMatter) {
  const RandomProblem problem({.kinematics = true});
  const std::vector<Index>& start = problem.series.start;
  const Part first(problem, start[0], start[1]);
  const Part second(problem, start[1], start[2]);
  const Series swapped = concatenate({second.data.front(), first.data.front()});
  StatePosterior q = problem.q;
  q.m << second.q.m, first.q.m;
  q.A << second.q.A, first.q.A;
  q.S_chol << second.q.S_chol, first.q.S_chol;
  Elbo elbo = elbo_of(problem);
  Elbo other(problem.structure, swapped, gp::make_nodes(gp::NodeRule::kAuto, problem.structure.states));
  EXPECT_NEAR(elbo.value(problem.parameters, problem.q), other.value(problem.parameters, q), 1e-10);
}

/// Where the next state ignores the present one and p(x_0) is what the transition gives, cutting a sequence in two
/// changes nothing.
TEST(Sequences, TwoHalvesEqualOneWhereTheLinkCarriesNothing) {
  RandomProblem problem({.inducing = 0, .linear_kernel = false, .mean = MeanKind::kZero});
  problem.parameters.mean_weights.setZero();
  problem.parameters.mean_weights.row(problem.structure.inputs()) << 0.3, -0.2;
  problem.structure.x0_mean = problem.parameters.mean_weights.row(problem.structure.inputs()).transpose();
  problem.structure.x0_sd = (0.5 * problem.parameters.log_q.array()).exp();
  const Index rows = problem.series.start[1];
  const Index cut = rows / 2;
  problem.q.A.middleCols(2 * cut, 2).setZero();
  const double whole = Part(problem, 0, rows).value(problem, nullptr);
  const double halves =
      Part(problem, 0, cut).value(problem, nullptr) + Part(problem, cut, rows).value(problem, nullptr);
  EXPECT_NEAR(whole, halves, 1e-11);
}

TEST(Sequences, OneMoreLinkIsOneMoreTerm) {
  // A broken link (A = 0) costs its transition instead of the second half's p(x_0); both from the terms of the bound.
  RandomProblem problem({.inducing = 0, .linear_kernel = false, .mean = MeanKind::kLinear});
  const Index rows = problem.series.start[1];
  const Index cut = rows / 2;
  problem.q.A.middleCols(2 * cut, 2).setZero();
  const Part whole(problem, 0, rows);
  const Part second(problem, cut, rows);
  const Matrix P = marginal_covariances(problem.q);
  const Matrix W = problem.parameters.mean_weights.transpose();  // [D x I + 1]
  const Matrix F = W.leftCols(2);
  const Vector next = F * problem.q.m.col(cut - 1) + W.col(2) * problem.series.controls(0, cut - 1) + W.col(3);
  double link = 0.0;
  double initial = 0.0;
  for (Index d = 0; d < 2; ++d) {
    const double q = std::exp(problem.parameters.log_q(d));
    const double x0 = problem.structure.x0_sd(d) * problem.structure.x0_sd(d);
    const double own = P(d, 2 * cut + d);
    const double carried = (F * P.middleCols(2 * (cut - 1), 2) * F.transpose())(d, d);
    link -= 0.5 * (kLogTwoPi + std::log(q) + (std::pow(problem.q.m(d, cut) - next(d), 2) + own + carried) / q);
    initial -=
        0.5 * (kLogTwoPi + std::log(x0) + (std::pow(problem.q.m(d, cut) - problem.structure.x0_mean(d), 2) + own) / x0);
  }
  const double halves = Part(problem, 0, cut).value(problem, nullptr) + second.value(problem, nullptr);
  EXPECT_NEAR(whole.value(problem, nullptr) - link, halves - initial, 1e-10);
}

TEST(GivenWeights, TheOptimumIsTheCollapsedBoundAndEverythingElseIsLower) {
  const RandomProblem problem({.kinematics = true});
  Elbo elbo = elbo_of(problem);
  const double collapsed = elbo.value(problem.parameters, problem.q);
  const std::vector<gp::Weights> optimal = elbo.weights();
  EXPECT_NEAR(elbo.value(problem.parameters, problem.q, &optimal), collapsed, 1e-10 * std::abs(collapsed));
  RandomStream random(2, Purpose::kTest);
  for (const double by : {1e-3, 1e-2, 0.1, 1.0}) {
    std::vector<gp::Weights> other = optimal;
    for (gp::Weights& v : other) {
      v.mu += by * random.normal_vector(v.mu.size());
    }
    EXPECT_LT(elbo.value(problem.parameters, problem.q, &other), collapsed) << "mean moved by " << by;
    other = optimal;
    for (gp::Weights& v : other) {
      v.Sigma *= 1.0 + by;
    }
    EXPECT_LT(elbo.value(problem.parameters, problem.q, &other), collapsed) << "covariance grown by " << by;
  }
}

class GivenWeightsGradient : public testing::TestWithParam<bool> {};

TEST_P(GivenWeightsGradient, InParametersAndStatesMatchesCentralDifferences) {
  const RandomProblem problem({.linear_kernel = GetParam(), .mean = MeanKind::kLinear, .kinematics = GetParam()});
  const std::vector<gp::Weights> weights = random_weights(problem.structure, 3);
  Elbo elbo = elbo_of(problem);
  Free free = Free::defaults(problem.structure);
  free.C = free.d = free.mean = true;
  test::expect_bound_gradient(problem, elbo, free, &weights);
}

TEST_P(GivenWeightsGradient, InTheWeightsMatchesCentralDifferences) {
  const RandomProblem problem({.linear_kernel = GetParam()});
  std::vector<gp::Weights> weights = random_weights(problem.structure, 4);
  Elbo elbo = elbo_of(problem);
  Parameters p_bar;
  StatePosterior q_bar;
  elbo.gradient(problem.parameters, problem.q, p_bar, q_bar, &weights);
  std::vector<gp::Weights> bar;
  elbo.weights_gradient(problem.parameters, bar);
  ASSERT_EQ(bar.size(), weights.size());
  for (std::size_t g = 0; g < weights.size(); ++g) {
    const Index n = weights[g].mu.size();
    Vector at(n + n * n);
    at << weights[g].mu, weights[g].Sigma.reshaped();
    Vector gradient(at.size());
    gradient << bar[g].mu, bar[g].Sigma.reshaped();
    const auto of_weights = [&](const Vector& flat) {
      std::vector<gp::Weights> moved = weights;
      moved[g].mu = flat.head(n);
      const Matrix Sigma = flat.tail(n * n).reshaped(n, n);
      moved[g].Sigma = 0.5 * (Sigma + Sigma.transpose());  // an entry and its mirror image share the derivative
      return elbo.value(problem.parameters, problem.q, &moved);
    };
    EXPECT_TRUE(gradient_matches(of_weights, at, gradient, 2e-5)) << "row " << g;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GivenWeightsGradient, testing::Bool());

}  // namespace
}  // namespace gpilot::ssm
