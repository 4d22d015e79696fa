/// A whole fit from scratch: scaling, the linear model, the GP, the comparison of both.

#include <benchmark/benchmark.h>

#include "gpilot/inference/fit.hpp"
#include "gpilot/systems/controls.hpp"
#include "gpilot/systems/registry.hpp"
#include "gpilot/systems/simulate.hpp"

namespace gpilot {
namespace {

void whole_fit(benchmark::State& state, const char* name, Index steps) {
  const auto system = systems::make_system(name);
  const systems::SystemSpec& s = system->spec();
  const systems::Trajectory data =
      systems::simulate(*system, systems::random_controls(*system, steps, {1, 5}, 1), {.seed = 1});
  ssm::ModelSpec spec;
  for (const systems::Channel& c : s.controls) {
    spec.inputs.push_back(c.name);
  }
  for (const systems::Channel& c : s.outputs) {
    spec.outputs.push_back(c.name);
  }
  for (const systems::Channel& c : s.states) {
    spec.states.push_back(c.name);
  }
  for (const systems::DerivativeRelation& d : s.derivatives) {
    spec.derivatives.push_back({d.velocity, d.position});
  }
  spec.dt = s.dt;
  spec.C = s.emission;
  const ssm::Dataset dataset{{data.controls, data.outputs}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(inference::fit(dataset, spec, {}));
  }
}

BENCHMARK_CAPTURE(whole_fit, pendulum_T35_D2, "pendulum", 35)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole_fit, cart_pole_T35_D4, "cart-pole", 35)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpilot
