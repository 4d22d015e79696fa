#include "support/toy_data.hpp"

#include <cmath>

#include "gpilot/core/random.hpp"

namespace gpilot::test {

ssm::Sequence toy_sequence(Index rows, std::uint64_t seed, double output_sd) {
  RandomStream random(seed, Purpose::kTest, 21);
  ssm::Sequence s{Matrix(rows, 1), Matrix(rows, 1)};
  double x = 0.5;
  for (Index t = 0; t < rows; ++t) {
    s.controls(t, 0) = random.uniform(-1.0, 1.0);
    s.outputs(t, 0) = x + output_sd * random.normal();
    x = 0.8 * x + 0.3 * std::sin(2.0 * x) + 0.4 * s.controls(t, 0);
  }
  s.controls(rows - 1, 0) = std::nan("");
  return s;
}

ssm::ModelSpec toy_spec() {
  ssm::ModelSpec spec;
  spec.inputs = {"u"};
  spec.outputs = {"y"};
  spec.states = {"x"};
  spec.inducing = 8;
  return spec;
}

inference::FitOptions quick_options() {
  inference::FitOptions options;
  options.rounds = 4;
  options.polish = 30;
  options.noise_path = 2;
  options.epochs = 30;
  options.samples = 10;
  return options;
}

}  // namespace gpilot::test
