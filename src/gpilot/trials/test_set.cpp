#include "gpilot/trials/test_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include "gpilot/core/random.hpp"
#include "gpilot/systems/simulate.hpp"

namespace gpilot::trials {

namespace {

constexpr std::uint64_t kTestSeed = 50021;
constexpr Index kPerKind = kTestTrajectories / kTestKinds;
constexpr double kWidestRegion = 3.0;  ///< half widths of the region of interest that a test may reach
constexpr std::uint32_t kMostDraws = 400;

/// Every control swings about a centre of its own, as far as the box lets it at most.
Matrix sine_controls(const Box& box, Index steps, std::uint32_t trial) {
  constexpr double kSmallest = 0.3;  // amplitude, as a share of half the box
  constexpr double kShortest = 8.0;  // period in steps
  constexpr double kLongest = 40.0;
  RandomStream random(kTestSeed, Purpose::kTestControls, trial);
  Matrix controls(steps, box.low.size());
  for (Index i = 0; i < controls.cols(); ++i) {
    const double half = 0.5 * (box.high(i) - box.low(i));
    const double amplitude = half * random.uniform(kSmallest, 1.0);
    const double centre = 0.5 * (box.low(i) + box.high(i)) + (half - amplitude) * random.uniform(-1.0, 1.0);
    const double frequency = 2.0 * std::numbers::pi / random.uniform(kShortest, kLongest);
    const double phase = random.uniform(0.0, 2.0 * std::numbers::pi);
    for (Index t = 0; t < steps; ++t) {
      const double value = centre + amplitude * std::sin(frequency * static_cast<double>(t) + phase);
      controls(t, i) = std::clamp(value, box.low(i), box.high(i));  // rounding
    }
  }
  return controls;
}

Matrix controls_of(const systems::System& system, Index trajectory, std::uint32_t trial) {
  return test_controls(system.spec().control_box, static_cast<TestKind>(trajectory / kPerKind), trial);
}

/// How far the system's own outputs, without noise, lie from the centre of the region of interest, in units of half its
/// width.
class Distance {
 public:
  explicit Distance(const systems::SystemSpec& spec)
      : C_(spec.emission(spec.own_outputs(), Eigen::all)),
        centre_(0.5 * C_ * (spec.region.low + spec.region.high)),
        half_(0.5 * C_.cwiseAbs() * (spec.region.high - spec.region.low)) {}
  double operator()(const Vector& x) const { return (C_ * x - centre_).cwiseAbs().cwiseQuotient(half_).maxCoeff(); }

 private:
  Matrix C_;
  Vector centre_, half_;
};

/// The largest distance along a run; stops at `limit`.
double strays(const systems::System& system, Vector x, const Matrix& controls, double limit) {
  const Distance distance(system.spec());
  double farthest = 0.0;
  for (Index t = 0; t < controls.rows() && farthest < limit; ++t) {
    x = system.next(x, controls.row(t).transpose());
    if (!x.allFinite()) {
      return std::numeric_limits<double>::infinity();
    }
    farthest = std::max(farthest, distance(x));
  }
  return farthest;
}

/// Rows of a run, the first included, before its outputs leave the region of interest.
Index rows_within(const systems::System& system, Vector x, const Matrix& controls) {
  const Distance distance(system.spec());
  for (Index t = 0; t < controls.rows(); ++t) {
    x = system.next(x, controls.row(t).transpose());
    if (!(distance(x) <= 1.0)) {  // NaN, too
      return t + 1;
    }
  }
  return controls.rows() + 1;
}

/// Minus the rows within the region of interest, or how far the run strays from it: the smaller, the better.
double badness(const systems::System& system, const Vector& x0, const Matrix& controls, TestRange range, double best) {
  return range == TestRange::kRegion ? -static_cast<double>(rows_within(system, x0, controls))
                                     : strays(system, x0, controls, best);
}

/// The first draw that stays in or near the region of interest; if none does, the one that stays longest or strays
/// least. Without this rule a few runs over the top, or far down the track, would decide every figure.
systems::Trajectory test_trajectory(const systems::System& system, Index trajectory, TestRange range) {
  systems::SimulateOptions options{.seed = kTestSeed};
  options.process_sd = Vector::Zero(1);
  const std::uint32_t first = kFirstTestTrial + static_cast<std::uint32_t>(trajectory) * kMostDraws;
  const double enough = range == TestRange::kRegion ? -static_cast<double>(kTestSteps + 1) : kWidestRegion;
  double least = std::numeric_limits<double>::infinity();
  std::uint32_t best = first;
  for (std::uint32_t draw = 0; draw < kMostDraws && least > enough; ++draw) {
    options.trial = first + draw;
    const Vector x0 = systems::Simulator(system, options).initial_state();
    const Matrix controls = controls_of(system, trajectory, options.trial);
    if (const double bad = badness(system, x0, controls, range, least); bad < least) {
      least = bad;
      best = options.trial;
    }
  }
  options.trial = best;
  return systems::simulate(system, controls_of(system, trajectory, best), options);
}

/// Per output, over all rows of all trajectories.
Vector standard_deviations(const std::vector<Matrix>& truth) {
  const Index E = truth.front().cols();
  double count = 0.0;
  Vector mean = Vector::Zero(E);
  for (const Matrix& y : truth) {
    mean += y.colwise().sum().transpose();
    count += static_cast<double>(y.rows());
  }
  mean /= count;
  Vector variance = Vector::Zero(E);
  for (const Matrix& y : truth) {
    variance += (y.rowwise() - mean.transpose()).cwiseAbs2().colwise().sum().transpose() / count;
  }
  return variance.cwiseSqrt();
}

}  // namespace

Matrix test_controls(const Box& box, TestKind kind, std::uint32_t trial) {
  constexpr systems::Hold kShort{.shortest = 1, .longest = 5};
  constexpr systems::Hold kLong{.shortest = 12, .longest = 30};
  switch (kind) {
    case TestKind::kRandom:
      return systems::random_controls(box, kTestSteps, kShort, kTestSeed, trial);
    case TestKind::kSines:
      return sine_controls(box, kTestSteps, trial);
    case TestKind::kSteps:
      return systems::random_controls(box, kTestSteps, kLong, kTestSeed, trial);
    case TestKind::kExtremes:
      break;
  }
  return systems::extreme_controls(box, kTestSteps, kShort, kTestSeed, trial);
}

TestSet make_test_set(const systems::System& system, TestRange range) {
  TestSet set;
  for (Index n = 0; n < kTestTrajectories; ++n) {
    const systems::Trajectory run = test_trajectory(system, n, range);
    const Index rows = range == TestRange::kRegion
                           ? rows_within(system, run.states.row(0).transpose(), run.controls.topRows(kTestSteps))
                           : kTestSteps + 1;
    set.truth.push_back(run.states.topRows(rows) * system.spec().emission.transpose());
    set.sequences.push_back({run.controls.topRows(rows), run.outputs.topRows(rows)});
  }
  // An output that hardly moves cannot be judged more finely than it is measured.
  set.output_sd = standard_deviations(set.truth).cwiseMax(system.spec().output_sd);
  return set;
}

}  // namespace gpilot::trials
