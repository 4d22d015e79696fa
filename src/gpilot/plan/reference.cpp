#include "gpilot/plan/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpilot/core/random.hpp"
#include "gpilot/plan/halton.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::plan {

namespace {

constexpr Index kPoints = 96;  ///< the cost of a plan is linear in them; by feel, not measured
constexpr Index kRuns = 24;    ///< 6 were no better on any home system (docs/decisions/planning.md)
constexpr Index kRows = 60;    ///< of a run; by feel, not measured
constexpr Index kKinds = 4;    ///< of runs, see expected_run

/// One run of what a user may do with the system, in units of the box [P x rows]: values, corners or slow values held,
/// or sines.
Matrix expected_run(RandomStream& random, Index kind, Index P) {
  Matrix run(P, kRows);
  if (kind == 3) {
    for (Index p = 0; p < P; ++p) {
      const double turn = 2.0 * std::numbers::pi / random.uniform(6.0, 40.0);
      const double phase = random.uniform(0.0, 2.0 * std::numbers::pi);
      for (Index t = 0; t < kRows; ++t) {
        run(p, t) = 0.5 + 0.5 * std::sin(turn * static_cast<double>(t) + phase);
      }
    }
    return run;
  }
  for (Index t = 0, held = 0; t < kRows; ++t, --held) {
    if (held > 0) {
      run.col(t) = run.col(t - 1);
      continue;
    }
    held = kind == 2 ? 8 + random.index(13) : 1 + random.index(5);
    for (Index p = 0; p < P; ++p) {
      const double u = random.uniform();
      run(p, t) = kind == 1 ? std::round(u) : u;
    }
  }
  return run;
}

/// The same controls at every step of an exploration, one run a column [P rows x runs]: what changes is the model.
Matrix expected_controls(const DecisionContext& context) {
  const Box& box = context.later_box();
  const Index P = box.low.size();
  Matrix controls(P * kRows, kRuns);
  for (Index n = 0; n < kRuns; ++n) {
    RandomStream random(context.seed, Purpose::kReference, context.trial, static_cast<std::uint32_t>(n));
    Matrix run = (box.high - box.low).asDiagonal() * expected_run(random, n % kKinds, P);
    run.colwise() += box.low;
    controls.col(n) = run.reshaped();
  }
  return controls;
}

}  // namespace

Matrix region_points(const Box& region, Index count) {
  Matrix X(count, region.low.size());
  for (Index k = 0; k < count; ++k) {
    for (Index i = 0; i < X.cols(); ++i) {
      X(k, i) = region.low(i) + halton(k, i) * (region.high(i) - region.low(i));
    }
  }
  return X;
}

Matrix roll_out_points(const DecisionContext& context, Index count) {
  const ssm::Transition& transition = context.transition;
  const ssm::Structure& s = transition.structure();
  const Matrix controls = expected_controls(context);
  Matrix X(kRuns, s.inputs());
  X.leftCols(s.states) = s.x0_mean.transpose().replicate(kRuns, 1);
  std::vector<bool> near(static_cast<std::size_t>(kRuns), true);
  Matrix all(kRuns * kRows, s.inputs());
  Index found = 0;
  Matrix mean;
  Matrix variance;
  for (Index t = 0; t < kRows; ++t) {
    X.rightCols(s.controls) = controls.middleRows(t * s.controls, s.controls).transpose();
    for (Index n = 0; n < kRuns; ++n) {
      const auto run = static_cast<std::size_t>(n);
      // False for NaN. The start of a run always counts, so there is at least one point.
      near[run] = t == 0 || (near[run] && (X.row(n).head(s.states).array().abs() <= ssm::kFarthestReference).all() &&
                             context.beyond_range(X.row(n).head(s.states).transpose()) <= 0.0);
      if (near[run]) {
        all.row(found++) = X.row(n);
      }
    }
    transition.moments(X, mean, variance);
    X.leftCols(s.states).noalias() = mean * transition.left_inverse().transpose();
  }
  // Every so many of them, in the order of time.
  const Index points = std::min(count, found);
  Matrix kept(points, s.inputs());
  for (Index k = 0; k < points; ++k) {
    kept.row(k) = all.row(k * found / points);
  }
  return kept;
}

Reference make_reference(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty) {
  Reference reference;
  reference.X = context.region != nullptr ? region_points(*context.region, kPoints) : roll_out_points(context, kPoints);
  reference.points.resize(uncertainty.size());
  Vector variance(reference.X.rows());
  Vector mean(reference.X.rows());
  for (std::size_t g = 0; g < uncertainty.size(); ++g) {
    uncertainty[g].project(reference.X, reference.points[g]);
    uncertainty[g].predict(reference.X, mean, variance);
    reference.sd.push_back(variance.cwiseSqrt());
    reference.variance += variance.mean() / static_cast<double>(uncertainty.size());
  }
  return reference;
}

}  // namespace gpilot::plan
