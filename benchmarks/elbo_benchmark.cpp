/// The bound with its gradient, beside the work that no implementation can avoid: per state dimension the kernel's
/// exponentials, one M x M x N product, one symmetric product and the input gradient. The ratio of the two is what we
/// keep an eye on; both run in the same program on the same machine.

#include <benchmark/benchmark.h>

#include <cmath>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/structure.hpp"
#include "random_chain.hpp"

namespace gpilot {
namespace {

void bound_and_gradient(benchmark::State& state, Index T, Index D, Index M, bool linear_kernel, int threads) {
  const RandomChain problem(T, D, M, linear_kernel);
  ssm::Elbo elbo(problem.structure, problem.series, gp::make_nodes(gp::NodeRule::kAuto, D), threads);
  ssm::Parameters p_bar;
  ssm::StatePosterior q_bar;
  for (auto _ : state) {
    benchmark::DoNotOptimize(elbo.gradient(problem.parameters, problem.q, p_bar, q_bar));
  }
  state.counters["nodes"] = static_cast<double>(T * gp::make_nodes(gp::NodeRule::kAuto, D).count());
}

/// In blocks of 512 nodes, as the bound works, so that both enjoy the cache alike.
void unavoidable(benchmark::State& state, Index T, Index D, Index M) {
  constexpr Index kBlock = 512;
  const Index N = T * gp::make_nodes(gp::NodeRule::kAuto, D).count();
  const Index rows = std::min(N, kBlock);
  RandomStream random(1, Purpose::kTest);
  const Matrix R2 = random.normal_matrix(rows, M).cwiseAbs();
  const Matrix Gamma = random.normal_matrix(M, M);
  const Matrix Z = random.normal_matrix(M, D + 2);
  Matrix K(rows, M);
  Matrix T_(rows, M);
  Matrix G(M, M);
  Matrix X_bar(rows, D + 2);
  for (auto _ : state) {
    for (Index d = 0; d < D; ++d) {
      for (Index done = 0; done < N; done += rows) {
        const Index n = std::min(rows, N - done);
        K.topRows(n).array() = (-0.5 * R2.topRows(n).array()).exp();
        T_.topRows(n).noalias() = K.topRows(n) * Gamma;
        G.selfadjointView<Eigen::Lower>().rankUpdate(K.topRows(n).transpose());
        X_bar.topRows(n).noalias() = T_.topRows(n) * Z;
        benchmark::DoNotOptimize(X_bar.data());
        benchmark::DoNotOptimize(G.data());
      }
      G.setZero();
    }
  }
}

BENCHMARK_CAPTURE(bound_and_gradient, T35_D2_M20, 35, 2, 20, false, 1);
BENCHMARK_CAPTURE(unavoidable, T35_D2_M20, 35, 2, 20);
BENCHMARK_CAPTURE(bound_and_gradient, T35_D2_M20_linear, 35, 2, 20, true, 1);
BENCHMARK_CAPTURE(bound_and_gradient, T35_D4_M30, 35, 4, 30, false, 1);
BENCHMARK_CAPTURE(unavoidable, T35_D4_M30, 35, 4, 30);
BENCHMARK_CAPTURE(bound_and_gradient, T1000_D2_M50, 1000, 2, 50, false, 1);
BENCHMARK_CAPTURE(unavoidable, T1000_D2_M50, 1000, 2, 50);

}  // namespace
}  // namespace gpilot
