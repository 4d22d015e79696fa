#include "gpilot/ssm/next_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/observed_states.hpp"
#include "gpilot/ssm/report.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/transition.hpp"
#include "support/message_of.hpp"
#include "support/random_model.hpp"

namespace gpilot::ssm {
namespace {

using ::gpilot::test::message_of;
using ::gpilot::test::random_model;

TEST(NextState, GpRowsAreTheTransitionInUserUnits) {
  const Model model = random_model(false);
  const Matrix x = Matrix::Random(7, 2);
  const Matrix c = Matrix::Random(7, 1);
  const NextState next = next_state(model, x, c);
  const Scaling& s = model.scaling;
  const Transition transition(model.gp.structure, model.gp.parameters, model.gp.weights);
  for (Index n = 0; n < x.rows(); ++n) {
    Matrix point(1, 3);
    point << (x(n, 0) - s.state_offset(0)) / s.state_scale(0), (x(n, 1) - s.state_offset(1)) / s.state_scale(1),
        (c(n, 0) - s.control_offset(0)) / s.control_scale(0);
    Matrix mean;
    Matrix variance;
    transition.moments(point, mean, variance);
    for (Index d = 0; d < 2; ++d) {
      EXPECT_NEAR(next.mean(n, d), s.state_offset(d) + s.state_scale(d) * mean(0, d), 1e-12);
      EXPECT_NEAR(next.sd(n, d), s.state_scale(d) * std::sqrt(variance(0, d)), 1e-12);
    }
  }
}

TEST(NextState, PositionFollowsTheNextVelocity) {
  Model model = random_model(true);
  const Scaling& s = model.scaling;
  const double half = 0.5 * model.spec.dt;
  for (Dynamics* dynamics : {&model.gp, &model.linear}) {
    dynamics->structure.kinematics[0].half_step = half * s.state_scale(1) / s.state_scale(0);
  }
  const Matrix x = Matrix::Random(5, 2);
  const NextState next = next_state(model, x, Matrix::Random(5, 1));
  for (Index n = 0; n < x.rows(); ++n) {
    EXPECT_NEAR(next.mean(n, 0), x(n, 0) + half * (x(n, 1) + next.mean(n, 1)), 1e-12);
    EXPECT_NEAR(next.sd(n, 0), half * next.sd(n, 1), 1e-12);
    EXPECT_GT(next.sd(n, 1), 0.0);
  }
}

TEST(NextState, LargeGridsGoInBlocks) {
  const Model model = random_model();
  const Matrix x = Matrix::Random(2500, 2);
  const Matrix c = Matrix::Random(2500, 1);
  const NextState all = next_state(model, x, c);
  const NextState last = next_state(model, x.bottomRows(3), c.bottomRows(3));
  EXPECT_TRUE(all.mean.bottomRows(3).isApprox(last.mean, 1e-12));
  EXPECT_TRUE(all.sd.bottomRows(3).isApprox(last.sd, 1e-9));
}

TEST(NextState, RefusesOtherShapesAndValues) {
  const Model model = random_model();
  const Matrix x = Matrix::Zero(3, 2);
  const Matrix c = Matrix::Zero(3, 1);
  Matrix gap = x;
  gap(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(message_of<InputError>([&] { next_state(model, c, c); }).find("3 x 1 values, expected 3 x 2"),
            std::string::npos);
  EXPECT_NE(message_of<InputError>([&] { next_state(model, x, x); }).find("controls"), std::string::npos);
  EXPECT_NE(message_of<InputError>([&] { next_state(model, gap, c); }).find("not finite"), std::string::npos);
}

TEST(Summary, LinearPartInUserUnitsIsTheTransitionOfALinearModel) {
  Model model = random_model(false);
  model.gp = model.linear;
  const Summary summary = summarize(model, model.gp);
  const Matrix x = Matrix::Random(4, 2);
  const Matrix c = Matrix::Random(4, 1);
  const NextState next = next_state(model, x, c);
  for (Index d = 0; d < 2; ++d) {
    const RowSummary& row = summary.states[static_cast<std::size_t>(d)];
    EXPECT_EQ(row.length_scales.size(), 0);
    const Vector expected = (x * row.weights.head(2) + c * row.weights.tail(1)).array() + row.offset;
    EXPECT_TRUE(next.mean.col(d).isApprox(expected, 1e-12));
  }
}

TEST(Summary, NoisesAndLengthScalesInUserUnits) {
  const Model model = random_model(true);
  const Summary summary = summarize(model, model.gp);
  EXPECT_EQ(summary.sequences, 2);
  EXPECT_EQ(summary.rows, 11);
  EXPECT_TRUE(summary.states[0].velocity.has_value());
  EXPECT_FALSE(summary.states[1].velocity.has_value());
  EXPECT_DOUBLE_EQ(summary.output_sd(0), 2.0 * std::exp(0.5 * model.gp.parameters.log_r(0)));
  EXPECT_TRUE(summary.output_fixed[0]);
  EXPECT_DOUBLE_EQ(summary.states[1].process_sd, 5.0 * std::exp(0.5 * model.gp.parameters.log_q(1)));
  EXPECT_DOUBLE_EQ(summary.states[1].length_scales(2), 0.3 * std::exp(model.gp.parameters.log_length_scales(2, 0)));
  EXPECT_DOUBLE_EQ(summary.states[1].explained.value(), 0.9);
  EXPECT_EQ(summary.C, Matrix::Identity(1, 2));
}

ModelSpec cart() {
  ModelSpec spec;
  spec.states = {"th", "th_dot", "p", "p_dot"};
  spec.derivatives = {{1, 0}, {3, 2}};
  return spec;
}

TEST(ObservedStates, ByName) {
  ModelSpec spec = cart();
  spec.outputs = {"y_p", "th_dot"};
  EXPECT_EQ(observed_states(spec), (std::vector<Index>{2, 1}));
}

TEST(ObservedStates, OtherwiseStatesThatAreNoDerivative) {
  ModelSpec spec = cart();
  spec.outputs = {"angle", "y_p"};  // only one matches, so that neither counts
  EXPECT_EQ(observed_states(spec), (std::vector<Index>{0, 2}));
  spec.derivatives.clear();
  EXPECT_EQ(observed_states(spec), (std::vector<Index>{0, 1}));
  spec.outputs = {"a", "b", "c", "d"};
  spec.derivatives = cart().derivatives;
  EXPECT_EQ(observed_states(spec), (std::vector<Index>{0, 1, 2, 3}));
  spec.outputs = {"th", "y_th"};  // two outputs of one state
  EXPECT_EQ(observed_states(spec), (std::vector<Index>{0, 2}));
}

TEST(ObservedStates, TooFew) {
  ModelSpec spec = cart();
  spec.outputs = {"a", "b", "c"};
  EXPECT_NE(message_of<InputError>([&] { observed_states(spec); }).find("3 outputs but 2 state(s) that are no"),
            std::string::npos);
}

TEST(ObservedStates, Matrix) {
  const gpilot::Matrix C = emission_matrix({2, 0}, 3);
  EXPECT_EQ(C, (gpilot::Matrix(2, 3) << 0, 0, 1, 1, 0, 0).finished());
}

}  // namespace
}  // namespace gpilot::ssm
