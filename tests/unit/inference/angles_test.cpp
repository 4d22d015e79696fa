/// Models of a pendulum that turns over the top, with its angle declared and not.
#include "gpilot/ssm/angles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"

namespace gpilot::inference {
namespace {

constexpr double kDt = 0.1;
constexpr double kTurn = 2.0 * std::numbers::pi;

/// th'' = 5 c - 9.81 sin th - 0.2 th', the angle measured with noise of 0.02. Torques of up to 1, held for four rows,
/// and a push at the start turn it over.
ssm::Sequence pendulum(Index steps, std::uint64_t seed, double noise_sd = 0.02) {
  RandomStream random(seed, Purpose::kTest);
  ssm::Sequence s{Matrix(steps + 1, 1), Matrix(steps + 1, 1)};
  double th = 0.0;
  double v = 9.0;
  double c = 0.0;
  for (Index t = 0; t <= steps; ++t) {
    if (t % 4 == 0) {
      c = random.uniform(-1.0, 1.0);
    }
    s.controls(t, 0) = c;
    s.outputs(t, 0) = th + noise_sd * random.normal();
    for (int k = 0; k < 100; ++k) {
      v += 0.01 * kDt * (5.0 * c - 9.81 * std::sin(th) - 0.2 * v);
      th += 0.01 * kDt * v;
    }
  }
  return s;
}

ssm::ModelSpec spec(bool angle) {
  ssm::ModelSpec spec;
  spec.inputs = {"c"};
  spec.outputs = {"y_th"};
  spec.states = {"th", "v"};
  spec.derivatives = {{1, 0}};
  spec.dt = kDt;
  spec.x0_mean = Eigen::Vector2d(0.0, 9.0);
  spec.x0_sd = Eigen::Vector2d(0.1, 0.3);
  if (angle) {
    spec.angles = {"th"};
  }
  return spec;
}

FitOptions options() {
  FitOptions options;
  options.noise_path = 0;
  return options;
}

/// Of free runs from the start, to the nearest turn, on recordings without noise.
double free_run_error(const ssm::Model& model) {
  double squares = 0.0;
  Index count = 0;
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    const ssm::Sequence test = pendulum(25, seed, 0.0);
    const ssm::Prediction run = ssm::Predictor(model, model.gp).free_run(test, {.warmup = 1, .draws = 0});
    for (Index t = 1; t < test.rows(); ++t) {
      squares += std::pow(std::remainder(run.mean(t, 0) - test.outputs(t, 0), kTurn), 2);
      ++count;
    }
  }
  return std::sqrt(squares / static_cast<double>(count));
}

TEST(AngleFit, APendulumThatTurnsOverIsIdentified) {
  double with = 0.0;
  double without = 0.0;
  int better = 0;
  constexpr int kSeeds = 5;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const ssm::Sequence data = pendulum(60, seed);
    ASSERT_GT(data.outputs.cwiseAbs().maxCoeff(), 0.75 * kTurn) << seed;
    const double error = free_run_error(fit({data}, spec(true), options()));
    const double plain = free_run_error(fit({data}, spec(false), options()));
    with += error / kSeeds;
    without += plain / kSeeds;
    better += error < plain ? 1 : 0;
  }
  EXPECT_LT(with, without);
  EXPECT_GE(better, 4);
}

/// Where a rig cuts its angles makes no difference: not to the model, and not to its predictions.
TEST(AngleFit, ARecordingThatJumpsGivesTheSameModel) {
  const ssm::Sequence whole = pendulum(40, 1);
  ssm::Sequence cut = whole;
  for (double& y : cut.outputs.reshaped()) {
    y = std::remainder(y, kTurn);
  }
  ASSERT_GT((cut.outputs - whole.outputs).cwiseAbs().maxCoeff(), 6.0);
  ssm::ModelSpec s = spec(true);
  s.ranges = {{"y_th", -3.0, 3.0}};
  const ssm::Model a = fit({whole}, s, options());
  const ssm::Model b = fit({cut}, s, options());
  EXPECT_NEAR(a.report.bound, b.report.bound, 1e-5 * std::abs(a.report.bound));
  const ssm::Sequence test = pendulum(25, 100, 0.0);
  const Matrix run_a = ssm::Predictor(a, a.gp).free_run(test, {.warmup = 1, .draws = 0}).mean;
  const Matrix run_b = ssm::Predictor(b, b.gp).free_run(test, {.warmup = 1, .draws = 0}).mean;
  EXPECT_LT((run_a - run_b).cwiseAbs().maxCoeff(), 1e-2);
}

}  // namespace
}  // namespace gpilot::inference
