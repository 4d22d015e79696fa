/// Batches beside the full fit, the table of docs/results/long-data.md.
///
///   long_data [rows] [seeds]
///
/// The pendulum from its angle alone, one recording a seed, random controls held 1 to 5 steps. Training on its first
/// `rows` rows, then free runs over the rows that follow: 20 stretches of 120 rows, the first 20 of each for the
/// filter. The error is pooled over them and divided by the spread of their outputs about each stretch's mean. Defaults
/// throughout, one thread; the fits of a seed run one after the other.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpilot/inference/batches.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"

namespace {

using namespace gpilot;

constexpr Index kStretches = 20;
constexpr Index kStretch = 120;
constexpr Index kWarmup = 20;

ssm::Sequence rows_of(const ssm::Sequence& all, Index begin, Index count) {
  return {all.controls.middleRows(begin, count), all.outputs.middleRows(begin, count)};
}

double free_run_error(const ssm::Model& model, const ssm::Sequence& all, Index begin) {
  double squares = 0.0;
  double spread = 0.0;
  for (Index k = 0; k < kStretches; ++k) {
    const ssm::Sequence test = rows_of(all, begin + k * kStretch, kStretch);
    const ssm::Prediction p =
        ssm::Predictor(model, model.gp).free_run(test, {.warmup = kWarmup, .draws = 0, .seed = 0});
    const Matrix truth = test.outputs.bottomRows(kStretch - kWarmup);
    squares += (p.mean.bottomRows(kStretch - kWarmup) - truth).squaredNorm();
    spread += (truth.array() - truth.mean()).matrix().squaredNorm();
  }
  return std::sqrt(squares / spread);
}

}  // namespace

int main(int argc, char** argv) {
  const Index rows = argc > 1 ? std::atol(argv[1]) : 20000;
  const int seeds = argc > 2 ? std::atoi(argv[2]) : 5;
  const auto system = systems::make_system("pendulum");
  ssm::ModelSpec spec = trials::model_spec(*system, true);
  spec.ranges.clear();
  fmt::print("| seed | full: error | seconds | batches of 2000: error | seconds | of 1000: error | seconds |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (int k = 0; k < seeds; ++k) {
    const auto seed = static_cast<std::uint64_t>(k);
    const systems::Trajectory run = systems::simulate(
        *system, systems::random_controls(*system, rows + kStretches * kStretch, {1, 5}, seed), {.seed = seed});
    const ssm::Sequence all{run.controls, run.outputs};
    const ssm::Dataset data{rows_of(all, 0, rows)};
    inference::FitOptions options;
    options.seed = seed;
    const ssm::Model full = inference::fit(data, spec, options);
    std::string line = fmt::format("| {} | {:.4f} | {:.1f} |", k, free_run_error(full, all, rows), full.report.seconds);
    for (const Index batch : {2000, 1000}) {
      inference::BatchOptions batches;
      batches.rows = batch;
      const ssm::Model model = inference::fit_batches(inference::RecordingsInMemory(data), spec, options, batches);
      line += fmt::format(" {:.4f} | {:.1f} |", free_run_error(model, all, rows), model.report.seconds);
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  return 0;
}
