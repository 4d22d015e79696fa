/// What one planned decision costs on the cart-pole, by the plans that are tried.

#include <benchmark/benchmark.h>

#include <string>

#include "gpilot/acquisition/strategy.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/study/standpoint.hpp"
#include "gpilot/study/system_model.hpp"
#include "gpilot/systems/controls.hpp"
#include "gpilot/systems/registry.hpp"
#include "gpilot/systems/simulate.hpp"

namespace gpilot {
namespace {

constexpr Index kPoints = 35;
constexpr Index kHorizon = 10;

/// All of a decision, on a Gaussian process model of 35 points: what is unknown, the reference, the search.
void decide(benchmark::State& state, const std::string& strategy_name) {
  const auto system = systems::make_system("cart-pole");
  const systems::Trajectory data =
      systems::simulate(*system, systems::random_controls(*system, kPoints, {1, 5}, 1), {.seed = 1});
  const ssm::Dataset recording{{data.controls, data.outputs}};
  inference::FitOptions options;
  options.method = inference::Method::kAdam;  // has a Gaussian process for certain
  options.epochs = 1;
  const study::Standpoint standpoint(inference::fit(recording, study::model_spec(*system), options), 0);
  const auto strategy = acquisition::make_strategy(strategy_name);
  const study::Decision decision{
      .box = system->spec().control_box,
      .history = &recording,
      .planning = {.horizon = kHorizon, .evaluations = static_cast<int>(state.range(0))},
  };
  for (auto _ : state) {
    benchmark::DoNotOptimize(standpoint.choose(*strategy, decision));
  }
}

void budgets(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->ArgName("evaluations")->Arg(32)->Arg(100)->Arg(320)->Arg(1000);
}

BENCHMARK_CAPTURE(decide, cart_pole_imse, "imse")->Apply(budgets);
BENCHMARK_CAPTURE(decide, cart_pole_infogain, "infogain")->Apply(budgets);

}  // namespace
}  // namespace gpilot
