/// The accuracy tables of docs/results/engine.md: kink identification and latent velocities from few data.
///
///   engine kink   [seeds]     mean squared error of the learned f
///   engine latent [seeds]     free-run error on new trajectories, as a ratio to predicting no motion
///
/// Protocol of `latent`, fixed before the runs: training data from seeds 0.. with random controls held 1 to 5 steps;
/// 20 new noise-free trajectories a seed, 25 steps from the mean of x_0; errors divided by each output's standard
/// deviation over those trajectories, then pooled. Fits run one a core; each is single-threaded.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gpilot/core/random.hpp"
#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/transition.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/system_model.hpp"

namespace {

using namespace gpilot;

constexpr Index kHorizon = 25;
constexpr int kTestTrajectories = 20;
constexpr std::uint64_t kTestSeed = 1000000;

double quantile(std::vector<double> v, double level) {
  std::sort(v.begin(), v.end());
  const double at = level * static_cast<double>(v.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, v.size() - 1);
  return v[low] + (at - static_cast<double>(low)) * (v[high] - v[low]);
}

double mean(const std::vector<double>& v) {
  double sum = 0.0;
  for (const double x : v) {
    sum += x;
  }
  return sum / static_cast<double>(v.size());
}

/// 95 % interval of a statistic by the bootstrap.
template <typename Statistic>
std::string interval(const std::vector<double>& v, Statistic&& statistic, const char* format) {
  RandomStream random(1, Purpose::kTest);
  std::vector<double> resampled;
  for (int k = 0; k < 2000; ++k) {
    std::vector<double> sample(v.size());
    for (double& x : sample) {
      x = v[static_cast<std::size_t>(random.index(static_cast<Index>(v.size())))];
    }
    resampled.push_back(statistic(sample));
  }
  return fmt::format(fmt::runtime(format), quantile(resampled, 0.025), quantile(resampled, 0.975));
}

/// Scales come from the training data here: no ranges are declared.
ssm::ModelSpec spec_of(const systems::System& system, bool declare) {
  ssm::ModelSpec spec = trials::model_spec(system, declare);
  spec.ranges.clear();
  return spec;
}

void kink(int seeds) {
  fmt::print(
      "| output variance | mean squared error of f | 95 % interval | worst seed | converged | seconds a fit |\n");
  fmt::print("|---|---|---|---|---|---|\n");
  const auto system = systems::make_system("kink");
  for (const double variance : {0.008, 0.08, 0.8}) {
    std::vector<double> errors(static_cast<std::size_t>(seeds));
    std::vector<double> seconds(errors.size());
    std::vector<int> converged(errors.size());
    for (int seed = 0; seed < seeds; ++seed) {
      const auto k = static_cast<std::size_t>(seed);
      const Vector sd = Vector::Constant(1, std::sqrt(variance));
      const systems::Trajectory data =
          systems::simulate(*system, systems::constant_controls(*system, 600, Vector::Constant(1, 0.8)),
                            {.seed = static_cast<std::uint64_t>(seed), .output_sd = sd});
      ssm::ModelSpec spec = spec_of(*system, false);
      spec.inducing = 15;
      spec.output_sd = sd;
      const ssm::Model model = inference::fit({{data.controls, data.outputs}}, spec, {});
      const ssm::Transition f(model.gp.structure, model.gp.parameters, model.gp.weights);
      const ssm::Scaling& scale = model.scaling;
      Matrix X(100, 2);
      for (Index i = 0; i < 100; ++i) {
        X(i, 0) = (-3.15 + 4.3 * static_cast<double>(i) / 99.0 - scale.state_offset(0)) / scale.state_scale(0);
        X(i, 1) = (0.8 - scale.control_offset(0)) / scale.control_scale(0);
      }
      Matrix f_mean;
      Matrix f_variance;
      f.moments(X, f_mean, f_variance);
      for (Index i = 0; i < 100; ++i) {
        const double x = -3.15 + 4.3 * static_cast<double>(i) / 99.0;
        const double truth = system->next(Vector::Constant(1, x), Vector::Constant(1, 0.8))(0);
        const double error = f_mean(i, 0) * scale.state_scale(0) + scale.state_offset(0) - truth;
        errors[k] += error * error / 100.0;
      }
      seconds[k] = model.report.seconds;
      converged[k] = model.report.status == ssm::FitStatus::kConverged ? 1 : 0;
    }
    fmt::print("| {} | {:.4f} | {} | {:.4f} | {} of {} | {:.2f} |\n", variance, mean(errors),
               interval(errors, mean, "{:.4f} to {:.4f}"), *std::max_element(errors.begin(), errors.end()),
               std::count(converged.begin(), converged.end(), 1), seeds, mean(seconds));
  }
}

/// Pooled error of free runs and of predicting no motion, both in units of each output's standard deviation.
double free_run_ratio(const ssm::Model& model, const ssm::Dynamics& dynamics, const systems::System& system,
                      std::uint64_t first_seed) {
  const systems::SystemSpec& s = system.spec();
  const ssm::Predictor predictor(model, dynamics);
  const auto E = static_cast<Index>(s.outputs.size());
  Matrix truth(kTestTrajectories * kHorizon, E);
  Matrix predicted(truth.rows(), E);
  for (int k = 0; k < kTestTrajectories; ++k) {
    const std::uint64_t seed = first_seed + static_cast<std::uint64_t>(k);
    const Matrix controls = systems::random_controls(system, kHorizon, {1, 5}, seed);
    const systems::Trajectory run = systems::simulate(
        system, controls, {.seed = seed, .process_sd = Vector::Zero(1), .output_sd = Vector::Zero(1)});
    ssm::Sequence sequence{run.controls, Matrix::Constant(kHorizon + 1, E, std::nan(""))};
    const ssm::Prediction prediction = predictor.free_run(sequence, {.draws = 0});
    truth.middleRows(k * kHorizon, kHorizon) = (run.states * s.emission.transpose()).bottomRows(kHorizon);
    predicted.middleRows(k * kHorizon, kHorizon) = prediction.mean.bottomRows(kHorizon);
  }
  const Vector at_rest = s.emission * s.x0_mean;
  double model_error = 0.0;
  double rest_error = 0.0;
  for (Index e = 0; e < E; ++e) {
    const double variance = (truth.col(e).array() - truth.col(e).mean()).square().mean();
    model_error += (predicted.col(e) - truth.col(e)).squaredNorm() / variance;
    rest_error += (truth.col(e).array() - at_rest(e)).square().sum() / variance;
  }
  return std::sqrt(model_error / rest_error);
}

void latent_row(const systems::System& system, Index points, bool declare, int seeds) {
  std::vector<double> model_ratio(static_cast<std::size_t>(seeds));
  std::vector<double> linear_ratio(model_ratio.size());
  std::vector<double> seconds(model_ratio.size());
  std::vector<std::string> status(model_ratio.size());
  oneapi::tbb::parallel_for(0, seeds, [&](int seed) {
    const auto k = static_cast<std::size_t>(seed);
    const auto stream = static_cast<std::uint64_t>(seed);
    const systems::Trajectory data =
        systems::simulate(system, systems::random_controls(system, points, {1, 5}, stream), {.seed = stream});
    const ssm::Model model = inference::fit({{data.controls, data.outputs}}, spec_of(system, declare), {});
    model_ratio[k] = free_run_ratio(model, model.gp, system, kTestSeed + 100 * stream);
    linear_ratio[k] = free_run_ratio(model, model.linear, system, kTestSeed + 100 * stream);
    seconds[k] = model.report.seconds;
    status[k] = name(model.report.status);
  });
  const auto median = [](const std::vector<double>& v) { return quantile(v, 0.5); };
  std::map<std::string, int> counts;
  for (const std::string& text : status) {
    ++counts[text];
  }
  std::string statuses;
  for (const auto& [text, count] : counts) {
    statuses += fmt::format("{}{} {}", statuses.empty() ? "" : ", ", count, text);
  }
  fmt::print("| {} | {} | {} | {:.3f} | {} | {:.3f} | {:.3f} | {} | {:.2f} |\n", system.spec().name, points,
             declare ? "yes" : "no", median(model_ratio), interval(model_ratio, median, "{:.3f} to {:.3f}"),
             *std::max_element(model_ratio.begin(), model_ratio.end()), median(linear_ratio), statuses, mean(seconds));
  std::fflush(stdout);
}

void latent(int seeds) {
  fmt::print(
      "| system | points | derivatives declared | median ratio | 95 % interval | worst seed | linear model | "
      "status | seconds a fit |\n|---|---|---|---|---|---|---|---|---|\n");
  const std::pair<const char*, Index> cases[] = {{"cart-pole", 35}, {"tras", 35}, {"pendulum", 25}};
  for (const auto& [name, points] : cases) {
    const auto system = systems::make_system(name);
    for (const Index n : {Index{8}, Index{15}, points}) {
      latent_row(*system, n, true, seeds);
    }
    latent_row(*system, points, false, seeds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "kink") {
    kink(argc > 2 ? std::atoi(argv[2]) : 10);
  } else if (what == "latent") {
    latent(argc > 2 ? std::atoi(argv[2]) : 20);
  } else {
    fmt::print(stderr, "usage: engine kink|latent [seeds]\n");
    return 2;
  }
  return 0;
}
