/// A whole fit from scratch: scaling, the linear model, the GP, the comparison of both.

#include <benchmark/benchmark.h>

#include "gpilot/inference/fit.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"

namespace gpilot {
namespace {

void whole_fit(benchmark::State& state, const char* name, Index steps) {
  const auto system = systems::make_system(name);
  const systems::Trajectory data =
      systems::simulate(*system, systems::random_controls(*system, steps, {1, 5}, 1), {.seed = 1});
  const ssm::ModelSpec spec = trials::model_spec(*system);
  const ssm::Dataset dataset{{data.controls, data.outputs}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(inference::fit(dataset, spec, {}));
  }
}

BENCHMARK_CAPTURE(whole_fit, pendulum_T35_D2, "pendulum", 35)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole_fit, cart_pole_T35_D4, "cart-pole", 35)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpilot
