/// What observing all states is worth to training, and whether declared kinematics still help then.
///
///   observed [trials] [points]     a table for docs/results/observed-states.md
///
/// One fit per trial on points under random controls (development seed 777), judged by the protocol: the free-run rmse
/// of the outputs that are measured in both cases.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/evaluation.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/system_model.hpp"

namespace {

using namespace gpilot;

constexpr std::uint64_t kSeed = 777;

/// The rmse of every trial.
std::vector<double> errors(const systems::System& system, bool kinematics, int trials, Index points) {
  const trials::Evaluation evaluation(system);
  std::vector<double> rmse(static_cast<std::size_t>(trials));
  oneapi::tbb::parallel_for(0, trials, [&](int trial) {
    const auto number = static_cast<std::uint32_t>(trial);
    const Matrix controls = systems::random_controls(system, points, {}, kSeed, number);
    const systems::Trajectory run = systems::simulate(system, controls, {.seed = kSeed, .trial = number});
    const ssm::Model model = inference::fit({{run.controls, run.outputs}}, trials::model_spec(system, kinematics), {});
    rmse[static_cast<std::size_t>(trial)] = evaluation.evaluate(model).front().value;
  });
  return rmse;
}

void row(const std::string& name, bool observed, bool kinematics, int trials, Index points) {
  const auto system = systems::make_system(name);
  if (observed) {
    system->observe_states();
  }
  std::vector<double> rmse = errors(*system, kinematics, trials, points);
  fmt::print("| {} | {} | {} | {:.3f} | {:.3f} | {:.3f} ({:.3f}) |\n", name, observed ? "observed" : "latent",
             kinematics ? "declared" : "not", trials::median(rmse), *std::ranges::max_element(rmse), trials::mean(rmse),
             trials::sample_stddev(rmse));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 10;
  const Index points = argc > 2 ? std::atoi(argv[2]) : 35;
  fmt::print("| system | velocities | kinematics | median rmse | worst | mean (sd) |\n|---|---|---|---|---|---|\n");
  for (const char* name : {"pendulum", "cart-pole", "tras"}) {
    row(name, false, true, trials, points);
    row(name, true, true, trials, points);
    row(name, true, false, trials, points);
  }
  return 0;
}
