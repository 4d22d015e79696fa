/// What declarations are worth: the tables of docs/results/knowledge.md.
///
///   knowledge [trials] [seed] [system] [strategy]     all systems and both strategies unless named
///
/// Paired trials of every declaration, judged by the same free runs; and how often the intervals of learned parameters
/// hold the true values. Random controls do not depend on the model: it is fitted only to the rows that the table
/// names.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/system_knowledge.hpp"
#include "gpilot/trials/trial.hpp"

namespace {

using namespace gpilot;

constexpr std::array<std::size_t, 5> kSteps{5, 6, 10, 15, 30};

struct Declaration {
  const char* name;
  bool derivatives;
  bool angles;
  std::vector<std::string> knowledge;
};

/// Each adds to the one before, but for the last three, which take the place of what control-affine says.
const std::vector<Declaration>& declarations() {
  static const std::vector<Declaration> kAll{
      {"nothing", false, false, {}},
      {"kinematics", true, false, {}},
      {"+ angles", true, true, {}},
      {"+ cyclic", true, true, {"cyclic"}},
      {"+ odd", true, true, {"cyclic", "odd"}},
      {"+ control-affine", true, true, {"cyclic", "odd", "control-affine"}},
      {"physics", true, true, {"cyclic", "physics"}},
      {"physics, friction left out", true, true, {"cyclic", "physics-without-friction"}},
      {"physics, parameters known", true, true, {"cyclic", "physics-known"}}};
  return kAll;
}

struct Outcome {
  std::array<std::vector<double>, kSteps.size()> rmse;  ///< per step, per trial; NaN: failed
  std::vector<double> inside, all;                      ///< per trial: parameters whose interval holds the truth
};

/// How many of the intervals of learned parameters hold the true value.
void count_inside(const systems::System& system, const ssm::Model& model, double& inside, double& all) {
  for (const ssm::ParameterEstimate& p : model.report.parameters) {
    for (const auto& [name, value] : trials::true_parameters(system)) {
      if (name == p.name) {
        inside += p.low <= value && value <= p.high ? 1.0 : 0.0;
        all += 1.0;
      }
    }
  }
}

/// The error after each of kSteps, and the last model.
std::pair<std::array<double, kSteps.size()>, ssm::Model> run(const systems::System& system,
                                                             const trials::Evaluation& evaluation,
                                                             trials::TrialOptions options) {
  std::array<double, kSteps.size()> rmse{};
  explore::ExploreOptions& explore = options.explore;
  if (explore.strategy == "random") {
    const auto rows = explore.initial + static_cast<Index>(kSteps.back());
    const Matrix controls = systems::random_controls(system, rows, {}, explore.seed, explore.trial);
    const auto first_only = [](const trials::TrialStep& /*fitted*/) { return false; };
    trials::Trial trial;
    for (std::size_t k = 0; k < kSteps.size(); ++k) {
      options.initial_controls = controls.topRows(explore.initial + static_cast<Index>(kSteps[k]));
      trial = trials::run_trial(system, evaluation, options, first_only);
      rmse[k] = trial.steps.back().metrics.front().value;
    }
    return {rmse, std::move(*trial.model)};
  }
  explore.steps = static_cast<Index>(kSteps.back());
  trials::Trial trial = trials::run_trial(system, evaluation, options);
  for (std::size_t k = 0; k < kSteps.size(); ++k) {
    rmse[k] = trial.steps[kSteps[k]].metrics.front().value;
  }
  return {rmse, std::move(*trial.model)};
}

Outcome run(const systems::System& system, const Declaration& declared, const std::string& strategy, int trials,
            std::uint64_t seed) {
  Outcome outcome;
  const auto count = static_cast<std::size_t>(trials);
  for (std::vector<double>& values : outcome.rmse) {
    values.assign(count, std::nan(""));
  }
  outcome.inside.assign(count, 0.0);
  outcome.all.assign(count, 0.0);
  const trials::Evaluation evaluation(system, true);
  oneapi::tbb::parallel_for(0, trials, [&](int trial) {
    const auto t = static_cast<std::size_t>(trial);
    trials::TrialOptions options{
        .derivatives = declared.derivatives, .angles = declared.angles, .knowledge = declared.knowledge};
    options.explore.strategy = strategy;
    options.explore.seed = seed;
    options.explore.trial = static_cast<std::uint32_t>(trial);
    try {
      const auto [rmse, model] = run(system, evaluation, options);
      for (std::size_t k = 0; k < kSteps.size(); ++k) {
        outcome.rmse[k][t] = rmse[k];
      }
      count_inside(system, model, outcome.inside[t], outcome.all[t]);
    } catch (const NumericalError& error) {
      fmt::print(stderr, "{} {} trial {}: {}\n", system.spec().name, declared.name, trial, error.what());
    }
  });
  return outcome;
}

double sum(const std::vector<double>& values) {
  double total = 0.0;
  for (const double v : values) {
    total += v;
  }
  return total;
}

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  return values.empty() ? std::nan("") : trials::median(values);
}

void table(const std::string& name, const std::string& strategy, int trials, std::uint64_t seed) {
  const auto system = systems::make_system(name);
  fmt::print("\n{}, {}: median free-run error over {} trials after so many steps\n\n", name, strategy, trials);
  fmt::print("| Declared | 5 | 6 | 10 | 15 | 30 | truth within 95 % |\n|---|---|---|---|---|---|---|\n");
  for (const Declaration& declared : declarations()) {
    const Outcome outcome = run(*system, declared, strategy, trials, seed);
    fmt::print("| {} ", declared.name);
    for (const std::vector<double>& values : outcome.rmse) {
      fmt::print("| {:.3f} ", median_of(values));
    }
    const double all = sum(outcome.all);
    fmt::print("| {} |\n", all > 0.0 ? fmt::format("{:.0f} % of {:.0f}", 100.0 * sum(outcome.inside) / all, all) : "");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 50;
  const auto seed = static_cast<std::uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1);
  const std::vector<std::string> names =
      argc > 3 ? std::vector<std::string>{argv[3]} : std::vector<std::string>{"pendulum", "cart-pole", "tras"};
  const std::vector<std::string> strategies =
      argc > 4 ? std::vector<std::string>{argv[4]} : std::vector<std::string>{"random", "auto"};
  for (const std::string& name : names) {
    for (const std::string& strategy : strategies) {
      table(name, strategy, trials, seed);
    }
  }
}
