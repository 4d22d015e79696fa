#include "gpilot/acquisition/criterion.hpp"
#include "gpilot/random.hpp"

namespace gpilot::acquisition {

// Declared where they are listed: strategies.def.
Vector uniform_control(const Situation& situation);
Vector extreme_control(const Situation& situation);

Vector uniform_control(const Situation& situation) {
  RandomStream random(situation.seed, Purpose::kStrategy, situation.trial, situation.step);
  Vector control(situation.box.low.size());
  for (Index p = 0; p < control.size(); ++p) {
    control(p) = random.uniform(situation.box.low(p), situation.box.high(p));
  }
  return control;
}

Vector extreme_control(const Situation& situation) {
  RandomStream random(situation.seed, Purpose::kStrategy, situation.trial, situation.step);
  Vector control(situation.box.low.size());
  for (Index p = 0; p < control.size(); ++p) {
    control(p) = random.index(2) == 0 ? situation.box.low(p) : situation.box.high(p);
  }
  return control;
}

}  // namespace gpilot::acquisition
