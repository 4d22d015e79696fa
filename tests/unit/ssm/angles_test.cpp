#include "gpilot/ssm/angles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/batch_filter.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/structure.hpp"
#include "gpilot/ssm/transition.hpp"
#include "support/message_of.hpp"
#include "support/random_context.hpp"
#include "support/random_problem.hpp"

namespace gpilot::ssm {
namespace {

using test::message_of;
using test::RandomProblem;

constexpr double kPi = std::numbers::pi;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(NearestTurn, MovesByWholeTurns) {
  EXPECT_EQ(nearest_turn(0.1, 0.0, 2.0), 0.1);
  EXPECT_NEAR(nearest_turn(-3.1, 3.1, 2.0 * kPi), 2.0 * kPi - 3.1, 1e-14);
  EXPECT_NEAR(nearest_turn(7.3, -20.0, 2.0), -20.7, 1e-14);
  EXPECT_EQ(nearest_turn(100.0, 0.0, 0.0), 100.0);
  EXPECT_TRUE(std::isnan(nearest_turn(kNaN, 0.0, 2.0)));
}

TEST(OutputTurns, AreThoseOfOutputsThatMeasureAnAngleAlone) {
  Matrix C(4, 3);
  C << 1.0, 0.0, 0.0,          // the angle
      0.0, 1.0, 0.0,           // no angle
      1.0, 0.5, 0.0,           // a sum
      0.0, 0.0, -180.0 / kPi;  // another angle, in degrees and reversed
  const Vector turns = output_turns({{0, 0.5}, {2, 1.0}}, C);
  EXPECT_NEAR(turns(0), 4.0 * kPi, 1e-13);
  EXPECT_EQ(turns(1), 0.0);
  EXPECT_EQ(turns(2), 0.0);
  EXPECT_NEAR(turns(3), 360.0, 1e-12);
}

Structure one_angle(double omega) {
  Structure s;
  s.angles = {{0, omega}};
  s.x0_mean = Vector::Constant(1, 0.3);
  s.x0_sd = Vector::Ones(1);
  return s;
}

TEST(Unwrap, UndoesTheWrapping) {
  RandomStream random(1, Purpose::kTest);
  const double omega = 0.8;
  const double turn = 2.0 * kPi / omega;
  Sequence sequence{Matrix(60, 0), Matrix(60, 1)};
  double x = 0.3;
  for (Index t = 0; t < 60; ++t) {
    sequence.outputs(t, 0) = x;
    x += 0.2 * turn + 0.2 * turn * random.uniform();  // up to 0.4 turns a step, always onwards
  }
  sequence.outputs(7, 0) = kNaN;
  const Matrix truth = sequence.outputs;
  for (Index t = 0; t < 60; ++t) {
    sequence.outputs(t, 0) = std::remainder(sequence.outputs(t, 0), turn);
  }
  const Structure s = one_angle(omega);
  sequence.outputs(7, 0) = kNaN;
  // The step over the gap is up to 0.8 turns: beyond what can be told.
  Sequence whole = sequence;
  whole.outputs(7, 0) = std::remainder(truth(6, 0) + 0.3 * turn, turn);
  unwrap(s, default_parameters(s), whole);
  EXPECT_GT(truth(59, 0), 10.0 * turn);
  for (Index t = 0; t < 60; ++t) {
    if (t != 7) {
      EXPECT_NEAR(whole.outputs(t, 0), truth(t, 0), 1e-9) << t;
    }
  }
  unwrap(s, default_parameters(s), sequence);
  EXPECT_TRUE(std::isnan(sequence.outputs(7, 0)));
  EXPECT_NEAR(sequence.outputs(6, 0), truth(6, 0), 1e-9);
}

TEST(Unwrap, BeginsAtThePriorMeanAndLeavesTheRestAlone) {
  Structure s = one_angle(1.0);
  s.states = 2;
  s.outputs = 2;
  s.x0_mean = Eigen::Vector2d(100.0, 0.0);
  s.x0_sd = Vector::Ones(2);
  Sequence sequence{Matrix(2, 0), Matrix(2, 2)};
  sequence.outputs << 0.0, 50.0, 0.2, 60.0;
  Sequence broad = sequence;
  broad.broad_start = true;
  unwrap(s, default_parameters(s), sequence);
  EXPECT_NEAR(sequence.outputs(0, 0), 32.0 * kPi, 1e-12);
  EXPECT_NEAR(sequence.outputs(1, 0), 32.0 * kPi + 0.2, 1e-12);
  EXPECT_EQ(sequence.outputs.col(1), Eigen::Vector2d(50.0, 60.0));
  unwrap(s, default_parameters(s), broad);
  EXPECT_EQ(broad.outputs(0, 0), 0.0);
}

/// A situation whose first output is its first state, an angle.
test::RandomContext angle_situation() {
  test::RandomContext context({.states = 2, .outputs = 2, .kinematics = true, .angle = true});
  Parameters p = context.transition.parameters();
  p.C.setIdentity();
  context.transition = Transition(context.transition.structure(), p, context.transition.weights());
  return context;
}

TEST(AngleFilter, TurnsOfAMeasurementDoNotCount) {
  const test::RandomContext context = angle_situation();
  const Filter filter(context.transition, context.nodes);
  const double turn = 2.0 * kPi / 1.3;
  EXPECT_NEAR(filter.turns()(0), turn, 1e-14);
  EXPECT_EQ(filter.turns()(1), 0.0);
  const Vector y = context.belief.mean + context.transition.parameters().d + Eigen::Vector2d(0.2, -0.1);
  StateBelief expected = context.belief;
  const double density = filter.update(expected, y);
  for (const double turns : {-3.0, 1.0}) {
    StateBelief belief = context.belief;
    EXPECT_NEAR(filter.update(belief, y + turns * turn * Vector::Unit(2, 0)), density, 1e-11);
    EXPECT_LT((belief.mean - expected.mean).cwiseAbs().maxCoeff(), 1e-12);
  }
  StateBelief kicked = context.belief;
  EXPECT_LT(filter.update(kicked, y + turn * Vector::Unit(2, 1)), density - 1.0);  // the other output is no angle
}

TEST(AngleFilter, BatchAgreesWithTheFilter) {
  const test::RandomContext context = angle_situation();
  const Filter filter(context.transition, context.nodes);
  const BatchFilter batch(context.transition, context.nodes);
  BeliefBatch beliefs = batch.initial(2);
  StateBelief belief = filter.initial();
  std::vector<bool> diverged(2, false);
  const Vector y = Eigen::Vector2d(9.0, 0.4);
  Matrix ys(2, 2);
  ys << y, y + 2.0 * kPi / 1.3 * Vector::Unit(2, 0);
  for (int k = 0; k < 3; ++k) {
    belief = filter.predict(belief, Vector::Constant(1, 0.3));
    filter.update(belief, y);
    batch.predict(beliefs, Matrix::Constant(1, 2, 0.3), diverged);
    batch.update(beliefs, ys);
  }
  for (Index n = 0; n < 2; ++n) {
    EXPECT_LT((beliefs.mean.col(n) - belief.mean).cwiseAbs().maxCoeff(), 1e-9) << n;
  }
  EXPECT_FALSE(diverged[0] || diverged[1]);
}

TEST(AngleBound, IsTheSameAFullTurnOn) {
  RandomProblem problem({.states = 3, .kinematics = true, .angles = true});
  problem.parameters.mean_weights = default_parameters(problem.structure).mean_weights;
  problem.parameters.C.setIdentity();
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kAuto, 3);
  const double expected = Elbo(problem.structure, problem.series, nodes).value(problem.parameters, problem.q);

  // All of the first sequence, whose start is declared, by two turns; the inducing points by one.
  RandomProblem turned = problem;
  const double turn = 2.0 * kPi / 0.9;
  const Index rows = problem.series.start[1];
  turned.structure.x0_mean(0) += 2.0 * turn;
  turned.q.m.row(0).head(rows).array() += 2.0 * turn;
  turned.series.outputs.row(0).head(rows).array() += 2.0 * turn;
  turned.parameters.Z.col(0).array() -= turn;
  EXPECT_NEAR(Elbo(turned.structure, turned.series, nodes).value(turned.parameters, turned.q), expected,
              1e-9 * std::abs(expected));

  turned.q.m.row(0).head(rows).array() += 0.5 * turn;
  turned.series.outputs.row(0).head(rows).array() += 0.5 * turn;
  turned.structure.x0_mean(0) += 0.5 * turn;
  EXPECT_GT(std::abs(Elbo(turned.structure, turned.series, nodes).value(turned.parameters, turned.q) - expected), 1e-2);
}

TEST(AngleStructure, WhatMakesNoSenseIsRefused) {
  Structure s = one_angle(0.5);
  s.states = 2;
  s.x0_mean = Vector::Zero(2);
  s.x0_sd = Vector::Ones(2);
  EXPECT_NO_THROW(s.validate());
  const auto message = [&](auto change) {
    Structure changed = s;
    change(changed);
    return message_of<InputError>([&] { changed.validate(); });
  };
  EXPECT_TRUE(message([](Structure& c) { c.angles[0].input = 2; }).starts_with("angle: state 2 with 0.5 radians"));
  EXPECT_TRUE(message([](Structure& c) { c.angles[0].omega = 0.0; }).starts_with("angle: state 0 with 0 radians"));
  EXPECT_TRUE(message([](Structure& c) { c.angles.push_back({0, 1.0}); }).starts_with("angle: state 0"));
  EXPECT_NE(message([](Structure& c) { c.mean = MeanKind::kLinear; }).find("mean function linear"), std::string::npos);
  EXPECT_NE(message([](Structure& c) { c.mean = MeanKind::kZero; }).find("mean function zero"), std::string::npos);
  EXPECT_NE(message([](Structure& c) {
              c.kinematics.push_back({1, 0, 0.5});
            }).find("declared the derivative"),
            std::string::npos);
  EXPECT_NE(message([](Structure& c) { c.shifts.push_back({1, 0}); }).find("a copy of it"), std::string::npos);
}

ModelSpec pendulum() {
  ModelSpec spec;
  spec.outputs = {"y"};
  spec.states = {"th", "v"};
  spec.derivatives = {{1, 0}};
  spec.angles = {"th"};
  spec.dt = 0.1;
  return spec;
}

TEST(AngleSpec, IsValidated) {
  EXPECT_NO_THROW(pendulum().validate());
  const auto message = [&](auto change) {
    ModelSpec changed = pendulum();
    change(changed);
    return message_of<InputError>([&] { changed.validate(); });
  };
  EXPECT_EQ(message([](ModelSpec& s) { s.angles = {"tth"}; }),
            "angles: unknown state 'tth', did you mean 'th'? (known: th, v)");
  EXPECT_EQ(message([](ModelSpec& s) { s.angles = {"th", "th"}; }), "angles: 'th' is named twice");
  EXPECT_EQ(message([](ModelSpec& s) { s.angles = {"v"}; }),
            "angles: 'v' is declared a derivative, which has no turns");
  EXPECT_NE(message([](ModelSpec& s) { s.learn_C = true; }).find("emission cannot be learned"), std::string::npos);
  EXPECT_NE(message([](ModelSpec& s) { s.mean = MeanKind::kLinear; }).find("mean function linear"), std::string::npos);
}

TEST(AngleSpec, ScalesAreThoseOfTheCircle) {
  RandomStream random(2, Purpose::kTest);
  Sequence sequence{Matrix(400, 0), Matrix(400, 1)};
  double x = kPi;
  for (Index t = 0; t < 400; ++t) {
    x += 0.1 * random.normal() - 0.1 * (x - kPi);  // about the top, where a recording jumps
    sequence.outputs(t, 0) = x;
  }
  const ModelSpec spec = pendulum();
  EXPECT_NEAR(spec.turns()(0), 2.0 * kPi, 1e-14);
  const Scaling whole = make_scaling(spec, {sequence});
  for (Index t = 0; t < 400; ++t) {
    sequence.outputs(t, 0) = std::remainder(sequence.outputs(t, 0), 2.0 * kPi);
  }
  ASSERT_LT(sequence.outputs.minCoeff(), -3.0);
  ASSERT_GT(sequence.outputs.maxCoeff(), 3.0);
  const Scaling cut = make_scaling(spec, {sequence});
  EXPECT_NEAR(cut.output_scale(0), whole.output_scale(0), 1e-10);
  EXPECT_NEAR(cut.state_scale(1), whole.state_scale(1), 1e-10);  // the velocity's
  EXPECT_LT(cut.output_scale(0), 0.5);
  EXPECT_NEAR(nearest_turn(cut.output_offset(0), whole.output_offset(0), 2.0 * kPi), whole.output_offset(0), 1e-10);
  const Structure s = make_structure(spec, cut, 10);
  ASSERT_EQ(s.angles.size(), 1U);
  EXPECT_EQ(s.angles[0], (kernels::Angle{0, cut.state_scale(0)}));

  ModelSpec wide = spec;
  wide.ranges = {{"y", -100.0, 100.0}};
  EXPECT_NEAR(make_scaling(wide, {sequence}).output_scale(0), 2.0 * kPi / std::sqrt(12.0), 1e-12);
}

}  // namespace
}  // namespace gpilot::ssm
