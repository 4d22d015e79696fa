/// How far explorations go: why a strategy that moves the system most need not teach most about the region that
/// matters.
///
///   reach [trials]     a table for docs/results/paper.md
///
/// Per system and strategy, over the trials 0.. of seed 0 (those of the comparison): the distance of the measured
/// outputs from the centre of the system's region of interest, in half widths of the region, largest over the outputs.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpilot/systems/system.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/trial.hpp"

namespace {

using namespace gpilot;

struct Reach {
  double farthest = 0.0;
  double outside = 0.0;  ///< share of the rows beyond 1
};

Reach reach_of(const systems::SystemSpec& spec, const Matrix& outputs) {
  const Vector centre = 0.5 * spec.emission * (spec.region.low + spec.region.high);
  const Vector half = 0.5 * spec.emission.cwiseAbs() * (spec.region.high - spec.region.low);
  Reach reach;
  for (Index t = 1; t < outputs.rows(); ++t) {
    const double distance = (outputs.row(t).transpose() - centre).cwiseAbs().cwiseQuotient(half).maxCoeff();
    reach.farthest = std::max(reach.farthest, distance);
    reach.outside += distance > 1.0 ? 1.0 / static_cast<double>(outputs.rows() - 1) : 0.0;
  }
  return reach;
}

void row(const systems::System& system, const trials::Evaluation& evaluation, const std::string& strategy, int trials) {
  std::vector<double> farthest(static_cast<std::size_t>(trials));
  std::vector<double> outside(farthest.size());
  oneapi::tbb::parallel_for(0, trials, [&](int trial) {
    trials::TrialOptions options;
    options.explore.strategy = strategy;
    options.explore.trial = static_cast<std::uint32_t>(trial);
    const trials::Trial result = trials::run_trial(system, evaluation, options);
    const Reach reach = reach_of(system.spec(), result.data.outputs);
    farthest[static_cast<std::size_t>(trial)] = reach.farthest;
    outside[static_cast<std::size_t>(trial)] = reach.outside;
  });
  fmt::print("| {} | {} | {:.2f} | {:.0f} % |\n", system.spec().name, strategy, trials::median(farthest),
             100.0 * trials::median(outside));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 20;
  fmt::print("| system | strategy | farthest row, half widths | rows outside the region |\n|---|---|---|---|\n");
  for (const char* name : {"pendulum", "cart-pole", "tras"}) {
    const auto system = systems::make_system(name);
    const trials::Evaluation evaluation(*system);
    for (const char* strategy : {"random", "randext", "latmi", "totmi"}) {
      row(*system, evaluation, strategy, trials);
    }
  }
  return 0;
}
