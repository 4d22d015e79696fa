#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpilot/plan/strategy.hpp"
#include "support/random_context.hpp"

namespace gpilot::plan {
namespace {

/// The controls of steps first .. first + steps - 1 [steps x P].
Matrix signal(const std::string& name, DecisionContext context, Index steps, std::uint32_t first = 1) {
  const auto strategy = make_strategy(name);
  Matrix controls(steps, context.box.low.size());
  for (Index t = 0; t < steps; ++t) {
    context.step = first + static_cast<std::uint32_t>(t);
    controls.row(t) = strategy->choose(context).control.transpose();
  }
  return controls;
}

/// The changes of a column's value.
Index switches(const Matrix& controls, Index p) {
  Index count = 0;
  for (Index t = 1; t < controls.rows(); ++t) {
    count += controls(t, p) != controls(t - 1, p) ? 1 : 0;
  }
  return count;
}

/// Of a model with one declared derivative.
test::RandomContext with_half_step(double half_step) {
  test::RandomContext problem({.kinematics = true});
  ssm::Structure structure = problem.transition.structure();
  for (ssm::Kinematics& k : structure.kinematics) {
    k.half_step = half_step;
  }
  problem.transition = ssm::Transition(structure, problem.transition.parameters(), problem.transition.weights());
  return problem;
}

TEST(BinarySignal, HoldsRandomExtremes) {
  const test::RandomContext problem({.controls = 2});
  const Matrix c = signal("prbs", problem.context(), 2000);
  for (Index p = 0; p < 2; ++p) {
    EXPECT_TRUE(((c.col(p).array() == problem.box.low(p)) || (c.col(p).array() == problem.box.high(p))).all());
    // Holds of 1 to 4 steps are 2.5 on average, and every other one changes the value: one switch in 5 steps.
    EXPECT_NEAR(static_cast<double>(switches(c, p)) / 2000.0, 0.2, 0.03);
    EXPECT_NEAR((c.col(p).array() == problem.box.low(p)).cast<double>().mean(), 0.5, 0.06);
  }
  EXPECT_GT((c.col(0).array() == problem.box.low(0))
                .cast<double>()
                .matrix()
                .dot((c.col(1).array() == problem.box.high(1)).cast<double>().matrix()),
            0.0);  // inputs switch apart
}

TEST(BinarySignal, SwitchesAsFastAsTheDeclaredMotion) {
  // A quarter of the period pi / half_step: 1 step, 3 steps, and at most 8.
  const Matrix fast = signal("prbs", with_half_step(0.7).context(), 2000);
  const Matrix middle = signal("prbs", with_half_step(0.26).context(), 2000);
  const Matrix slow = signal("prbs", with_half_step(0.001).context(), 2000);
  EXPECT_NEAR(static_cast<double>(switches(fast, 0)) / 2000.0, 1.0 / 2.0, 0.04);
  EXPECT_NEAR(static_cast<double>(switches(middle, 0)) / 2000.0, 1.0 / 4.0, 0.04);
  EXPECT_NEAR(static_cast<double>(switches(slow, 0)) / 2000.0, 1.0 / 9.0, 0.03);
}

TEST(BinarySignal, DependsOnSeedTrialAndStepAlone) {
  const test::RandomContext problem({});
  DecisionContext context = problem.context();
  const Matrix whole = signal("prbs", context, 300);
  EXPECT_EQ(signal("prbs", context, 20, 101), whole.middleRows(100, 20));
  context.trial += 1;
  EXPECT_NE(signal("prbs", context, 300), whole);
  EXPECT_EQ(signal("prbs", context, 5, 0xFFFF'FFF0U).rows(), 5);  // a large step costs no more
}

TEST(Multisine, FillsTheBoxAndNoMore) {
  const test::RandomContext problem({.controls = 2});
  const Matrix c = signal("multisine", problem.context(), 128, 0);
  for (Index p = 0; p < 2; ++p) {
    const double middle = 0.5 * (problem.box.low(p) + problem.box.high(p));
    const double half = 0.5 * (problem.box.high(p) - problem.box.low(p));
    const Vector scaled = (c.col(p).array() - middle) / half;
    EXPECT_NEAR(scaled.cwiseAbs().maxCoeff(), 1.0, 1e-12);
    EXPECT_NEAR(scaled.mean(), 0.0, 1e-9);
    EXPECT_GT(scaled.squaredNorm() / 128.0, 0.12);  // chosen phases: a crest factor below 2.9
  }
}

TEST(Multisine, InputsAreUncorrelatedOverThePeriod) {
  const test::RandomContext problem({.controls = 2});
  const Matrix c = signal("multisine", problem.context(), 128, 0);
  const Matrix centred = c.rowwise() - c.colwise().mean();
  EXPECT_NEAR(centred.col(0).dot(centred.col(1)) / (centred.col(0).norm() * centred.col(1).norm()), 0.0, 1e-9);
}

TEST(Multisine, RepeatsAndDependsOnTheTrial) {
  const test::RandomContext problem({});
  DecisionContext context = problem.context();
  const Matrix once = signal("multisine", context, 64, 0);
  EXPECT_EQ(signal("multisine", context, 64, 64), once);
  context.trial += 1;
  EXPECT_NE(signal("multisine", context, 64, 0), once);
}

TEST(IdentificationSignals, MoveTowardsTheirValueAsFarAsTheSlewAllows) {
  for (const std::string name : {"prbs", "multisine"}) {
    test::RandomContext problem({});
    const Box whole = problem.box;
    const Matrix free = signal(name, problem.context(), 40);
    const double middle = 0.5 * (whole.low(0) + whole.high(0));
    problem.box = {Vector::Constant(1, middle - 0.01), Vector::Constant(1, middle + 0.01)};
    DecisionContext context = problem.context();
    context.whole_box = &whole;
    const Matrix slow = signal(name, context, 40);
    for (Index t = 0; t < 40; ++t) {
      EXPECT_EQ(slow(t, 0), std::clamp(free(t, 0), middle - 0.01, middle + 0.01)) << name << " at step " << t;
    }
  }
}

}  // namespace
}  // namespace gpilot::plan
