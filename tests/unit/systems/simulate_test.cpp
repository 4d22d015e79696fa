#include "gpilot/systems/simulate.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gpilot/core/error.hpp"
#include "gpilot/systems/system.hpp"
#include "support/message_of.hpp"

namespace gpilot::systems {
namespace {

using ::gpilot::test::message_of;

const Vector kNone = Vector::Zero(1);
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class SimulateEverySystem : public ::testing::TestWithParam<std::string> {};

TEST_P(SimulateEverySystem, WithoutNoiseFollowsTheTransitionFromTheMean) {
  const auto system = make_system(GetParam());
  const Matrix controls = random_controls(*system, 12, {}, 3);
  const Trajectory run = simulate(*system, controls, {.process_sd = kNone, .output_sd = kNone});
  EXPECT_EQ(run.states.row(0).transpose(), system->spec().x0_mean);
  for (Index t = 0; t < 12; ++t) {
    EXPECT_EQ(run.states.row(t + 1).transpose(),
              system->next(run.states.row(t).transpose(), controls.row(t).transpose()));
    EXPECT_EQ(run.outputs.row(t + 1).transpose(), system->spec().emission * run.states.row(t + 1).transpose());
  }
}

TEST_P(SimulateEverySystem, SameSeedSameBits) {
  const auto system = make_system(GetParam());
  const Matrix controls = random_controls(*system, 8, {1, 5}, 9);
  const Trajectory a = simulate(*system, controls, {.seed = 9});
  const Trajectory b = simulate(*system, controls, {.seed = 9});
  const Trajectory other = simulate(*system, controls, {.seed = 10});
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.outputs.bottomRows(8), b.outputs.bottomRows(8));
  EXPECT_NE(a.states, other.states);
}

// The same trial with all states observed sees the same motion and, of the system's own outputs, the same values.
TEST_P(SimulateEverySystem, ObservedStatesAddOutputsAndChangeNothingElse) {
  const auto latent = make_system(GetParam());
  const auto observed = latent->clone();
  observed->observe_states();
  constexpr Index kSteps = 2000;
  const Matrix controls = random_controls(*latent, kSteps, {}, 5);
  const Trajectory a = simulate(*latent, controls, {.seed = 5});
  const Trajectory b = simulate(*observed, controls, {.seed = 5});
  EXPECT_EQ(a.states, b.states);
  EXPECT_EQ(a.outputs.bottomRows(kSteps),
            Matrix(b.outputs.bottomRows(kSteps)(Eigen::all, observed->spec().own_outputs())));
  const Matrix noise = (b.outputs - b.states).bottomRows(kSteps);
  const Vector sd = noise.cwiseAbs2().colwise().mean().cwiseSqrt().transpose();
  EXPECT_LT((sd.cwiseQuotient(observed->spec().output_sd).array() - 1.0).abs().maxCoeff(), 0.07);  // 4 sds
  const Matrix unit = noise * observed->spec().output_sd.cwiseInverse().asDiagonal();
  const Matrix correlation = unit.transpose() * unit / static_cast<double>(kSteps);
  const Matrix apart = correlation - Matrix(correlation.diagonal().asDiagonal());
  EXPECT_LT(apart.cwiseAbs().maxCoeff(), 0.09);
}

TEST_P(SimulateEverySystem, ControlsStayInTheBox) {
  const auto system = make_system(GetParam());
  EXPECT_NO_THROW(check_in_control_box(*system, random_controls(*system, 300, {}, 1)));
  const Matrix extremes = extreme_controls(*system, 300, {}, 1);
  for (Index i = 0; i < system->control_dim(); ++i) {
    const double low = system->spec().control_box.low(i);
    const double high = system->spec().control_box.high(i);
    EXPECT_EQ(extremes.col(i).minCoeff(), low);
    EXPECT_EQ(extremes.col(i).maxCoeff(), high);
    EXPECT_TRUE(((extremes.col(i).array() == low) || (extremes.col(i).array() == high)).all());
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, SimulateEverySystem, ::testing::ValuesIn(system_names()), [](const auto& param_info) {
  return param_info.param == "cart-pole" ? std::string("cart_pole") : param_info.param;
});

TEST(Simulate, MissingEntriesAndTimes) {
  const auto system = make_system("tras");
  const Trajectory run = simulate(*system, constant_controls(*system, 3, Vector{{0.1, 0.0}}));
  EXPECT_EQ(run.times, (Vector{{0.0, 0.2, 0.4, 0.6}}));
  EXPECT_TRUE(run.outputs.row(0).array().isNaN().all());
  EXPECT_TRUE(run.outputs.bottomRows(3).allFinite());
  EXPECT_TRUE(run.controls.row(3).array().isNaN().all());
  EXPECT_TRUE(run.controls.topRows(3).allFinite());
  EXPECT_EQ(run.states.rows(), 4);
}

// Noise is keyed by its purpose: switching one off leaves the others' numbers alone.
TEST(Simulate, NoisesAreIndependentOfEachOther) {
  const auto system = make_system("pendulum");
  const Matrix controls = random_controls(*system, 20, {}, 4);
  const Trajectory both = simulate(*system, controls, {.seed = 4});
  const Trajectory no_output = simulate(*system, controls, {.seed = 4, .output_sd = kNone});
  const Trajectory no_process = simulate(*system, controls, {.seed = 4, .process_sd = kNone});
  EXPECT_EQ(both.states, no_output.states);
  EXPECT_EQ(both.states.row(0), no_process.states.row(0));
  const Vector noise = (both.outputs - both.states.leftCols(1)).bottomRows(20);
  const Vector noise_alone = (no_process.outputs - no_process.states.leftCols(1)).bottomRows(20);
  EXPECT_LT((noise - noise_alone).norm(), 1e-14);
}

TEST(Simulate, NoiseHasTheGivenStandardDeviations) {
  const auto system = make_system("kink");
  constexpr Index kSteps = 4000;
  const Trajectory run = simulate(*system, random_controls(*system, kSteps, {}, 1),
                                  {.seed = 1, .process_sd = Vector{{0.02}}, .output_sd = Vector{{0.3}}});
  Vector process(kSteps);
  for (Index t = 0; t < kSteps; ++t) {
    process(t) = run.states(t + 1, 0) - system->next(run.states.row(t), run.controls.row(t))(0);
  }
  const Vector output = (run.outputs - run.states).bottomRows(kSteps);
  EXPECT_NEAR(std::sqrt(process.squaredNorm() / kSteps), 0.02, 0.001);
  EXPECT_NEAR(std::sqrt(output.squaredNorm() / kSteps), 0.3, 0.015);
}

TEST(Simulate, LongerRunsBeginLikeShorterOnes) {
  const auto system = make_system("cart-pole");
  const Matrix controls = random_controls(*system, 30, {1, 4}, 2);
  EXPECT_EQ(controls.topRows(11), random_controls(*system, 11, {1, 4}, 2));
  const Trajectory long_run = simulate(*system, controls, {.seed = 2});
  const Trajectory short_run = simulate(*system, controls.topRows(11), {.seed = 2});
  EXPECT_EQ(long_run.states.topRows(12), short_run.states);
}

TEST(Simulate, TrialsAreApart) {
  const auto system = make_system("kink");
  EXPECT_NE(random_controls(*system, 5, {}, 2, 0), random_controls(*system, 5, {}, 2, 1));
  const Matrix controls = random_controls(*system, 5, {}, 2);
  EXPECT_NE(simulate(*system, controls, {.trial = 0}).states, simulate(*system, controls, {.trial = 1}).states);
}

TEST(Simulate, InitialStateCanBeGiven) {
  const auto system = make_system("pendulum");
  const Vector x0{{-1.0, 0.5}};
  const Trajectory run = simulate(*system, constant_controls(*system, 2, Vector{{0.0}}), {.x0 = x0});
  EXPECT_EQ(run.states.row(0).transpose(), x0);
}

TEST(Simulate, WrongOptionsAreRefused) {
  const auto system = make_system("cart-pole");
  const Matrix controls = Matrix::Zero(2, 1);
  const auto message = [&](const SimulateOptions& options) {
    return message_of<InputError>([&] { simulate(*system, controls, options); });
  };
  EXPECT_EQ(message({.x0 = Vector::Zero(2)}), "x0 of cart-pole needs 4 value(s), not 2");
  EXPECT_EQ(message({.x0 = Vector::Constant(4, kNaN)}), "x0 must be finite");
  EXPECT_EQ(message({.process_sd = Vector::Zero(2)}), "process noise needs 1 or 4 standard deviations, not 2");
  EXPECT_EQ(message({.output_sd = Vector{{-0.1}}}),
            "a standard deviation of the output noise must be finite and not negative, not -0.1");
  EXPECT_THROW(simulate(*system, Matrix::Zero(0, 1)), InputError);
  EXPECT_THROW(simulate(*system, Matrix::Constant(2, 1, 3.1)), InputError);
  EXPECT_THROW(simulate(*system, Matrix::Zero(2, 2)), InputError);
}

TEST(Simulate, DivergenceIsANumericalError) {
  const auto system = make_system("kink");
  system->set_parameter("gain", 1e308);
  EXPECT_EQ(message_of<NumericalError>([&] {
              simulate(*system, Matrix::Zero(5, 1), {.x0 = Vector{{10.0}}, .process_sd = kNone, .output_sd = kNone});
            }),
            "the state of kink is not finite after step 1");
}

TEST(Controls, AreHeldForWholeBlocks) {
  const auto system = make_system("tras");
  const Matrix fixed = random_controls(*system, 10, {4, 4}, 5);
  for (Index t = 1; t < 10; ++t) {
    EXPECT_EQ(fixed.row(t) == fixed.row(t - 1), t % 4 != 0) << t;
  }
  const Matrix varied = random_controls(*system, 400, {2, 3}, 5);
  Index run = 1;
  for (Index t = 1; t < 399; ++t) {
    if (varied.row(t) == varied.row(t - 1)) {
      ++run;
    } else {
      EXPECT_TRUE(run == 2 || run == 3) << run;
      run = 1;
    }
  }
}

TEST(Controls, WrongOnesAreRefused) {
  const auto system = make_system("pendulum");
  EXPECT_EQ(message_of<InputError>([&] { constant_controls(*system, 3, Vector{{0.7}}); }),
            "control c = 0.7 at step 0 is outside the box of pendulum: c in [-0.5, 0.5]");
  EXPECT_THROW(constant_controls(*system, 3, Vector{{0.1, 0.1}}), InputError);
  EXPECT_EQ(message_of<InputError>([&] { random_controls(*system, 0, {}, 1); }),
            "the number of steps must be at least 1, not 0");
  EXPECT_EQ(message_of<InputError>([&] {
              random_controls(*system, 3, {3, 2}, 1);
            }),
            "a hold must be at least 1 step and its range must rise, not 3:2");
  EXPECT_THROW(random_controls(*system, 3, {0, 2}, 1), InputError);
}

}  // namespace
}  // namespace gpilot::systems
