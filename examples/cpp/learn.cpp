// Learns a pendulum from 40 noisy angles, predicts a motion it has not seen, and keeps the model.
#include <cmath>
#include <gpilot/gpilot.hpp>
#include <iostream>

namespace {

/// Your own recording would come here, or gpilot::Data::read_csv({"file.csv"}, {"torque"}, {"angle"}).
gpilot::systems::Trajectory recorded(int steps, unsigned seed) {
  const auto pendulum = gpilot::systems::make_system("pendulum");
  return simulate(*pendulum, random_controls(*pendulum, steps, {.shortest = 1, .longest = 5}, seed), {.seed = seed});
}

}  // namespace

int main() {
  const auto train = recorded(40, 1);
  const auto test = recorded(20, 2);
  std::cout << "gpilot " << gpilot::version() << '\n';

  const auto data = gpilot::Data::from_rows(train.controls, train.outputs, 0.1, {"torque"}, {"angle"});
  gpilot::ModelSpec spec;
  spec.states = {"angle", "rate"};                      // the rate is never measured..
  spec.derivatives = {{.velocity = 1, .position = 0}};  // ..but is known to be the derivative of the angle
  const auto model = gpilot::fit(data, spec);
  const auto prediction = model.predict({test.controls, test.outputs}, {.warmup = 5});
  model.save("pendulum.json");

  double squares = 0.0;
  for (gpilot::Index t = 5; t < test.states.rows(); ++t) {
    squares += std::pow(prediction.mean(t, 0) - test.states(t, 0), 2);
  }
  std::cout << "training: " << model.report().message << '\n'
            << "free run over 16 steps, root mean squared error: " << std::sqrt(squares / 16.0) << " rad\n";
}
