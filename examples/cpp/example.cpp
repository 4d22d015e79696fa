// Uses an installed gpilot: learns a pendulum from 40 noisy angles, then predicts a motion it has not seen.
#include <cmath>
#include <iostream>

#include "gpilot/inference/fit.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/systems/controls.hpp"
#include "gpilot/systems/registry.hpp"
#include "gpilot/systems/simulate.hpp"
#include "gpilot/version.hpp"

int main() {
  using namespace gpilot;
  std::cout << "gpilot " << version() << '\n';

  // Your own data would come here: rows of controls and outputs, NaN where nothing was measured.
  const auto pendulum = systems::make_system("pendulum");
  const systems::Trajectory data =
      systems::simulate(*pendulum, systems::random_controls(*pendulum, 40, {1, 5}, /*seed=*/1), {.seed = 1});

  ssm::ModelSpec spec;
  spec.inputs = {"torque"};
  spec.outputs = {"angle"};
  spec.states = {"angle", "rate"};                      // the rate is never measured..
  spec.derivatives = {{.velocity = 1, .position = 0}};  // ..but is known to be the derivative of the angle
  spec.dt = pendulum->spec().dt;
  const ssm::Model model = inference::fit({{data.controls, data.outputs}}, spec, {});
  std::cout << "training: " << model.report.status << ", " << model.report.message << '\n';

  const systems::Trajectory fresh =
      systems::simulate(*pendulum, systems::random_controls(*pendulum, 20, {1, 5}, /*seed=*/2), {.seed = 2});
  const ssm::Predictor predictor(model, model.gp);
  const ssm::Prediction prediction = predictor.free_run({fresh.controls, fresh.outputs}, {.warmup = 5});
  double squares = 0.0;
  for (Index t = 5; t < fresh.states.rows(); ++t) {
    squares += std::pow(prediction.mean(t, 0) - fresh.states(t, 0), 2);
  }
  std::cout << "free run over 16 steps, root mean squared error: " << std::sqrt(squares / 16.0) << " rad\n";
}
