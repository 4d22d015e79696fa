/// Changes of variables of training: whitened states, tied states, priors.
#include <gtest/gtest.h>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/inference/priors.hpp"
#include "gpilot/inference/tied.hpp"
#include "gpilot/inference/whitening.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/flat_states.hpp"
#include "support/gradient_check.hpp"
#include "support/random_problem.hpp"

namespace gpilot::inference {
namespace {

using test::flatten;
using test::gradient_matches;
using test::RandomProblem;

/// A smooth function of q(x) with a known gradient: a weighted sum of its free entries and of their squares.
struct Quadratic {
  explicit Quadratic(const RandomProblem& problem) : series(problem.series) {
    RandomStream random(5, Purpose::kTest);
    const Index n = flatten(problem.q, series).size();
    linear = random.normal_vector(n);
    square = random.normal_vector(n);
  }

  double value(const ssm::StatePosterior& q) const {
    const Vector x = flatten(q, series);
    return linear.dot(x) + square.dot(x.cwiseAbs2());
  }
  ssm::StatePosterior gradient(const ssm::StatePosterior& q) const {
    ssm::StatePosterior bar = q;
    bar.set_zero();
    return test::unflatten(linear + 2.0 * square.cwiseProduct(flatten(q, series)), bar, series);
  }

  const ssm::Series& series;
  Vector linear, square;
};

class StateCoordinates : public testing::TestWithParam<Index> {};

TEST_P(StateCoordinates, ZeroIsTheReference) {
  const RandomProblem problem({.states = GetParam()});
  const StateWhitening whitening(problem.q, problem.series);
  ssm::StatePosterior q = problem.q;
  q.set_zero();
  whitening.to_states(Vector::Zero(whitening.size()), q);
  EXPECT_EQ(whitening.size(), flatten(problem.q, problem.series).size());
  EXPECT_LT((flatten(q, problem.series) - flatten(problem.q, problem.series)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST_P(StateCoordinates, PullBackMatchesCentralDifferences) {
  const RandomProblem problem({.states = GetParam(), .rows = 5});
  const StateWhitening whitening(problem.q, problem.series);
  const Quadratic f(problem);
  RandomStream random(2, Purpose::kTest);
  const Vector z = 0.5 * random.normal_vector(whitening.size());
  ssm::StatePosterior q = problem.q;
  const auto of_z = [&](const Vector& at) {
    whitening.to_states(at, q);
    return f.value(q);
  };
  of_z(z);
  Vector gradient(z.size());
  whitening.pull_back(z, f.gradient(q), gradient);
  EXPECT_TRUE(gradient_matches(of_z, z, gradient, 1e-7));
}

TEST_P(StateCoordinates, TiedPullBackMatchesCentralDifferences) {
  const RandomProblem problem({.states = GetParam(), .rows = 5});
  const Quadratic f(problem);
  const Index D = problem.structure.states;
  const Index E = problem.structure.outputs;
  Vector at(D + E);
  at << problem.parameters.log_q, problem.parameters.log_r;
  const auto states_at = [&](const Vector& flat) {
    ssm::Parameters p = problem.parameters;
    p.log_q = flat.head(D);
    p.log_r = flat.tail(E);
    return tied_states(problem.structure, problem.series, p);
  };
  const ssm::StatePosterior q = states_at(at);
  ssm::Parameters p_bar = problem.parameters;
  p_bar.set_zero();
  tied_pull_back(problem.series, problem.parameters, q, f.gradient(q), p_bar);
  Vector gradient(at.size());
  gradient << p_bar.log_q, p_bar.log_r;
  EXPECT_TRUE(gradient_matches([&](const Vector& flat) { return f.value(states_at(flat)); }, at, gradient, 1e-7));
}

INSTANTIATE_TEST_SUITE_P(States, StateCoordinates, testing::Values(1, 2, 3, 5));

/// The paper's formulas for one row, by hand: D = E = 1.
TEST(TiedStates, AreThePapersFormulas) {
  RandomProblem problem({.states = 1});
  const ssm::StatePosterior q = tied_states(problem.structure, problem.series, problem.parameters);
  const double Q = std::exp(problem.parameters.log_q(0));
  const double R = std::exp(problem.parameters.log_r(0));
  const double C = problem.parameters.C(0, 0);
  EXPECT_EQ(q.m(0, 0), problem.structure.x0_mean(0));
  EXPECT_EQ(q.S_chol(0, 0), problem.structure.x0_sd(0));
  const double S = 1.0 / (1.0 / Q + C * C / R);
  const double b = S * C / R * (problem.series.outputs(0, 1) - problem.parameters.d(0));
  EXPECT_NEAR(q.S_chol(0, 1), std::sqrt(S), 1e-14);
  EXPECT_NEAR(q.A(0, 1), S / Q, 1e-14);
  EXPECT_NEAR(q.m(0, 1), S / Q * q.m(0, 0) + b, 1e-13);
}

TEST(TiedStates, MissingOutputLeavesThePrior) {
  RandomProblem problem({.states = 2});
  problem.series.outputs.setConstant(std::nan(""));
  const ssm::StatePosterior q = tied_states(problem.structure, problem.series, problem.parameters);
  EXPECT_LT((q.A.middleCols(2, 2) - Matrix::Identity(2, 2)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((q.m.col(3) - problem.structure.x0_mean).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(TiedStates, DeclaredDerivativesAreAnError) {
  const RandomProblem problem({.kinematics = true});
  EXPECT_THROW(tied_states(problem.structure, problem.series, problem.parameters), InputError);
}

TEST(Priors, GradientMatchesCentralDifferencesAndIsAdded) {
  const RandomProblem problem({.states = 3});
  Priors priors;
  priors.centre = RandomProblem({.states = 3, .seed = 2}).parameters;
  ssm::Free free = ssm::Free::defaults(problem.structure);
  free.C = free.d = free.mean = true;
  Vector at(ssm::free_count(problem.parameters, free));
  Vector gradient(at.size());
  ssm::pack(problem.parameters, free, at);
  ssm::Parameters p_bar = problem.parameters;  // some gradient that is there already
  priors.log_density(problem.parameters, &p_bar);
  ssm::pack(p_bar, free, gradient);
  const auto density = [&](const Vector& flat) {
    ssm::Parameters p = problem.parameters;
    ssm::unpack(flat, free, p);
    return priors.log_density(p, nullptr);
  };
  EXPECT_TRUE(gradient_matches(density, at, gradient - at, 1e-7));
}

TEST(Priors, AreHighestAtTheirCentres) {
  const RandomProblem problem({.states = 2});
  Priors priors;
  ssm::Parameters p = problem.parameters;
  p.log_variance.setConstant(priors.log_variance.mean);
  p.log_length_scales.setConstant(priors.log_length_scale.mean);
  p.log_linear_sd.setConstant(priors.log_linear_sd.mean);
  p.Z.setZero();
  priors.centre = p;
  EXPECT_EQ(priors.log_density(p, nullptr), 0.0);
  EXPECT_LT(priors.log_density(problem.parameters, nullptr), 0.0);
}

}  // namespace
}  // namespace gpilot::inference
