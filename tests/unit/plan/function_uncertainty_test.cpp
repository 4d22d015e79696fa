#include "gpilot/plan/function_uncertainty.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/dense_plan.hpp"
#include "support/random_context.hpp"
#include "support/reference_kernels.hpp"

namespace gpilot::plan {
namespace {

using test::RandomContext;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Two sequences, the second with a broad start, outputs missing here and there.
ssm::Series two_sequences(const RandomContext::Options& o) {
  RandomStream random(o.seed, Purpose::kTest, 30);
  ssm::Sequence one{random.normal_matrix(5, o.controls), random.normal_matrix(5, o.outputs)};
  ssm::Sequence two{random.normal_matrix(3, o.controls), random.normal_matrix(3, o.outputs)};
  one.outputs(0, 0) = kNaN;
  one.outputs(2, o.outputs - 1) = kNaN;
  two.outputs.row(1).setConstant(kNaN);
  two.broad_start = true;
  return ssm::concatenate({one, two});
}

/// The model's kernel with what the header promises: at least a small variance, at most a certain length scale.
Matrix exploration_gram(const gp::InducingBasis& basis, const Matrix& X, Index states, double share = 1.0) {
  const bool stationary = basis.inducing() > 0;
  const double least = 0.09 * share * share;
  const double variance = stationary ? std::max(basis.variance, least) : least;
  Vector length_scales = Vector::Ones(X.cols());
  length_scales.head(states).setConstant(4.0);
  if (stationary) {
    length_scales = length_scales.cwiseMin(basis.inverse_length_scales.cwiseInverse());
  }
  Matrix K = test::reference_gram(basis.kind, variance, length_scales, X, X);
  if (basis.linear_sd.size() > 0) {
    const Vector s2 = basis.linear_sd.cwiseMax(0.1 * share).cwiseAbs2();
    K += X * s2.head(X.cols()).asDiagonal() * X.transpose();
    K.array() += s2(X.cols());
  }
  return K;
}

/// The covariance of every Gaussian process at further points given all outputs, from one joint Gaussian of the first
/// states, the noises, f at the smoothed points and at the further ones.
std::vector<Matrix> brute_force(const DecisionContext& context, const Matrix& further) {
  const ssm::Transition& transition = context.transition;
  const ssm::Structure& s = transition.structure();
  const ssm::Series& series = *context.history;
  const auto G = static_cast<Index>(s.gp_rows().size());
  const Index T = series.transitions();
  const Index E = s.outputs;
  const Vector q = context.planned_process_variance();
  const Vector r = transition.parameters().log_r.array().exp();
  Matrix X(T + further.rows(), s.inputs());
  Matrix to_function = Matrix::Zero(E * series.rows(), G * T);
  Matrix noise = Matrix::Zero(E * series.rows(), E * series.rows());
  Index k = 0;
  for (std::size_t n = 0; n + 1 < series.start.size(); ++n) {
    const Index first = series.start[n];
    const Index H = series.start[n + 1] - first - 1;
    Matrix points(H, s.inputs());
    points << context.q->m.middleCols(first, H).transpose(), series.controls.middleCols(first, H).transpose();
    X.middleRows(k, H) = points;
    const test::DensePath path = test::dense_path(transition, points);
    const Index at = E * first;
    const Index size = E * (H + 1);
    for (Index g = 0; g < G; ++g) {
      to_function.block(at, g * T + k, size, H) = path.to_function.middleCols(g * H, H);
    }
    const Vector sd =
        series.broad[static_cast<std::size_t>(first)] ? Vector::Constant(s.states, ssm::kBroadStartSd) : s.x0_sd;
    noise.block(at, at, size, size) = path.to_start * sd.cwiseAbs2().asDiagonal() * path.to_start.transpose() +
                                      path.to_noise * q.replicate(H, 1).asDiagonal() * path.to_noise.transpose();
    noise.block(at, at, size, size).diagonal() += r.replicate(H + 1, 1);
    k += H;
  }
  X.bottomRows(further.rows()) = further;
  std::vector<Matrix> K;
  std::vector<Matrix> past;
  for (Index g = 0; g < G; ++g) {
    const gp::InducingBasis& basis = transition.bases()[static_cast<std::size_t>(g)];
    if (s.physics && g == 0) {
      std::vector<Matrix> slopes, in_eta;
      s.physics->evaluate(X, transition.parameters().physics, slopes, in_eta);
      K.push_back(exploration_gram(basis, X, s.states, std::exp(-2.0)) + in_eta[0] * in_eta[0].transpose());
    } else {
      K.push_back(exploration_gram(basis, X, s.states));
    }
    past.push_back(K.back().topLeftCorner(T, T));
  }
  const Matrix outputs = noise + to_function * test::block_diagonal(past) * to_function.transpose();
  std::vector<Index> measured;
  for (Index i = 0; i < outputs.rows(); ++i) {
    if (!std::isnan(series.outputs(i % E, i / E))) {
      measured.push_back(i);
    }
  }
  std::vector<Matrix> result;
  for (Index g = 0; g < G; ++g) {
    const Matrix& own = K[static_cast<std::size_t>(g)];
    const Matrix cross = to_function.middleCols(g * T, T) * own.topRightCorner(T, further.rows());
    result.push_back(test::conditioned(own.bottomRightCorner(further.rows(), further.rows()),
                                       Matrix(cross(measured, Eigen::all)), Matrix(outputs(measured, measured))));
  }
  return result;
}

/// The same model, the first state with a formula of two parameters.
ssm::Transition with_formula(const ssm::Transition& plain, bool known) {
  ssm::ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"y"};
  spec.states = {"x", "z"};
  spec.dt = 0.4;
  spec.physics.formulas = {{"x", "k*u - b*sin(x)"}};
  spec.physics.parameters = {{.name = "k", .start = 0.8, .known = known, .factor = known ? kNaN : 3.0},
                             {.name = "b", .start = 0.5, .known = known, .sd = known ? kNaN : 0.3}};
  spec.validate();
  ssm::Structure s = plain.structure();
  s.physics = std::make_shared<const ssm::PhysicsMean>(spec, ssm::Scaling::identity(spec));
  ssm::Parameters p = plain.parameters();
  p.physics = s.physics->start();
  p.log_linear_sd.setConstant(-6.0);  // what is left to know is in the parameters
  return {s, p, plain.weights()};
}

void expect_brute_force(const DecisionContext& context, const Matrix& further) {
  const std::vector<Matrix> expected = brute_force(context, further);
  const std::vector<gp::PackedPosterior> uncertainty = function_uncertainty(context);
  ASSERT_EQ(uncertainty.size(), expected.size());
  for (std::size_t g = 0; g < expected.size(); ++g) {
    gp::PackedPosterior::Points points;
    uncertainty[g].project(further, points);
    Matrix V;
    uncertainty[g].covariance(points, points, V);
    EXPECT_LT((V - expected[g]).cwiseAbs().maxCoeff(), 1e-6 * expected[g].maxCoeff()) << "process " << g;
  }
}

TEST(FunctionUncertainty, IsThatOfTheFunctionGivenAllOutputs) {
  const std::vector<RandomContext::Options> cases{
      {},
      {.states = 3, .controls = 2, .outputs = 2, .kernel = kernels::Kind::kMatern52, .seed = 2},
      {.kinematics = true, .seed = 3},
      {.inducing = 0, .seed = 4},
      {.states = 1, .linear_kernel = false, .seed = 5},
  };
  for (const auto& options : cases) {
    RandomContext random(options);
    random.history = two_sequences(options);
    const DecisionContext context = random.context();
    RandomStream stream(options.seed, Purpose::kTest, 31);
    const Matrix further = stream.normal_matrix(6, options.states + options.controls);
    SCOPED_TRACE(options.seed);
    expect_brute_force(context, further);
  }
}

double variance_at(const std::vector<gp::PackedPosterior>& uncertainty, const Matrix& X) {
  Vector mean(X.rows());
  Vector variance(X.rows());
  uncertainty[0].predict(X, mean, variance);
  return variance.mean();
}

TEST(FunctionUncertainty, OutputsTeach) {
  RandomContext random({.states = 1});
  const DecisionContext context = random.context();
  RandomStream stream(1, Purpose::kTest, 32);
  const Matrix X = stream.normal_matrix(10, 2);
  const double with_all = variance_at(function_uncertainty(context), X);
  random.history.outputs.rightCols(3).setConstant(kNaN);
  const double with_fewer = variance_at(function_uncertainty(context), X);
  random.history.outputs.setConstant(kNaN);
  const double with_none = variance_at(function_uncertainty(context), X);
  EXPECT_LT(with_all, with_fewer);
  EXPECT_LT(with_fewer, with_none);
  EXPECT_NEAR(with_none, exploration_gram(random.transition.bases()[0], X, X.cols() - 1).diagonal().mean(), 1e-9);
}

/// What is not known about a parameter is part of what is not known about its row, and of no other; outputs teach it.
TEST(FunctionUncertainty, ParametersCount) {
  RandomContext random({.inducing = 0});
  RandomStream stream(1, Purpose::kTest, 35);
  const Matrix X = stream.normal_matrix(6, 3);
  const ssm::Transition plain = random.transition;
  const auto variances = [&](const ssm::Transition& transition) {
    RandomContext here = random;
    here.transition = transition;
    expect_brute_force(here.context(), X);
    const std::vector<gp::PackedPosterior> uncertainty = function_uncertainty(here.context());
    Vector mean(X.rows());
    Matrix result(X.rows(), 2);
    for (Index g = 0; g < 2; ++g) {
      Vector variance(X.rows());
      uncertainty[static_cast<std::size_t>(g)].predict(X, mean, variance);
      result.col(g) = variance;
    }
    return result;
  };
  const Matrix known = variances(with_formula(plain, true));
  const Matrix unknown = variances(with_formula(plain, false));
  EXPECT_GT(unknown.col(0).sum(), 1.2 * known.col(0).sum());
  const ssm::Transition told = with_formula(plain, false);
  std::vector<Matrix> slopes, in_eta;
  told.structure().physics->evaluate(X, told.parameters().physics, slopes, in_eta);
  const double before = in_eta[0].squaredNorm();  // the variance that parameters add before any output
  EXPECT_LT(unknown.col(0).sum() - known.col(0).sum(), 0.9 * before);
}

TEST(FunctionUncertainty, IsThatOfTheModelWithoutAHistory) {
  RandomContext random({});
  DecisionContext context = random.context();
  context.history = nullptr;
  RandomStream stream(1, Purpose::kTest, 33);
  const Matrix X = stream.normal_matrix(5, 3);
  EXPECT_NEAR(variance_at(function_uncertainty(context), X),
              test::dense_covariance(random.transition, 0, X).diagonal().mean(), 1e-10);
}

/// A linear model that has seen the extremes alone does not know what lies between them, and plans go there.
TEST(FunctionUncertainty, ValuesBetweenTheExtremesAreWorthAVisit) {
  constexpr double kExtreme = 1.7;
  RandomContext random({.states = 1, .inducing = 0});
  const auto values_after = [&](const std::vector<double>& controls) {
    constexpr Index kRows = 30;
    ssm::Sequence rows{Matrix(kRows, 1), Matrix::Zero(kRows, 1)};
    for (Index t = 0; t < kRows; ++t) {
      rows.controls(t, 0) = controls[static_cast<std::size_t>(t) % controls.size()];
    }
    random.history = ssm::concatenate({rows});
    random.q.m = Matrix::Zero(1, kRows);
    const Matrix plans = (Matrix(1, 3) << -kExtreme, 0.0, kExtreme).finished();
    return make_strategy("infogain")->plan_values(random.context(), plans);
  };
  const Vector extremes = values_after({-kExtreme, kExtreme});
  EXPECT_GT(extremes(1), extremes(0));
  EXPECT_GT(extremes(1), extremes(2));
  const Vector all = values_after({-kExtreme, 0.0, kExtreme});
  EXPECT_LT(all(1), all(0));
  EXPECT_LT(all(1), all(2));
}

/// Rows that no training has seen have no q(x) yet.
TEST(FunctionUncertainty, LeavesOutRowsWithoutAPosterior) {
  RandomContext random({});
  const DecisionContext context = random.context();
  RandomStream stream(1, Purpose::kTest, 34);
  const Matrix X = stream.normal_matrix(5, 3);
  random.q.m.conservativeResize(Eigen::NoChange, 5);
  const double shorter = variance_at(function_uncertainty(context), X);
  random.history.outputs.rightCols(random.history.rows() - 5).setConstant(7.0);
  EXPECT_EQ(variance_at(function_uncertainty(context), X), shorter);
}

}  // namespace
}  // namespace gpilot::plan
