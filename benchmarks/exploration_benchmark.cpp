/// What one step of an exploration costs: choosing the control, by strategy, beside training.

#include <benchmark/benchmark.h>

#include <string>

#include "gpilot/explore/explorer.hpp"
#include "gpilot/explore/online_model.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/evaluation.hpp"
#include "gpilot/trials/system_model.hpp"

namespace gpilot {
namespace {

constexpr Index kPoints = 35;

ssm::Sequence recording(const systems::System& system) {
  const systems::Trajectory data =
      systems::simulate(system, systems::random_controls(system, kPoints, {1, 5}, 1), {.seed = 1});
  return {data.controls, data.outputs};
}

/// A model that has a Gaussian process for certain: the paper's training does not compare it with a linear one.
ssm::Model gp_model(const systems::System& system, const ssm::Sequence& data) {
  inference::FitOptions options;
  options.method = inference::Method::kAdam;
  options.epochs = 1;
  return inference::fit({data}, trials::model_spec(system), options);
}

/// Chooses once per iteration, on a Gaussian process model of 35 points.
void choose(benchmark::State& state, const std::string& system_name, const std::string& strategy_name) {
  const auto system = systems::make_system(system_name);
  const ssm::Sequence data = recording(*system);
  const ssm::Model model = gp_model(*system, data);
  explore::OnlineModel online(std::make_shared<const ssm::Model>(model), system->spec().control_box,
                              {.seed = model.seed});
  const Box box = online.scaled(system->spec().control_box);
  const ssm::Series history = online.scaled(ssm::Dataset{data});
  const auto strategy = plan::make_strategy(strategy_name);
  for (auto _ : state) {
    benchmark::DoNotOptimize(strategy->choose(online.context(box, &history, 0)));
  }
}

/// Judges a model by the fixed test.
void evaluate(benchmark::State& state, const std::string& system_name) {
  const auto system = systems::make_system(system_name);
  const trials::Evaluation evaluation(*system);
  const ssm::Model model = gp_model(*system, recording(*system));
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluation.evaluate(model));
  }
}

BENCHMARK_CAPTURE(choose, pendulum_latmi, "pendulum", "latmi")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, pendulum_latmi_x0, "pendulum", "latmi-x0")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, pendulum_totmi, "pendulum", "totmi")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, pendulum_totmi_sampled, "pendulum", "totmi-sampled")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, pendulum_entropy, "pendulum", "entropy")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, tras_latmi, "tras", "latmi")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, tras_totmi, "tras", "totmi")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(choose, tras_totmi_sampled, "tras", "totmi-sampled")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(evaluate, pendulum, "pendulum")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(evaluate, cart_pole, "cart-pole")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpilot
