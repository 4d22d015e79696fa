// Explores a system of one's own: gpilot chooses the voltage of a heater, this program applies it and measures.
#include <cmath>
#include <gpilot/gpilot.hpp>
#include <iostream>
#include <random>

namespace {

/// A body with a heater: what is measured is the temperature above the room's, in K.
class Heater {
 public:
  double measure(double volts) {
    temperature_ += 0.2 * (0.4 * volts * volts - 0.5 * temperature_);
    return temperature_ + noise_(random_);
  }

 private:
  double temperature_ = 0.0;
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_{0.0, 0.05};
};

}  // namespace

int main() {
  gpilot::ModelSpec spec;
  spec.inputs = {"volts"};
  spec.outputs = spec.states = {"temperature"};
  spec.ranges = {{"volts", 0.0, 5.0}, {"temperature", 0.0, 20.0}};  // where the model will be used
  spec.x0_mean = gpilot::Vector::Zero(1);
  spec.x0_sd = gpilot::Vector::Constant(1, 0.1);
  const gpilot::Box box{gpilot::Vector::Constant(1, 0.0), gpilot::Vector::Constant(1, 5.0)};

  gpilot::Explorer explorer(spec, box, {.strategy = "auto", .initial = 5, .seed = 1});
  Heater heater;
  for (int k = 0; k < 20; ++k) {
    const gpilot::Choice choice = explorer.ask();  // trains if that is due
    explorer.tell(gpilot::Vector::Constant(1, heater.measure(choice.control(0))));
  }

  const gpilot::Model model(explorer.model());
  gpilot::Sequence step{.controls = gpilot::Matrix::Constant(31, 1, 4.0), .outputs = gpilot::Matrix::Zero(31, 1)};
  step.outputs.bottomRows(30).setConstant(NAN);  // it begins cold, the rest is to be predicted
  const auto prediction = model.predict(step, {.warmup = 1});
  std::cout << "after 20 measurements: 4 V lead to " << prediction.mean(30, 0) << " K (sd " << prediction.sd(30, 0)
            << ") in 30 steps; the truth is 12.8 K\n";
}
