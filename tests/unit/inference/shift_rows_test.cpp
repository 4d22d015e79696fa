/// Rows that copy a state of the row before: the bound, its coordinates, prediction.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/bound_optimiser.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/inference/whitening.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"
#include "support/free_names.hpp"
#include "support/gradient_check.hpp"
#include "support/kalman.hpp"
#include "support/message_of.hpp"

namespace gpilot::inference {
namespace {

/// Three rows of one output in the state; a Gaussian process on the first.
struct DelayProblem {
  explicit DelayProblem(Index inducing = 4, Index rows = 8) {
    structure.states = 3;
    structure.controls = 1;
    structure.outputs = 1;
    structure.inducing = inducing;
    structure.linear_kernel = false;
    structure.mean = ssm::MeanKind::kLinear;
    structure.shifts = {{1, 0}, {2, 1}};
    structure.x0_mean = Vector::Zero(3);
    structure.x0_sd = Vector::Constant(3, 1.5);
    structure.validate();
    RandomStream random(3, Purpose::kTest);
    parameters = ssm::default_parameters(structure);
    parameters.mean_weights.col(0) << 0.9, -0.3, 0.1, 0.5, 0.05;
    parameters.Z = random.normal_matrix(inducing, 4);
    parameters.log_q(0) = std::log(0.05);
    ssm::Dataset data;
    for (const Index length : {rows, rows - 2}) {
      data.push_back({random.normal_matrix(length, 1), random.normal_matrix(length, 1)});
    }
    data[0].outputs(3, 0) = std::numeric_limits<double>::quiet_NaN();
    series = ssm::concatenate(data);
    q = smooth(linear_part(structure, parameters), series);
    snap_shifts(structure, series, q);
  }

  ssm::Structure structure;
  ssm::Series series;
  ssm::Parameters parameters;
  ssm::StatePosterior q;
};

TEST(ShiftRows, BoundIsTheLimitOfVanishingNoise) {
  const DelayProblem problem;
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kAuto, 3);
  ssm::Elbo exact(problem.structure, problem.series, nodes);
  const double limit = exact.value(problem.parameters, problem.q);

  // The same model with the copies as linear rows under noise, and q(x) with that noise: its KL there is 0.
  ssm::Structure noisy = problem.structure;
  noisy.shifts.clear();
  noisy.linear_rows = {1, 2};
  double last = std::numeric_limits<double>::infinity();
  for (const double sd : {1e-2, 1e-3, 1e-4, 1e-5}) {
    ssm::Parameters p = problem.parameters;
    p.mean_weights = Matrix::Zero(5, 3);
    p.mean_weights.col(0) = problem.parameters.mean_weights;
    p.mean_weights(0, 1) = p.mean_weights(1, 2) = 1.0;
    p.log_q.tail(2).setConstant(2.0 * std::log(sd));
    ssm::StatePosterior q = problem.q;
    for (Index t = 0; t < q.rows(); ++t) {
      if (!problem.series.first[static_cast<std::size_t>(t)]) {
        q.S_chol(1, 3 * t + 1) = q.S_chol(2, 3 * t + 2) = sd;
      }
    }
    ssm::Elbo elbo(noisy, problem.series, nodes);
    const double gap = std::abs(elbo.value(p, q) - limit);
    EXPECT_LT(gap, 0.2 * last);
    last = gap;
  }
  EXPECT_LT(last, 1e-6);
}

TEST(ShiftRows, BoundIsTheEvidenceWithoutAGaussianProcess) {
  DelayProblem problem(0);
  problem.structure.linear_rows = {0};
  problem.parameters = [&] {
    ssm::Parameters p = ssm::default_parameters(problem.structure);
    p.mean_weights = problem.parameters.mean_weights;
    return p;
  }();
  problem.q = smooth(linear_part(problem.structure, problem.parameters), problem.series);
  snap_shifts(problem.structure, problem.series, problem.q);
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 3));
  LinearGaussian model = linear_part(problem.structure, problem.parameters);
  model.q.tail(2).setConstant(1e-12);
  const double evidence = test::kalman_rts(model, problem.series).log_evidence;
  EXPECT_NEAR(elbo.value(problem.parameters, problem.q), evidence, 1e-4 * std::abs(evidence));
}

TEST(ShiftRows, CoordinatesReproduceTheReferenceAndPullBackTheGradient) {
  const DelayProblem problem(3, 6);
  const StateWhitening whitening(problem.q, problem.series, problem.structure.shifts);
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 3));
  RandomStream random(7, Purpose::kTest);
  const Vector z = 0.1 * random.normal_vector(whitening.size());
  ssm::StatePosterior q = problem.q;
  whitening.to_states(Vector::Zero(whitening.size()), q);
  EXPECT_LT((q.m - problem.q.m).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((q.A - problem.q.A).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((q.S_chol - problem.q.S_chol).cwiseAbs().maxCoeff(), 1e-12);

  whitening.to_states(z, q);
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  elbo.gradient(problem.parameters, q, p_bar, q_bar);
  Vector z_bar(whitening.size());
  whitening.pull_back(z, q_bar, z_bar);
  const auto value = [&](const Vector& at) {
    ssm::StatePosterior moved = problem.q;
    whitening.to_states(at, moved);
    return elbo.value(problem.parameters, moved);
  };
  EXPECT_TRUE(test::gradient_matches(value, z, z_bar, 1e-5));
}

TEST(ShiftRows, ParametersHaveTheGradientOfCentralDifferences) {
  DelayProblem problem(3, 6);
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 3));
  const ssm::Free free = ssm::Free::defaults(problem.structure);
  Vector at(ssm::free_count(problem.parameters, free));
  ssm::pack(problem.parameters, free, at);
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
  Vector gradient(at.size());
  ssm::pack(p_bar, free, gradient);
  const auto value = [&](const Vector& x) {
    ssm::Parameters p = problem.parameters;
    ssm::unpack(x, free, p);
    return elbo.value(p, problem.q);
  };
  EXPECT_TRUE(
      test::gradient_matches(value, at, gradient, 1e-5, 1e-4, 1e-3, test::free_names(problem.parameters, free)));
}

TEST(ShiftRows, TrainingRaisesTheBoundAndKeepsTheCopies) {
  const DelayProblem problem(4, 30);
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, 3));
  Priors priors;
  priors.centre = problem.parameters;
  BoundOptimiser optimiser(elbo, priors, ssm::Free::defaults(problem.structure), problem.parameters, problem.q);
  const double before = optimiser.objective();
  optimiser.polish(30);
  EXPECT_GT(optimiser.objective(), before + 1.0);
  const ssm::StatePosterior& q = optimiser.states();
  for (Index t = 1; t < q.rows(); ++t) {
    if (!problem.series.first[static_cast<std::size_t>(t)]) {
      EXPECT_EQ(q.m(1, t), q.m(0, t - 1));
      EXPECT_EQ(q.m(2, t), q.m(1, t - 1));
      EXPECT_EQ(q.S_chol(1, 3 * t + 1), 0.0);
    }
  }
}

TEST(ShiftRows, FilterCopiesExactly) {
  const DelayProblem problem(0);
  ssm::Structure structure = problem.structure;
  structure.linear_rows = {0};
  ssm::Parameters p = ssm::default_parameters(structure);
  p.mean_weights = problem.parameters.mean_weights;
  const ssm::Transition transition(structure, p, {});
  EXPECT_EQ(transition.process_variance()(1), 0.0);
  const ssm::Filter filter(transition, gp::make_nodes(gp::NodeRule::kAuto, 3));
  ssm::StateBelief belief{Vector::LinSpaced(3, 1.0, 3.0), 0.1 * Matrix::Identity(3, 3)};
  const ssm::StateBelief next = filter.predict(belief, Vector::Constant(1, 0.5));
  EXPECT_NEAR(next.mean(1), belief.mean(0), 1e-12);
  EXPECT_NEAR(next.mean(2), belief.mean(1), 1e-12);
  EXPECT_NEAR(next.covariance(1, 1), belief.covariance(0, 0), 1e-12);
}

TEST(ShiftRows, RefusesShapesThatMakeNoSense) {
  const DelayProblem problem;
  const auto refusal = [&](std::vector<ssm::Shift> shifts, std::vector<Index> linear_rows) {
    ssm::Structure s = problem.structure;
    s.shifts = std::move(shifts);
    s.linear_rows = std::move(linear_rows);
    return test::message_of<InputError>([&] { s.validate(); });
  };
  EXPECT_NE(refusal({{0, 1}}, {}).find("shift 0"), std::string::npos);         // not the last state
  EXPECT_NE(refusal({{2, 5}}, {}).find("copies state 5"), std::string::npos);  // no such state
  EXPECT_NE(refusal({{2, 1}}, {2}).find("linear row 2"), std::string::npos);
  EXPECT_NE(refusal({{2, 1}}, {0, 0}).find("linear row 0"), std::string::npos);
}

}  // namespace
}  // namespace gpilot::inference
