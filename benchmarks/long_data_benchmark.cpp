/// Long data: the bound with its gradient and one smoothing step, per row, over three decades of length, with one and
/// with two threads. `per_row` is what must not depend on the length.

#include <benchmark/benchmark.h>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/ssm/structure.hpp"
#include "random_chain.hpp"

namespace gpilot {
namespace {

constexpr Index kStates = 2;
constexpr Index kInducing = 50;

void set_counters(benchmark::State& state, Index T) {
  state.counters["per_row"] = benchmark::Counter(
      static_cast<double>(T), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void bound_and_gradient(benchmark::State& state) {
  const auto T = static_cast<Index>(state.range(0));
  const RandomChain chain(T, kStates, kInducing, false);
  ssm::Elbo elbo(chain.structure, chain.series, gp::make_nodes(gp::NodeRule::kAuto, kStates),
                 static_cast<int>(state.range(1)));
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  elbo.gradient(chain.parameters, chain.q, p_bar, q_bar);  // allocates
  for (auto _ : state) {
    benchmark::DoNotOptimize(elbo.gradient(chain.parameters, chain.q, p_bar, q_bar));
  }
  set_counters(state, T);
}

/// A whole E-step: the bound with its gradient at q(x), the step's target, q(x) of the step.
void smoothing_step(benchmark::State& state) {
  const auto T = static_cast<Index>(state.range(0));
  const auto threads = static_cast<int>(state.range(1));
  const RandomChain chain(T, kStates, kInducing, false);
  ssm::Elbo elbo(chain.structure, chain.series, gp::make_nodes(gp::NodeRule::kAuto, kStates), threads);
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  ssm::StatePosterior next = chain.q;
  inference::ChainPotentials current;
  inference::ChainPotentials target;
  for (auto _ : state) {
    elbo.gradient(chain.parameters, chain.q, p_bar, q_bar);
    inference::potentials_of(chain.q, chain.series, current, threads);
    inference::target_potentials(elbo, chain.parameters, chain.q, q_bar, target);
    target.J = 0.5 * (target.J + current.J);
    target.J_off = 0.5 * (target.J_off + current.J_off);
    benchmark::DoNotOptimize(inference::posterior_of(target, chain.series, chain.q.m, next));
  }
  set_counters(state, T);
}

void lengths_and_threads(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"T", "threads"})->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const int T : {1000, 10000, 100000}) {
    for (const int threads : {1, 2}) {
      benchmark->Args({T, threads});
    }
  }
}

BENCHMARK(bound_and_gradient)->Apply(lengths_and_threads);
BENCHMARK(smoothing_step)->Apply(lengths_and_threads);

}  // namespace
}  // namespace gpilot
