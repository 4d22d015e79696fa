#include "gpilot/explore/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpilot/core/error.hpp"
#include "gpilot/explore/region.hpp"
#include "gpilot/plan/strategy.hpp"

namespace gpilot::explore {

namespace {

constexpr Index kFewestMeasurements = 2;  ///< that a model can be trained on
constexpr double kLargestOutput = 1e150;  ///< its square is a number

void check_box(const Box& box, const std::vector<std::string>& inputs) {
  const auto P = static_cast<Index>(inputs.size());
  if (P == 0) {
    throw InputError("exploration needs at least one control to choose");
  }
  if (box.low.size() != P || box.high.size() != P) {
    throw InputError(fmt::format("control box: {} lower and {} upper limits, expected {}, one a control",
                                 box.low.size(), box.high.size(), P));
  }
  for (Index p = 0; p < P; ++p) {
    if (!std::isfinite(box.low(p)) || !std::isfinite(box.high(p)) || !(box.low(p) < box.high(p))) {
      throw InputError(fmt::format("control box: [{}, {}] of '{}' is empty", box.low(p), box.high(p),
                                   inputs[static_cast<std::size_t>(p)]));
    }
  }
}

void check_at_least(const char* what, Index value, Index lowest) {
  if (value < lowest) {
    throw InputError(fmt::format("{}: {}, expected at least {}", what, value, lowest));
  }
}

void check_one_a_control(const char* what, const Vector& values, Index P) {
  if (values.size() != 0 && values.size() != P) {
    throw InputError(fmt::format("{}: {} value(s), expected {}, one a control, or none", what, values.size(), P));
  }
}

}  // namespace

Index ExploreOptions::first_training() const {
  return limits.any() ? kFewestMeasurements : std::max(initial, kFewestMeasurements);
}

Vector ExploreOptions::learnable(VectorRef outputs) const {
  Vector kept = outputs;
  for (Index e = 0; e < kept.size(); ++e) {
    const double low = e < plausible.low.size() ? plausible.low(e) : -kLargestOutput;
    const double high = e < plausible.high.size() ? plausible.high(e) : kLargestOutput;
    if (!(kept(e) >= std::max(low, -kLargestOutput) && kept(e) <= std::min(high, kLargestOutput))) {
      kept(e) = kNaN;
    }
  }
  return kept;
}

void ExploreOptions::validate(const ssm::ModelSpec& spec, const Box& box) const {
  check_box(box, spec.inputs);
  check_at_least("initial measurements", initial, kFewestMeasurements);
  check_at_least("steps", steps, 1);
  check_at_least("retrain-every", retrain_every, 1);
  if (!std::isnan(until_sd) && !(until_sd > 0.0)) {
    throw InputError(fmt::format("until-sd: {}, expected a positive number", until_sd));
  }
  check_one_a_control("slew", slew, box.low.size());
  check_one_a_control("safe control", safe, box.low.size());
  if (slew.size() > 0 && !(slew.array() > 0.0).all()) {
    throw InputError("slew: expected positive numbers");
  }
  if (limits.low.size() > 0) {
    limits.validate(spec.outputs);
  }
  const auto E = static_cast<Index>(spec.outputs.size());
  if (plausible.low.size() > 0 && (plausible.low.size() != E || plausible.high.size() != E)) {
    throw InputError(fmt::format("plausible: {} lower and {} upper limits, expected {}, one an output",
                                 plausible.low.size(), plausible.high.size(), E));
  }
  check_region(spec, region);
  fit.validate();
  planning.validate();
}

void check_until_sd(const ExploreOptions& options, std::string_view name) {
  if (const std::string wrong = plan::no_reference_sd(options.strategy);
      !std::isnan(options.until_sd) && !wrong.empty()) {
    throw InputError(fmt::format("{}: {}", name, wrong));
  }
}

std::string sure_enough_words(double reference_sd, double until_sd, Index steps) {
  return fmt::format(
      "the model's standard deviation on the reference is {:.3g}, below {:.3g}: stopped after {} step(s)", reference_sd,
      until_sd, steps);
}

}  // namespace gpilot::explore
