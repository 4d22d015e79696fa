// The bound with its gradient, and an epoch of the paper's scheme, for benchmarks/peers to stand beside.
// Usage: peers write T D M      the problem, its bound and gradient as text: a line "NAME ROWS COLUMNS", then the
// values
//        peers bound T D M S    seconds of an evaluation with gradient, the median over S seconds
//        peers epoch T D M S    seconds of an epoch of Adam on the sampled bound, likewise
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../random_chain.hpp"
#include "gpilot/inference/adam.hpp"
#include "gpilot/inference/priors.hpp"

namespace {

using gpilot::Index;
using gpilot::Matrix;
using Clock = std::chrono::steady_clock;

void write(const std::string& name, const Matrix& values) {
  std::printf("%s %td %td\n", name.c_str(), values.rows(), values.cols());
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      std::printf("%.17g ", values(i, j));
    }
    std::printf("\n");
  }
}

void write(const std::string& prefix, const gpilot::ssm::Parameters& p, const gpilot::ssm::StatePosterior& q) {
  write(prefix + "Z", p.Z);
  write(prefix + "log_variance", p.log_variance);
  write(prefix + "log_length_scales", p.log_length_scales);
  write(prefix + "mean_weights", p.mean_weights);
  write(prefix + "log_q", p.log_q);
  write(prefix + "log_r", p.log_r);
  write(prefix + "C", p.C);
  write(prefix + "d", p.d);
  write(prefix + "m", q.m);
  write(prefix + "S_chol", q.S_chol);
  write(prefix + "A", q.A);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

void write_problem(const gpilot::RandomChain& problem, gpilot::ssm::Elbo& elbo, const gpilot::gp::Nodes& nodes) {
  gpilot::ssm::Parameters p_bar;
  gpilot::ssm::StatePosterior q_bar;
  const double value = elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
  write("controls", problem.series.controls);
  write("outputs", problem.series.outputs);
  write("xi", nodes.xi);
  write("w", nodes.w);
  write("", problem.parameters, problem.q);
  write("value", Matrix::Constant(1, 1, value));
  write("bar_", p_bar, q_bar);
}

double bound_seconds(const gpilot::RandomChain& problem, gpilot::ssm::Elbo& elbo, double budget) {
  gpilot::ssm::Parameters p_bar;
  gpilot::ssm::StatePosterior q_bar;
  std::vector<double> times;
  double sink = elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
  const Clock::time_point begin = Clock::now();
  while (times.size() < 5 || seconds_since(begin) < budget) {
    const Clock::time_point start = Clock::now();
    sink += elbo.gradient(problem.parameters, problem.q, p_bar, q_bar);
    times.push_back(seconds_since(start));
  }
  return sink == 0.0 ? 0.0 : median(std::move(times));
}

double epoch_seconds(const gpilot::RandomChain& problem, double budget) {
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
  gpilot::inference::SampledOptions options;
  options.epochs = 1'000'000;
  options.on_epoch = [&](int /*epoch*/, double /*objective*/) {
    const Clock::time_point now = Clock::now();
    times.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
    return times.size() < 6 || seconds_since(begin) < budget;
  };
  gpilot::ssm::Elbo elbo(
      problem.structure, problem.series,
      gpilot::gp::make_nodes(gpilot::gp::NodeRule::kSamples, problem.structure.states, options.samples, options.seed),
      1);
  gpilot::inference::Priors priors;
  priors.centre = problem.parameters;
  gpilot::inference::train_sampled(elbo, priors, gpilot::ssm::Free::defaults(problem.structure), problem.parameters,
                                   problem.q, options);
  return median(std::move(times));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: peers write|bound|epoch T D M [SECONDS]\n");
    return 2;
  }
  const std::string what = argv[1];
  const gpilot::RandomChain problem(std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]), false);
  const gpilot::gp::Nodes nodes = gpilot::gp::make_nodes(gpilot::gp::NodeRule::kAuto, problem.structure.states);
  gpilot::ssm::Elbo elbo(problem.structure, problem.series, nodes, 1);
  const double budget = argc > 5 ? std::atof(argv[5]) : 1.0;
  if (what == "write") {
    write_problem(problem, elbo, nodes);
  } else {
    std::printf("%.9g\n", what == "bound" ? bound_seconds(problem, elbo, budget) : epoch_seconds(problem, budget));
  }
}
