/// The bound with its gradient, beside the work that no implementation can avoid: per state dimension the kernel's
/// exponentials, one M x M x N product, one symmetric product and the input gradient. The ratio of the two is what we
/// keep an eye on; both run in the same program on the same machine.

#include <benchmark/benchmark.h>

#include <cmath>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/random.hpp"
#include "gpilot/ssm/elbo.hpp"

namespace gpilot {
namespace {

struct Problem {
  ssm::Structure structure;
  ssm::Series series;
  ssm::Parameters parameters;
  ssm::StatePosterior q;

  Problem(Index T, Index D, Index M, bool linear_kernel) {
    RandomStream random(1, Purpose::kTest);
    structure.states = D;
    structure.controls = 1;
    structure.outputs = 1;
    structure.inducing = M;
    structure.linear_kernel = linear_kernel;
    structure.x0_mean = Vector::Zero(D);
    structure.x0_sd = Vector::Ones(D);
    series = ssm::concatenate({{random.normal_matrix(T + 1, 1), random.normal_matrix(T + 1, 1)}});
    parameters = ssm::default_parameters(structure);
    parameters.Z = random.normal_matrix(M, D + 1);
    q = ssm::StatePosterior::zero(D, T + 1);
    q.m = random.normal_matrix(D, T + 1);
    for (Index t = 0; t <= T; ++t) {
      q.S_chol.middleCols(D * t, D) = 0.2 * Matrix::Identity(D, D);
      if (t > 0) {
        q.A.middleCols(D * t, D) = 0.5 * Matrix::Identity(D, D);
      }
    }
  }
};

void bound_and_gradient(benchmark::State& state, Index T, Index D, Index M, bool linear_kernel, int threads) {
  const Problem problem(T, D, M, linear_kernel);
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
BENCHMARK_CAPTURE(bound_and_gradient, T1000_D2_M50_threads2, 1000, 2, 50, false, 2)->UseRealTime();
BENCHMARK_CAPTURE(bound_and_gradient, T10000_D2_M50, 10000, 2, 50, false, 1);

}  // namespace
}  // namespace gpilot
