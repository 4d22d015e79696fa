#include "gpilot/core/random.hpp"
#include "gpilot/plan/criterion.hpp"

namespace gpilot::plan {

// Declared where they are listed: strategies.def.
Vector uniform_control(const DecisionContext& context);
Vector extreme_control(const DecisionContext& context);

Vector uniform_control(const DecisionContext& context) {
  RandomStream random(context.seed, Purpose::kStrategy, context.trial, context.step);
  Vector control(context.box.low.size());
  for (Index p = 0; p < control.size(); ++p) {
    control(p) = random.uniform(context.box.low(p), context.box.high(p));
  }
  return control;
}

Vector extreme_control(const DecisionContext& context) {
  RandomStream random(context.seed, Purpose::kStrategy, context.trial, context.step);
  Vector control(context.box.low.size());
  for (Index p = 0; p < control.size(); ++p) {
    control(p) = random.index(2) == 0 ? context.box.low(p) : context.box.high(p);
  }
  return control;
}

}  // namespace gpilot::plan
