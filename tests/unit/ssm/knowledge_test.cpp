#include "gpilot/ssm/knowledge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/transition.hpp"
#include "support/bound_gradient.hpp"
#include "support/free_names.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::RandomProblem;

/// States x and v, input u; v is the derivative of x.
ModelSpec cart() {
  ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"y"};
  spec.states = {"x", "v"};
  spec.dt = 0.2;
  spec.C = Matrix{{1.0, 0.0}};
  spec.derivatives = {{1, 0}};
  spec.ranges = {{"u", -1.0, 3.0}, {"y", -2.0, 2.0}, {"v", -4.0, 4.0}};
  return spec;
}

ModelSpec cart_with_physics() {
  ModelSpec spec = cart();
  spec.physics.formulas = {{"v", "(u - b*v - k*sin(x)) / m"}};
  spec.physics.parameters = {{.name = "b", .start = 0.3, .sd = 0.2},
                             {.name = "k", .start = 1.5, .factor = 3.0},
                             {.name = "m", .start = 0.8, .low = 0.2, .high = 2.0}};
  return spec;
}

Scaling scaling_of(const ModelSpec& spec) {
  Sequence data{Matrix::Zero(3, 1), Matrix::Ones(3, 1)};
  return make_scaling(spec, {data});
}

/// The gradient of a problem with one more thing known, in parameters and q(x).
void expect_gradient(RandomProblem problem, const std::function<void(Structure&)>& tell) {
  tell(problem.structure);
  problem.structure.validate();
  if (problem.structure.physics) {
    problem.parameters.physics =
        0.3 * RandomStream(4, Purpose::kTest).normal_vector(problem.structure.physics->parameters());
  }
  Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, problem.structure.states));
  test::expect_bound_gradient(problem, elbo, Free::defaults(problem.structure));
}

TEST(Knowledge, BoundHasTheGradientOfEveryForm) {
  for (const bool angles : {false, true}) {
    for (const kernels::Form& form : {kernels::Form{{0}, {}, false}, kernels::Form{{}, {2}, false},
                                      kernels::Form{{}, {}, true}, kernels::Form{{1}, {2}, true}}) {
      SCOPED_TRACE(testing::Message() << "angles " << angles << ", odd " << form.odd << ", affine "
                                      << form.affine.size() << ", excluded " << form.excluded.size());
      expect_gradient(RandomProblem({.states = 2, .angles = angles}), [&](Structure& s) {
        s.forms = {form, kernels::Form{}};
      });
    }
  }
}

TEST(Knowledge, BoundHasTheGradientOfPhysics) {
  for (const Integration integration : {Integration::kRk4, Integration::kTrapezoid, Integration::kNext}) {
    ModelSpec spec = cart_with_physics();
    spec.physics.integration = integration;
    spec.validate();
    expect_gradient(RandomProblem({.states = 2, .kinematics = true}),
                    [&](Structure& s) { s.physics = std::make_shared<const PhysicsMean>(spec, scaling_of(spec)); });
  }
}

/// A model whose functions do not depend on an input is the model without that input.
TEST(Knowledge, ExcludedInputIsAnInputThatIsNotThere) {
  RandomProblem with({.states = 2});
  with.structure.forms = {kernels::Form{{2}, {}, false}, kernels::Form{{2}, {}, false}};
  with.parameters.mean_weights.row(2).setZero();
  RandomProblem without = with;
  without.structure.forms.clear();
  without.structure.controls = 0;
  without.series.controls.resize(0, with.series.rows());
  const auto drop = [](Matrix& block) {
    Matrix kept(block.rows() - 1, block.cols());
    kept << block.topRows(2), block.bottomRows(block.rows() - 3);
    block = kept;
  };
  drop(without.parameters.log_length_scales);
  drop(without.parameters.log_linear_sd);
  drop(without.parameters.mean_weights);
  without.parameters.Z.conservativeResize(Eigen::NoChange, 2);
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kAuto, 2);
  Elbo a(with.structure, with.series, nodes);
  Elbo b(without.structure, without.series, nodes);
  EXPECT_NEAR(a.value(with.parameters, with.q), b.value(without.parameters, without.q), 1e-10);
  // Its hyperparameters are no parameters.
  for (const std::string& name : test::free_names(with.parameters, Free::defaults(with.structure))) {
    EXPECT_NE(name, "log_length_scales[2,0]");
    EXPECT_NE(name, "log_linear_sd[2,1]");
    EXPECT_NE(name, "Z[0,2]");
  }
}

/// Two kinds of knowledge that leave a function of the control alone, a + b c and b c: the same model with a linear
/// kernel, written out.
TEST(Knowledge, AffineAndOddFunctionsOfAControlAreLinearOnes) {
  for (const bool odd : {false, true}) {
    RandomProblem told({.states = 2, .inducing = 2, .linear_kernel = false});
    told.structure.forms.assign(2, kernels::Form{{0, 1}, {2}, odd});
    if (odd) {  // one weight: a second inducing point would be a multiple of the first
      told.structure.inducing = 1;
      told.parameters.Z.conservativeResize(1, Eigen::NoChange);
    }
    RandomProblem plain = told;
    plain.structure.forms.assign(2, kernels::Form{{0, 1}, {}, odd});
    plain.structure.inducing = 0;
    plain.structure.linear_kernel = true;
    plain.parameters.Z.resize(0, 3);
    plain.parameters.log_linear_sd.setZero(4, 2);
    for (Index g = 0; g < 2; ++g) {
      const double log_sd = 0.5 * told.parameters.log_variance(g);
      plain.parameters.log_linear_sd(2, g) =
          log_sd - told.parameters.log_length_scales(2, g) + (odd ? 0.5 * std::log(2.0) : 0.0);
      plain.parameters.log_linear_sd(3, g) = log_sd;
    }
    const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kAuto, 2);
    Elbo a(told.structure, told.series, nodes);
    Elbo b(plain.structure, plain.series, nodes);
    const double expected = b.value(plain.parameters, plain.q);
    EXPECT_NEAR(a.value(told.parameters, told.q), expected, 1e-6 * std::abs(expected)) << "odd " << odd;
  }
}

/// The bound of an odd model is the same where everything is reflected.
TEST(Knowledge, OddBoundIsTheSameForReflectedData) {
  RandomProblem problem({.states = 2, .angles = true});
  problem.structure.forms = {kernels::Form{{}, {}, true}, kernels::Form{{}, {2}, true}};
  problem.structure.x0_mean.setZero();
  problem.parameters.mean_weights.row(3).setZero();
  problem.parameters.d.setZero();
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kAuto, 2);
  Elbo elbo(problem.structure, problem.series, nodes);
  const double before = elbo.value(problem.parameters, problem.q);
  RandomProblem mirror = problem;
  mirror.series.controls *= -1.0;
  mirror.series.outputs *= -1.0;
  mirror.q.m *= -1.0;
  Elbo other(mirror.structure, mirror.series, nodes);
  EXPECT_NEAR(other.value(mirror.parameters, mirror.q), before, 1e-9);
}

/// Without a Gaussian process worth the name, physics is a mean function: the residuals of a model whose data follow
/// the formula are 0 at the true parameters.
TEST(Knowledge, PhysicsStepsAsAnIntegratorDoes) {
  const ModelSpec spec = cart_with_physics();
  const Scaling scaling = scaling_of(spec);
  const PhysicsMean physics(spec, scaling);
  const Vector eta = physics.start();
  for (Index k = 0; k < 3; ++k) {
    EXPECT_NEAR(physics.natural(k, eta(k)), spec.physics.parameters[static_cast<std::size_t>(k)].start, 1e-12);
    constexpr double kStep = 1e-6;
    EXPECT_NEAR(physics.natural_slope(k, eta(k)),
                (physics.natural(k, eta(k) + kStep) - physics.natural(k, eta(k) - kStep)) / (2 * kStep), 1e-7);
  }
  // 2000 small steps of Euler's rule over dt, u held.
  const Vector user{{0.7, -1.1, 0.9}};
  double x = user(0);
  double v = user(1);
  constexpr int kSteps = 20'000;
  for (int n = 0; n < kSteps; ++n) {
    const double h = spec.dt / kSteps;
    const double a = (user(2) - 0.3 * v - 1.5 * std::sin(x)) / 0.8;
    x += h * v;
    v += h * a;
  }
  Matrix X(1, 3);
  X << (user(0) - scaling.state_offset(0)) / scaling.state_scale(0), user(1) / scaling.state_scale(1),
      (user(2) - scaling.control_offset(0)) / scaling.control_scale(0);
  const double step = physics.evaluate(X, eta)(0, 0) * scaling.state_scale(1);
  EXPECT_NEAR(step, v - user(1), 2e-5);
}

TEST(Knowledge, FunctionOfAProgramIsAFormula) {
  ModelSpec spec = cart_with_physics();
  const Scaling scaling = scaling_of(spec);
  const PhysicsMean formula(spec, scaling);
  spec.physics.formulas.clear();
  spec.physics.function_states = {"v"};
  spec.physics.function = [](VectorRef states, VectorRef inputs, VectorRef p) {
    return Vector{{(inputs(0) - p(0) * states(1) - p(1) * std::sin(states(0))) / p(2)}};
  };
  spec.validate();
  const PhysicsMean function(spec, scaling);
  const Matrix X = RandomStream(3, Purpose::kTest).normal_matrix(5, 3);
  std::vector<Matrix> a, b, c, d;
  EXPECT_LT((formula.evaluate(X, formula.start(), a, b) - function.evaluate(X, function.start(), c, d)).norm(), 1e-12);
  EXPECT_LT((a[0] - c[0]).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_LT((b[0] - d[0]).cwiseAbs().maxCoeff(), 1e-7);
}

/// The cart's acceleration at many points, with its derivatives if `with_slopes`.
RatesFunction cart_rates(bool with_slopes) {
  return {[with_slopes](MatrixRef x, MatrixRef u, VectorRef p, std::vector<Matrix>* slopes) -> Matrix {
    const Vector force = u.col(0) - p(0) * x.col(1) - p(1) * x.col(0).array().sin().matrix();
    if (with_slopes && slopes != nullptr) {
      Matrix d(x.rows(), 6);
      d << -p(1) * x.col(0).array().cos(), Vector::Constant(x.rows(), -p(0)), Vector::Ones(x.rows()), -x.col(1),
          -x.col(0).array().sin(), -force / p(2);
      *slopes = {d / p(2)};
    }
    return force / p(2);
  }};
}

TEST(Knowledge, FunctionOfManyPointsIsAFormulaWithAndWithoutItsDerivatives) {
  ModelSpec spec = cart_with_physics();
  const Scaling scaling = scaling_of(spec);
  const PhysicsMean formula(spec, scaling);
  spec.physics.formulas.clear();
  spec.physics.function_states = {"v"};
  const Matrix X = RandomStream(3, Purpose::kTest).normal_matrix(5, 3);
  std::vector<Matrix> a, b, c, d;
  const Matrix expected = formula.evaluate(X, formula.start(), a, b);
  for (const bool with_slopes : {false, true}) {
    spec.physics.function = cart_rates(with_slopes);
    spec.validate();
    const PhysicsMean function(spec, scaling);
    EXPECT_LT((expected - function.evaluate(X, function.start(), c, d)).norm(), 1e-12);
    EXPECT_LT((a[0] - c[0]).cwiseAbs().maxCoeff(), with_slopes ? 1e-12 : 1e-7);
    EXPECT_LT((b[0] - d[0]).cwiseAbs().maxCoeff(), with_slopes ? 1e-12 : 1e-7);
  }
}

TEST(Knowledge, FunctionThatGivesOtherThanItWasAskedForIsRefused) {
  ModelSpec spec = cart_with_physics();
  const Scaling scaling = scaling_of(spec);
  spec.physics.formulas.clear();
  spec.physics.function_states = {"v"};
  const auto refuses = [&](const std::string& part, const auto& call) {
    try {
      call();
      FAIL() << "expected an error: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  spec.physics.function = RatesFunction{
      [](MatrixRef x, MatrixRef, VectorRef, std::vector<Matrix>*) -> Matrix { return Matrix::Zero(x.rows(), 2); }};
  refuses("1 x 2 values, expected 1 x 1", [&] { spec.validate(); });
  spec.physics.function = RatesFunction{[](MatrixRef x, MatrixRef, VectorRef, std::vector<Matrix>*) -> Matrix {
    return Matrix::Constant(x.rows(), 1, std::nan(""));
  }};
  refuses("the function gives nan where training starts", [&] { spec.validate(); });
  spec.physics.function = RatesFunction{[](MatrixRef x, MatrixRef, VectorRef, std::vector<Matrix>* slopes) -> Matrix {
    if (slopes != nullptr) {
      *slopes = {Matrix::Zero(x.rows(), 5)};
    }
    return Matrix::Zero(x.rows(), 1);
  }};
  const PhysicsMean function(spec, scaling);
  std::vector<Matrix> a, b;
  refuses("1 arrays of 2 x 6 values", [&] { function.evaluate(Matrix::Zero(2, 3), function.start(), a, b); });
}

TEST(Knowledge, TransitionHasPhysicsInItsMeanAndSlopes) {
  const ModelSpec spec = cart_with_physics();
  const Scaling scaling = scaling_of(spec);
  Structure s = make_structure(spec, scaling, 4);
  Free free;
  Parameters p = make_parameters(spec, scaling, s, free);
  RandomStream random(5, Purpose::kTest);
  p.Z = random.normal_matrix(s.inducing, 3);
  gp::Weights q{0.3 * random.normal_vector(s.features()), 0.1 * Matrix::Identity(s.features(), s.features())};
  const Transition transition(s, p, {q});
  const Matrix X = random.normal_matrix(4, 3);
  Matrix mean, variance, right, left, unused;
  std::vector<Matrix> mean_slope, variance_slope;
  transition.moments(X, mean, variance, mean_slope, variance_slope);
  Vector f, f_variance;
  transition.bases()[0].predict(q, X, f, f_variance);
  EXPECT_LT((mean.col(1) - X.col(1) - f - s.physics->evaluate(X, p.physics).col(0)).cwiseAbs().maxCoeff(), 1e-12);
  constexpr double kStep = 1e-6;
  Matrix moved = X;
  moved.col(2).array() += kStep;
  transition.moments(moved, right, unused);
  moved.col(2).array() -= 2 * kStep;
  transition.moments(moved, left, unused);
  EXPECT_LT((mean_slope[0] - (right - left) / (2 * kStep)).cwiseAbs().maxCoeff(), 1e-7);
}

/// x' = 0.9 x + 0.5 u in user units, whatever the scales.
TEST(Knowledge, CoefficientsAreThoseOfUserUnits) {
  ModelSpec spec = cart();
  spec.derivatives.clear();
  spec.coefficients = {{"v", "v", 0.9}, {"v", "u", 0.5}};
  spec.validate();
  const Scaling scaling = scaling_of(spec);
  Structure s = make_structure(spec, scaling, 3);
  Free free;
  Parameters p = make_parameters(spec, scaling, s, free);
  s.inducing = 0;
  p.Z.resize(0, 3);
  const gp::Weights none{Vector::Zero(s.features()), Matrix::Identity(s.features(), s.features())};
  const Transition transition(s, p, {none, none});
  const Vector user{{0.4, 2.5, 1.7}};
  Matrix X(1, 3);
  X << (user(0) - scaling.state_offset(0)) / scaling.state_scale(0),
      (user(1) - scaling.state_offset(1)) / scaling.state_scale(1),
      (user(2) - scaling.control_offset(0)) / scaling.control_scale(0);
  Matrix mean, variance;
  transition.moments(X, mean, variance);
  EXPECT_NEAR(scaling.state_offset(1) + scaling.state_scale(1) * mean(0, 1), 0.9 * 2.5 + 0.5 * 1.7, 1e-12);
  // Nothing else of u and v is left to learn in this row.
  EXPECT_EQ(s.forms[1].excluded, (std::vector<Index>{1, 2}));
}

TEST(Knowledge, LatentStatesHaveTheirDeclaredRange) {
  ModelSpec spec = cart();
  spec.derivatives.clear();
  spec.ranges = {{"v", 10.0, 30.0}};
  const Scaling scaling = scaling_of(spec);
  EXPECT_DOUBLE_EQ(scaling.state_offset(1), 20.0);
  EXPECT_DOUBLE_EQ(scaling.state_scale(1), 20.0 / std::sqrt(12.0));
}

TEST(Knowledge, OddFunctionsHaveTheirCentreAtZero) {
  ModelSpec spec = cart();
  spec.odd = {"v"};
  spec.centres = {{"x", 0.5}, {"u", 1.0}};
  spec.validate();
  const Scaling scaling = scaling_of(spec);
  EXPECT_EQ(scaling.state_offset, (Vector{{0.5, 0.0}}));
  EXPECT_EQ(scaling.control_offset, (Vector{{1.0}}));
}

void expect_refused(const std::function<void(ModelSpec&)>& declare, const std::string& message,
                    ModelSpec spec = cart()) {
  declare(spec);
  try {
    spec.validate();
    FAIL() << message;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(Knowledge, ContradictionsAreRefused) {
  expect_refused([](ModelSpec& s) { s.cyclic = {"z"}; }, "unknown state 'z'");
  expect_refused([](ModelSpec& s) { s.depends_on = {{"v", {"u", "w"}}}; }, "unknown state or input 'w'");
  expect_refused([](ModelSpec& s) { s.depends_on = {{"x", {"u"}}}; }, "has no function of its own");
  expect_refused([](ModelSpec& s) { s.cyclic = {"x"}, s.depends_on = {{"v", {"x"}}}; }, "is declared cyclic");
  expect_refused([](ModelSpec& s) { s.cyclic = {"x"}, s.mean = MeanKind::kZero; }, "goes with the mean functions");
  expect_refused([](ModelSpec& s) { s.odd = {"v"}, s.mean = MeanKind::kLinear; },
                 "goes with the mean function identity");
  expect_refused([](ModelSpec& s) { s.odd = {"v"}, s.centres = {{"v", 1.0}}; }, "is a derivative");
  expect_refused([](ModelSpec& s) { s.centres = {{"x", 1.0}}; }, "goes with symmetry");
  expect_refused(
      [](ModelSpec& s) {
        s.odd = {"v"};
        s.centres = {{"u", 1.0}};
        s.coefficients = {{"v", "u", 0.5}};
      },
      "an odd function would be 0 there");
  expect_refused([](ModelSpec& s) { s.coefficients = {{"v", "u", 0.5}, {"v", "u", 0.4}}; }, "two coefficients");
  expect_refused([](ModelSpec& s) { s.angles = {"x"}, s.coefficients = {{"v", "x", 0.5}}; }, "is an angle");
  expect_refused([](ModelSpec& s) { s.control_affine = {"v"}; }, "has a formula", cart_with_physics());
  expect_refused(
      [](ModelSpec& s) {
        s.coefficients = {{"v", "u", 1.0}};
      },
      "write the coefficient there", cart_with_physics());
  expect_refused([](ModelSpec& s) { s.cyclic = {"x"}; }, "which is declared cyclic", cart_with_physics());
  expect_refused(
      [](ModelSpec& s) {
        s.depends_on = {{"v", {"v", "u"}}};
      },
      "which depends_on does not name", cart_with_physics());
  expect_refused([](ModelSpec& s) { s.mean = MeanKind::kLinear; }, "goes with the mean function identity",
                 cart_with_physics());
}

TEST(Knowledge, WrongPhysicsIsRefused) {
  const auto refused = [](const std::function<void(Physics&)>& change, const std::string& message) {
    expect_refused([&](ModelSpec& s) { change(s.physics); }, message, cart_with_physics());
  };
  refused([](Physics& p) { p.formulas[0].text = "u/m - b*w + k"; }, "unknown name 'w'");
  refused([](Physics& p) { p.formulas[0].text = "u/(x*m) + b + k"; }, "division by zero where training starts");
  refused([](Physics& p) { p.formulas[0].state = "x"; }, "has the declared derivative 'v'");
  refused([](Physics& p) { p.formulas.push_back(p.formulas[0]); }, "given two formulas");
  refused([](Physics& p) { p.formulas[0].text = "u/m - b*v"; }, "no formula names it");
  refused([](Physics& p) { p.parameters[0].sd = std::nan(""); }, "nothing bounds it");
  refused([](Physics& p) { p.parameters[0].factor = 2.0; }, "expected one of sd, factor");
  refused([](Physics& p) { p.parameters[1].factor = 0.5; }, "is not a number above 1");
  refused([](Physics& p) { p.parameters[2].high = 0.5; }, "expected low < start < high");
  refused([](Physics& p) { p.parameters[0].start = std::nan(""); }, "expected a start");
  refused([](Physics& p) { p.parameters[0].unit = "Nms"; }, "unknown unit 'Nms'");
  refused([](Physics& p) { p.parameters[0].name = "u"; }, "has the name of a state or input");
  refused([](Physics& p) { p.parameters[0].name = "sin"; }, "that is not that of a function");
  refused(
      [](Physics& p) {
        p.units = {{"u", "N"}, {"x", "m"}};
        p.parameters[2].unit = "kg";
        p.parameters[0].unit = "N m s";
      },
      "are subtracted");
  refused(
      [](Physics& p) {
        p.formulas[0].text = "u/m";
        p.parameters.erase(p.parameters.begin(), p.parameters.begin() + 2);
        p.units = {{"u", "N"}, {"x", "m"}};
        p.parameters[0].unit = "kg m";
      },
      "the formula has the unit 's^-2', expected 'm s^-2'");
}

TEST(Knowledge, AnOddFormulaIsCheckedToBeOdd) {
  ModelSpec spec = cart_with_physics();
  spec.odd = {"v"};
  EXPECT_NO_THROW(spec.validate());
  spec.physics.formulas[0].text = "(u - b*v - k*cos(x)) / m";
  EXPECT_THROW(spec.validate(), KnowledgeError);
}

}  // namespace
}  // namespace gpilot::ssm
