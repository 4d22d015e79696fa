#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "gpilot/plan/criterion.hpp"

// The input signals of system identification practice (Ljung 1999, section 13.3), as baselines: they know the box, dt
// and what is declared, and nothing of what was measured. A signal is a function of (seed, trial, step).
namespace gpilot::plan {

// Declared where they are listed: strategies.def.
Vector binary_control(const DecisionContext& context);
Vector multisine_control(const DecisionContext& context);

namespace {

constexpr std::uint32_t kMostControls = 16;

/// A control within reach that is nearest to the signal's value.
Vector within_reach(const DecisionContext& context, const Vector& control) {
  return control.cwiseMax(context.box.low).cwiseMin(context.box.high);
}

/// The longest hold of a random binary signal, in steps. A position whose declared range is A wide and whose rate's is
/// V wide moves like a wave of the angular frequency V / A; a quarter of the period of the fastest such motion keeps
/// the bandwidth of the signal, whose values are drawn anew after every hold, well above it. Without a declared
/// derivative nothing tells a time scale.
Index longest_hold(const ssm::Structure& structure) {
  constexpr Index kWithoutTimeScale = 4;
  constexpr Index kLongest = 8;  // 4 to 15: a run of 30 steps should see more than a few values
  double steps = std::numeric_limits<double>::infinity();
  for (const ssm::Kinematics& k : structure.kinematics) {
    const double quarter = 0.25 * std::numbers::pi / k.half_step;  // of the period 2 pi / (2 half_step)
    steps = std::min(steps, quarter);
  }
  return std::isinf(steps) ? kWithoutTimeScale : std::clamp<Index>(std::lround(std::min(steps, 1e3)), 1, kLongest);
}

/// The phases of a multisine.
constexpr std::size_t kLines = 8;
using Phases = std::array<double, kLines>;
/// Periods of 32 down to 2.7 steps, evenly on a logarithmic scale but for rounding: the slowest fits a run of 30 steps,
/// the fastest stays below Nyquist's frequency of half a cycle a step. In cycles per kPeriod steps.
constexpr std::array<double, kLines> kHarmonics{2, 3, 4, 6, 8, 12, 16, 24};
constexpr Index kPeriod = 64;

/// The sum of sines of input p at step t. The lines of P inputs lie beside each other, (h + p / P) / kPeriod: over
/// P kPeriod steps no two inputs are correlated.
double multisine(const Phases& phases, Index p, Index P, double t) {
  double sum = 0.0;
  const double shift = static_cast<double>(p) / static_cast<double>(P);
  for (std::size_t k = 0; k < kLines; ++k) {
    const double cycles = (kHarmonics[k] + shift) / static_cast<double>(kPeriod) * t;
    sum += std::sin(2.0 * std::numbers::pi * (cycles + phases[k]));
  }
  return sum;
}

/// The largest value over the whole period of P inputs.
double peak(const Phases& phases, Index p, Index P) {
  double largest = 0.0;
  for (Index t = 0; t < P * kPeriod; ++t) {
    largest = std::max(largest, std::abs(multisine(phases, p, P, static_cast<double>(t))));
  }
  return largest;
}

}  // namespace

Vector binary_control(const DecisionContext& context) {
  constexpr std::uint32_t kBlock = 64;  // steps after which holds begin anew, so that no step asks for all before it
  const Index longest = longest_hold(context.transition.structure());
  const Box& box = context.later_box();
  Vector control(box.low.size());
  for (Index p = 0; p < control.size(); ++p) {
    const std::uint32_t block = context.step / kBlock;
    RandomStream random(context.seed, Purpose::kSignal, context.trial,
                        block * kMostControls + static_cast<std::uint32_t>(p));
    for (Index t = 0; t <= static_cast<Index>(context.step % kBlock);) {
      t += 1 + random.index(longest);
      control(p) = random.index(2) == 0 ? box.low(p) : box.high(p);
    }
  }
  return within_reach(context, control);
}

Vector multisine_control(const DecisionContext& context) {
  constexpr int kDraws = 8;  // of random phases; the one with the lowest peak puts most power into the box
  constexpr std::uint32_t kFirstStream = 0xFFFF'0000;
  const Box& box = context.later_box();
  const Index P = box.low.size();
  Vector control(P);
  for (Index p = 0; p < P; ++p) {
    RandomStream random(context.seed, Purpose::kSignal, context.trial, kFirstStream + static_cast<std::uint32_t>(p));
    Phases best{};
    double lowest = std::numeric_limits<double>::infinity();
    for (int draw = 0; draw < kDraws; ++draw) {
      Phases phases{};
      std::ranges::generate(phases, [&] { return random.uniform(); });
      if (const double largest = peak(phases, p, P); largest < lowest) {
        lowest = largest;
        best = phases;
      }
    }
    const auto t = static_cast<double>(context.step % static_cast<std::uint32_t>(P * kPeriod));
    const double value = multisine(best, p, P, t) / lowest;
    control(p) = 0.5 * (box.low(p) + box.high(p)) + 0.5 * (box.high(p) - box.low(p)) * value;
  }
  return within_reach(context, control);
}

}  // namespace gpilot::plan
