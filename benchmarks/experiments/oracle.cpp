/// What limits planned exploration: the planner's model, the states that nobody sees, or the criterion.
///
///   oracle [trials]     a table for docs/results/planning.md
///
/// Per system, trials 0.. of seed 0: `random` and `auto` as they are; `auto` planning under an oracle, a model of 400
/// noise-free rows that all lie near the region of interest, in place of the one that it has learned so far (which is
/// still the one that is judged); both with all states observed. Median rmse after 15 and 30 steps.

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gpilot/inference/fit.hpp"
#include "gpilot/plan/strategy.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/systems/system.hpp"
#include "gpilot/trials/statistics.hpp"
#include "gpilot/trials/system_model.hpp"
#include "gpilot/trials/test_set.hpp"
#include "gpilot/trials/trial.hpp"

namespace {

using namespace gpilot;

/// As good a model as data allow: 20 runs of 20 steps without noise, under controls that are held, then extremes.
ssm::Model oracle_of(const systems::System& system) {
  ssm::Dataset data;
  systems::SimulateOptions options{.seed = 424242};
  options.process_sd = Vector::Zero(1);
  for (std::uint32_t n = 0; n < 20; ++n) {
    options.trial = n;
    const systems::Hold hold{.shortest = 1, .longest = 5};
    const Matrix controls = n % 2 == 0 ? systems::random_controls(system, 20, hold, options.seed, n)
                                       : systems::extreme_controls(system, 20, hold, options.seed, n);
    const systems::Trajectory run = systems::simulate(system, controls, options);
    data.push_back({run.controls, run.outputs});
  }
  ssm::ModelSpec spec = trials::model_spec(system);
  spec.inducing = 40;
  return inference::fit(data, spec, {});
}

/// `auto` under another transition than the one it is shown.
class Oracle : public plan::Strategy {
 public:
  explicit Oracle(const ssm::Transition& transition) : transition_(transition) {}

  plan::Choice choose(const plan::DecisionContext& s) const override {
    const plan::DecisionContext there{.transition = transition_,
                                      .nodes = s.nodes,
                                      .belief = s.belief,
                                      .box = s.box,
                                      .history = s.history,
                                      .q = s.q,
                                      .seed = s.seed,
                                      .trial = s.trial,
                                      .step = s.step,
                                      .planning = s.planning,
                                      .previous_plan = s.previous_plan};
    return plan_->choose(there);
  }
  std::unique_ptr<plan::Criterion> criterion(const plan::DecisionContext& /*context*/) const override {
    return nullptr;
  }

 private:
  const ssm::Transition& transition_;
  std::unique_ptr<plan::Strategy> plan_ = plan::make_strategy("auto");
};

void row(const systems::System& system, const char* label, const std::string& strategy, const ssm::Transition* oracle,
         int trials) {
  const trials::Evaluation evaluation(system);
  std::vector<double> after_15(static_cast<std::size_t>(trials));
  std::vector<double> after_30(after_15.size());
  oneapi::tbb::parallel_for(0, trials, [&](int trial) {
    trials::TrialOptions options;
    options.explore.strategy = strategy;
    options.explore.trial = static_cast<std::uint32_t>(trial);
    if (oracle != nullptr) {
      options.make_strategy = [oracle] { return std::make_unique<Oracle>(*oracle); };
    }
    const trials::Trial result = trials::run_trial(system, evaluation, options);
    const auto k = static_cast<std::size_t>(trial);
    after_15[k] = result.steps[15].metrics[0].value;
    after_30[k] = result.steps[30].metrics[0].value;
  });
  fmt::print("| {} | {} | {:.3f} | {:.3f} |\n", system.spec().name, label, trials::median(after_15),
             trials::median(after_30));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int trials = argc > 1 ? std::atoi(argv[1]) : 20;
  fmt::print("| system | | 15 steps | 30 steps |\n|---|---|---|---|\n");
  for (const char* name : {"kink", "pendulum", "cart-pole", "tras"}) {
    const auto system = systems::make_system(name);
    const ssm::Model model = oracle_of(*system);
    const ssm::Transition oracle(model.gp.structure, model.gp.parameters, model.gp.weights);
    row(*system, "random", "random", nullptr, trials);
    row(*system, "auto", "auto", nullptr, trials);
    row(*system, "auto, f known to the planner", "auto", &oracle, trials);
    if (system->output_dim() < system->state_dim()) {
      system->observe_states();
      row(*system, "random, states observed", "random", nullptr, trials);
      row(*system, "auto, states observed", "auto", nullptr, trials);
    }
  }
  return 0;
}
