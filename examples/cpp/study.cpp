// A study with ask and tell: every answer is on the disk before the next control is chosen. Run it again, or kill it
// half-way: it goes on where it was.
#include <cmath>
#include <filesystem>
#include <gpilot/gpilot.hpp>
#include <iostream>

namespace {

constexpr const char* kConfiguration = R"(
[study]
dt = 1.0
initial = 4
strategy = "auto"

[[input]]
name = "valve"
low = 0.0
high = 1.0
slew = 0.5       # the valve must not jump

[[output]]
name = "level"
low = 0.0
high = 2.0
)";

/// The tank that a person would look at; it remembers its level between two runs only because the study does.
double tank(double level, double valve) {
  return level + 0.3 * valve - 0.2 * std::sqrt(std::max(level, 0.0));
}

}  // namespace

int main() {
  const std::string path = "tank.study";
  gpilot::Study study = std::filesystem::exists(path) ? gpilot::Study::open(path)
                                                      : gpilot::Study::create(path, kConfiguration, "tank.toml");
  double level = study.data().empty() ? 0.5 : study.data().back().outputs.bottomRows(1)(0, 0);
  for (int k = 0; k < 6; ++k) {
    const gpilot::study::Step step = study.ask();
    level = tank(level, step.choice.control(0));
    study.tell(step.id, gpilot::Vector::Constant(1, level));  // on the disk when this returns
    std::cout << "step " << step.id << ": valve " << step.choice.control(0) << " -> level " << level << '\n';
  }
  std::cout << study.told() << " measurements in " << path << "; 'gpilot show " << path << "' says more\n";
}
