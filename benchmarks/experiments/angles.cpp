/// What declaring its angle does for a pendulum, within its own box and in one where it turns over.
///
///   angles [trials] [seed]     the tables of docs/results/angles.md
///
/// Paired trials with and without the declaration, all judged by the same errors, those to the nearest turn.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "gpilot/systems/system.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/trial.hpp"

namespace {

using namespace gpilot;

constexpr std::array<std::size_t, 3> kSteps{10, 20, 30};

struct Arm {
  std::array<std::vector<double>, kSteps.size()> rmse;  ///< per step, per trial
  std::vector<double> over;                             ///< 1 if a trial turned over
};

Arm run(const systems::System& system, const trials::Evaluation& evaluation, const std::string& strategy, bool angles,
        int trials, std::uint64_t seed) {
  Arm arm;
  for (std::vector<double>& values : arm.rmse) {
    values.resize(static_cast<std::size_t>(trials));
  }
  arm.over.resize(static_cast<std::size_t>(trials));
  oneapi::tbb::parallel_for(0, trials, [&](int trial) {
    trials::TrialOptions options{.angles = angles};
    options.explore.strategy = strategy;
    options.explore.seed = seed;
    options.explore.trial = static_cast<std::uint32_t>(trial);
    const trials::Trial result = trials::run_trial(system, evaluation, options);
    const auto t = static_cast<std::size_t>(trial);
    for (std::size_t k = 0; k < kSteps.size(); ++k) {
      arm.rmse[k][t] = result.steps[kSteps[k]].metrics.front().value;
    }
    const Matrix& y = result.data.outputs;
    arm.over[t] = y.bottomRows(y.rows() - 1).cwiseAbs().maxCoeff() > std::numbers::pi ? 1.0 : 0.0;
  });
  return arm;
}

void table(double torque, int trials, std::uint64_t seed) {
  const auto system = systems::make_system("pendulum");
  system->set_control_box({Vector::Constant(1, -torque), Vector::Constant(1, torque)});
  const trials::Evaluation evaluation(*system, true);
  fmt::print("\n|c| <= {}: median rmse over {} trials, plain / angle declared, and p of the pairs\n\n", torque, trials);
  fmt::print(
      "| strategy | turned over | step 10 | p | step 20 | p | step 30 | p |\n|---|---|---|---|---|---|---|---|\n");
  for (const char* strategy : {"random", "randext", "latmi", "totmi"}) {
    const Arm plain = run(*system, evaluation, strategy, false, trials, seed);
    const Arm angle = run(*system, evaluation, strategy, true, trials, seed);
    fmt::print("| {} | {:.0f} / {:.0f} % |", strategy, 100.0 * trials::mean(plain.over),
               100.0 * trials::mean(angle.over));
    for (std::size_t k = 0; k < kSteps.size(); ++k) {
      fmt::print(" {:.3f} / {:.3f} | {:.2g} |", trials::median(plain.rmse[k]), trials::median(angle.rmse[k]),
                 trials::signed_rank_test(plain.rmse[k], angle.rmse[k]).p);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 20;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4242;
  table(1.0, trials, seed);
  table(0.5, trials, seed);
  return 0;
}
