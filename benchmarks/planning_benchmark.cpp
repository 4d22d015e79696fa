/// What one planned decision costs on the cart-pole, by the plans that are tried.

#include <benchmark/benchmark.h>

#include <string>

#include "gpilot/explore/online_model.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"

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
  explore::ExploreOptions explore;
  explore.planning = {.horizon = kHorizon, .evaluations = static_cast<int>(state.range(0))};
  explore::OnlineModel online(
      std::make_shared<const ssm::Model>(inference::fit(recording, trials::model_spec(*system), options)),
      system->spec().control_box, explore);
  const auto strategy = plan::make_strategy(strategy_name);
  const explore::Decision decision{.box = system->spec().control_box, .history = &recording};
  for (auto _ : state) {
    benchmark::DoNotOptimize(online.choose(*strategy, decision));
  }
}

void budgets(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->ArgName("evaluations")->Arg(32)->Arg(100)->Arg(320)->Arg(1000);
}

BENCHMARK_CAPTURE(decide, cart_pole_imse, "imse")->Apply(budgets);
BENCHMARK_CAPTURE(decide, cart_pole_infogain, "infogain")->Apply(budgets);

}  // namespace
}  // namespace gpilot
