#include <gtest/gtest.h>

#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/inference/parameter_errors.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/io/model_file.hpp"
#include "gpilot/linalg/solve.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/transition.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "support/message_of.hpp"

namespace gpilot::inference {
namespace {

/// x' = x + dt (k u - b x), x measured.
ssm::ModelSpec drift() {
  ssm::ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"y"};
  spec.states = {"x"};
  spec.dt = 0.5;
  spec.inducing = 4;
  spec.ranges = {{"u", -1.0, 1.0}, {"y", -2.0, 2.0}};
  spec.physics.formulas = {{"x", "k*u - b*x"}};
  spec.physics.parameters = {{.name = "k", .start = 0.8, .factor = 3.0}, {.name = "b", .start = 0.5, .sd = 0.3}};
  return spec;
}

constexpr double kTrueK = 1.1;
constexpr double kTrueB = 0.35;

ssm::Dataset drift_data(Index rows, std::uint64_t seed) {
  RandomStream random(seed, Purpose::kTest);
  ssm::Sequence s{Matrix::Zero(rows, 1), Matrix::Zero(rows, 1)};
  double x = 0.0;
  const double decay = std::exp(-0.5 * kTrueB);
  for (Index t = 0; t < rows; ++t) {
    s.outputs(t, 0) = x + 0.02 * random.normal();
    s.controls(t, 0) = random.uniform(-1.0, 1.0);
    x = decay * x + kTrueK / kTrueB * (1.0 - decay) * s.controls(t, 0) + 0.01 * random.normal();
  }
  return {s};
}

FitOptions quick() {
  FitOptions options;
  options.rounds = 5;
  options.polish = 40;
  options.noise_path = 0;
  return options;
}

TEST(Physics, AFormulaWithoutAValueWhereTheDataLeadIsNamed) {
  ssm::ModelSpec spec = drift();
  spec.physics.formulas = {{"x", "k*u - b*sqrt(x + 0.1)"}};
  const std::string message = test::message_of<NumericalError>([&] { fit(drift_data(30, 1), spec, {}); });
  EXPECT_NE(message.find("physics.x: the formula has no value within the step from x = "), std::string::npos)
      << message;
  EXPECT_TRUE(ssm::physics_notes(drift()).empty());
  spec.ranges.push_back({"x", -2.0, 2.0});
  const std::vector<std::string> notes = ssm::physics_notes(spec);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("within the declared ranges"), std::string::npos) << notes.front();
}

TEST(Physics, ColumnsOfUnknownUnitsAreTold) {
  ssm::ModelSpec spec = drift();
  spec.physics.units = {{"x", "deg"}, {"u", "V"}};
  const std::vector<std::string> notes = ssm::physics_notes(spec);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes.front().find("'deg', the unit of x"), std::string::npos) << notes.front();
}

TEST(Physics, ParametersAreLearnedWithHonestErrors) {
  int inside = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const ssm::Model model = fit(drift_data(60, seed), drift(), quick());
    ASSERT_EQ(model.report.parameters.size(), 2u);
    const double truth[] = {kTrueK, kTrueB};
    for (std::size_t k = 0; k < 2; ++k) {
      const ssm::ParameterEstimate& p = model.report.parameters[k];
      EXPECT_NEAR(p.value, truth[k], 0.15) << p.name;
      EXPECT_GT(p.sd, 0.0);
      EXPECT_LT(p.sd, 0.15);
      EXPECT_GT(p.determined, 0.5);
      inside += p.low <= truth[k] && truth[k] <= p.high ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(inside, all - 3);  // of 16; with 95 % each, less is a chance of 1 in 140
}

TEST(Physics, ParametersThatCannotBeToldApartAreNamed) {
  ssm::ModelSpec spec = drift();
  spec.physics.formulas[0].text = "a*k*u - b*x";
  spec.physics.parameters.push_back({.name = "a", .start = 1.0, .factor = 3.0});
  const ssm::Model model = fit(drift_data(60, 1), spec, quick());
  ASSERT_FALSE(model.report.warnings.empty());
  EXPECT_NE(model.report.warnings.front().find("'k' and 'a' cannot be told apart"), std::string::npos)
      << model.report.warnings.front();
}

TEST(Physics, ModelsWithItAreSavedAndRead) {
  const ssm::Model model = fit(drift_data(30, 2), drift(), quick());
  const std::string text = io::format_model(model);
  const ssm::Model read = io::parse_model(text, "m.json");
  EXPECT_EQ(io::format_model(read), text);
  const ssm::Transition a(model.gp.structure, model.gp.parameters, model.gp.weights);
  const ssm::Transition b(read.gp.structure, read.gp.parameters, read.gp.weights);
  const Matrix X = RandomStream(3, Purpose::kTest).normal_matrix(5, 2);
  Matrix mean_a, mean_b, variance;
  a.moments(X, mean_a, variance);
  b.moments(X, mean_b, variance);
  EXPECT_EQ(mean_a, mean_b);
}

/// The covariance against that of the linear model written out: outputs as they answer to the first state, the
/// parameters, the functions' weights and every disturbance.
TEST(Physics, ErrorsAreThoseOfTheLinearisedModel) {
  const ssm::Model model = fit(drift_data(14, 4), drift(), quick());
  ssm::Dataset scaled{model.scaling.to_scaled(drift_data(14, 4).front())};
  const ssm::Series series = ssm::concatenate(scaled);
  const ssm::Transition transition(model.gp.structure, model.gp.parameters, model.gp.weights);
  const ssm::PhysicsMean& physics = *model.gp.structure.physics;
  const Matrix X = transition_inputs(model.gp.structure, series, model.states);
  const Index T = X.rows();
  const gp::InducingBasis& basis = transition.bases().front();
  Matrix Xs(T, 2), K(T, basis.inducing()), A(T, basis.features());
  basis.evaluate(X, Vector(), Xs, K, nullptr, A);
  std::vector<Matrix> slopes, in_eta;
  physics.evaluate(X, model.gp.parameters.physics, slopes, in_eta);
  // Unknowns: x_0, eta (2), v, w_1 .. w_T.
  const Index size = 3 + A.cols() + T;
  Vector prior = Vector::Ones(size);
  prior(0) = std::pow(model.gp.structure.x0_sd(0), 2);
  Matrix response = Matrix::Zero(T + 1, size);
  response(0, 0) = 1.0;
  constexpr double kStep = 1e-6;
  for (Index t = 0; t < T; ++t) {
    Matrix right = X.row(t), left = X.row(t), up, down, unused;
    right(0, 0) += kStep;
    left(0, 0) -= kStep;
    transition.moments(right, up, unused);
    transition.moments(left, down, unused);
    response.row(t + 1) = (up(0, 0) - down(0, 0)) / (2.0 * kStep) * response.row(t);
    response.row(t + 1).segment(1, 2) += in_eta[0].row(t);
    response.row(t + 1).segment(3, A.cols()) += A.row(t);
    response(t + 1, 3 + A.cols() + t) += 1.0;
    const double residual =
        std::max(0.0, (basis.inducing() > 0 ? basis.variance : 0.0) - A.row(t).head(basis.inducing()).squaredNorm());
    prior(3 + A.cols() + t) = std::exp(model.gp.parameters.log_q(0)) + residual;
  }
  response *= model.gp.parameters.C(0, 0);
  const Matrix precision = Matrix(prior.cwiseInverse().asDiagonal()) +
                           response.transpose() * response * std::exp(-model.gp.parameters.log_r(0));
  const Matrix expected = linalg::inverse(precision).block(1, 1, 2, 2);
  const Matrix found = parameter_covariance(model.gp, series, model.states);
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-5 * expected.cwiseAbs().maxCoeff());
}

/// A right formula is found to be all there is, and a wrong one is not.
TEST(Physics, FormulasAloneAreTakenWhereTheySuffice) {
  const ssm::Model right = fit(drift_data(60, 1), drift(), quick());
  EXPECT_EQ(right.report.chosen, "formulas alone");
  ASSERT_GE(right.report.candidates.size(), 3u);
  ssm::ModelSpec wrong = drift();
  wrong.physics.formulas = {{"x", "-k*u + b"}};
  EXPECT_NE(fit(drift_data(60, 1), wrong, quick()).report.chosen, "formulas alone");
}

/// A saturating actuator is a formula with a learned place where it saturates (docs/knowledge.md).
TEST(Physics, SaturationIsLearned) {
  constexpr double kLimit = 0.5;
  RandomStream random(3, Purpose::kTest);
  ssm::Sequence s{Matrix::Zero(80, 1), Matrix::Zero(80, 1)};
  double x = 0.0;
  for (Index t = 0; t < 80; ++t) {
    s.outputs(t, 0) = x + 0.02 * random.normal();
    s.controls(t, 0) = random.uniform(-1.5, 1.5);
    const double decay = std::exp(-0.5 * kTrueB);
    const double push = kTrueK * kLimit * std::tanh(s.controls(t, 0) / kLimit);
    x = decay * x + push / kTrueB * (1.0 - decay) + 0.01 * random.normal();
  }
  ssm::ModelSpec spec = drift();
  spec.ranges[0] = {"u", -1.5, 1.5};
  spec.physics.formulas = {{"x", "k*s*tanh(u/s) - b*x"}};
  spec.physics.parameters.push_back({.name = "s", .start = 1.0, .factor = 3.0});
  const ssm::Model model = fit({s}, spec, quick());
  const ssm::ParameterEstimate& limit = model.report.parameters.back();
  EXPECT_EQ(limit.name, "s");
  EXPECT_NEAR(limit.value, kLimit, 0.15);
  EXPECT_GT(limit.determined, 0.8);
}

/// A formula that is wrong is overruled: its model predicts about as well as one without.
TEST(Physics, WrongFormulasAreOverruled) {
  ssm::ModelSpec wrong = drift();
  wrong.physics.formulas = {{"x", "-k*u + b"}};
  ssm::ModelSpec none = drift();
  none.physics = {};
  const ssm::Dataset data = drift_data(80, 5);
  const ssm::Model a = fit(data, wrong, quick());
  const ssm::Model b = fit(data, none, quick());
  ASSERT_GT(b.report.held_out.runs, 0);
  EXPECT_LT(a.report.held_out.model_ratio(), 1.5 * b.report.held_out.model_ratio());
}

}  // namespace
}  // namespace gpilot::inference
