#include "gpilot/inference/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::inference {

namespace {

// Where training begins, in scaled units. By feel, not measured: training moves the noises, and restarts vary the
// drift.
constexpr double kSmallestVariance = 1e-4;   ///< of output noise, guessed from second differences
constexpr double kLargestVariance = 0.1;     ///< of the same: fast motion is not taken for noise
constexpr double kKinematicVariance = 1e-4;  ///< of a step of a position, beside its velocity
constexpr double kWanderVariance = 1.0;      ///< of a step of a measured state without a velocity: it may go anywhere
constexpr int kMeansIterations = 20;         ///< of k-means

}  // namespace

Vector output_variance_guess(const ssm::Series& series) {
  Vector guess = Vector::Constant(series.outputs.rows(), kSmallestVariance);
  for (Index e = 0; e < series.outputs.rows(); ++e) {
    double squares = 0.0;
    Index count = 0;
    for (Index k = 0; k < series.sequences(); ++k) {
      for (Index t = series.start[static_cast<std::size_t>(k)] + 2; t < series.start[static_cast<std::size_t>(k) + 1];
           ++t) {
        const double second = series.outputs(e, t) - 2.0 * series.outputs(e, t - 1) + series.outputs(e, t - 2);
        if (!std::isnan(second)) {
          squares += second * second;
          ++count;
        }
      }
    }
    if (count > 0) {  // a second difference of white noise has six times its variance
      guess(e) = std::clamp(0.5 * squares / (6.0 * static_cast<double>(count)), kSmallestVariance, kLargestVariance);
    }
  }
  return guess;
}

ssm::StatePosterior kinematic_start(const ssm::Structure& s, const ssm::Series& series, const ssm::Parameters& p,
                                    double drift_sd) {
  LinearGaussian model;
  model.L = s.left();
  model.F = s.right();
  model.W = Matrix::Zero(s.states, s.controls + 1);
  model.q = Vector::Constant(s.states, kKinematicVariance);
  const auto is_velocity = [&](Index d) {
    return std::any_of(s.kinematics.begin(), s.kinematics.end(),
                       [d](const ssm::Kinematics& k) { return k.velocity == d; });
  };
  const auto is_observed = [&](Index d) { return p.C.col(d).cwiseAbs().sum() > 0.0; };
  std::vector<Index> without_rate;  // observed states that nothing is known to drive
  for (const Index d : s.gp_rows()) {
    model.F(d, d) = 1.0;
    model.q(d) = is_velocity(d) || !is_observed(d) ? drift_sd * drift_sd : kWanderVariance;
    if (is_observed(d) && !is_velocity(d)) {
      without_rate.push_back(d);
    }
  }
  std::size_t next = 0;
  for (const Index d : s.gp_rows()) {
    if (!is_observed(d) && !is_velocity(d) && next < without_rate.size()) {
      // Nothing is known of this state: let it start as the rate of an observed one.
      model.F(without_rate[next], d) = 1.0;
      model.q(without_rate[next++]) = kKinematicVariance;
    }
  }
  model.C = p.C;
  model.d = p.d;
  model.r = p.log_r.array().exp();
  model.start = ssm::start_prior(s, false);
  model.broad_start = ssm::start_prior(s, true);
  return smooth(model, series);
}

Matrix k_means(MatrixRef points, Index count, std::uint64_t seed, std::uint32_t restart) {
  const Index N = points.rows();
  RandomStream random(seed, Purpose::kInducing, restart);
  Matrix centres(count, points.cols());
  Vector nearest = Vector::Constant(N, std::numeric_limits<double>::infinity());
  for (Index m = 0; m < count; ++m) {  // k-means++: far points are likely
    Index pick = random.index(N);
    const double total = nearest.sum();
    if (m > 0 && total > 0.0) {
      double rest = random.uniform() * total;
      for (pick = 0; pick + 1 < N && rest >= nearest(pick); ++pick) {
        rest -= nearest(pick);
      }
    }
    centres.row(m) = points.row(pick);
    nearest = nearest.cwiseMin((points.rowwise() - centres.row(m)).rowwise().squaredNorm());
  }
  std::vector<Index> label(static_cast<std::size_t>(N), -1);
  for (int iteration = 0; iteration < kMeansIterations; ++iteration) {
    bool changed = false;
    for (Index n = 0; n < N; ++n) {
      Index best = 0;
      (centres.rowwise() - points.row(n)).rowwise().squaredNorm().minCoeff(&best);
      changed = changed || label[static_cast<std::size_t>(n)] != best;
      label[static_cast<std::size_t>(n)] = best;
    }
    if (!changed) {
      break;
    }
    Matrix sums = Matrix::Zero(count, points.cols());
    Vector sizes = Vector::Zero(count);
    for (Index n = 0; n < N; ++n) {
      sums.row(label[static_cast<std::size_t>(n)]) += points.row(n);
      sizes(label[static_cast<std::size_t>(n)]) += 1.0;
    }
    for (Index m = 0; m < count; ++m) {
      if (sizes(m) > 0.0) {
        centres.row(m) = sums.row(m) / sizes(m);
      }
    }
  }
  return centres;
}

Matrix transition_inputs(const ssm::Structure& s, const ssm::Series& series, const ssm::StatePosterior& q) {
  Matrix points(series.transitions(), s.inputs());
  Index n = 0;
  for (Index t = 1; t < series.rows(); ++t) {
    if (!series.first[static_cast<std::size_t>(t)]) {
      points.row(n).head(s.states) = q.m.col(t - 1).transpose();
      points.row(n++).tail(s.controls) = series.controls.col(t - 1).transpose();
    }
  }
  return points;
}

void check_formulas(const ssm::ModelSpec& spec, const ssm::Scaling& scaling, const ssm::Structure& s,
                    const ssm::Parameters& p, MatrixRef points) {
  if (!s.physics) {
    return;
  }
  const Matrix m = s.physics->evaluate(points, p.physics);
  for (Index n = 0; n < m.rows(); ++n) {
    for (Index k = 0; k < m.cols(); ++k) {
      if (std::isfinite(m(n, k))) {
        continue;
      }
      std::string where;
      for (Index i = 0; i < points.cols(); ++i) {
        const bool control = i >= s.states;
        const Index c = i - s.states;
        const double value = control ? scaling.control_offset(c) + scaling.control_scale(c) * points(n, i)
                                     : scaling.state_offset(i) + scaling.state_scale(i) * points(n, i);
        where += fmt::format("{}{} = {:.4g}", i > 0 ? ", " : "",
                             (control ? spec.inputs : spec.states)[static_cast<std::size_t>(control ? c : i)], value);
      }
      throw NumericalError(
          fmt::format("physics.{}: the formula has no value within the step from {}, where the data lead",
                      spec.states[static_cast<std::size_t>(s.physics->rows()[static_cast<std::size_t>(k)])], where));
    }
  }
}

Matrix thinned(MatrixRef points) {
  constexpr Index kMostPoints = 4000;  // by feel
  if (points.rows() <= kMostPoints) {
    return points;
  }
  Matrix few(kMostPoints, points.cols());
  for (Index k = 0; k < kMostPoints; ++k) {
    few.row(k) = points.row(k * points.rows() / kMostPoints);
  }
  return few;
}

Matrix inducing_start(const ssm::Structure& s, const ssm::Series& series, const ssm::StatePosterior& q,
                      std::uint64_t seed, std::uint32_t restart) {
  Matrix points = transition_inputs(s, series, q);
  for (const kernels::Angle& angle : s.angles) {
    // Turns apart, two centres would be one and the same inducing point.
    for (double& x : points.col(angle.input)) {
      x = ssm::nearest_turn(x, 0.0, 2.0 * std::numbers::pi / angle.omega);
    }
  }
  for (Index i = 0; i < points.cols(); ++i) {
    if (!s.uses(i)) {
      points.col(i).setZero();  // what no function sees must not spread them
    }
  }
  if (!s.forms.empty() && std::all_of(s.forms.begin(), s.forms.end(), [](const kernels::Form& f) { return f.odd; })) {
    // A point and its reflection are one and the same.
    Eigen::Index widest = 0;
    points.colwise().squaredNorm().maxCoeff(&widest);
    for (Index n = 0; n < points.rows(); ++n) {
      points.row(n) *= points(n, widest) < 0.0 ? -1.0 : 1.0;
    }
  }
  return k_means(thinned(points), s.inducing, seed, restart);
}

}  // namespace gpilot::inference
