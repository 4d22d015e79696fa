/// The bound lies below the log evidence, which is computed by brute force on problems small enough for it.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/inference/bound_optimiser.hpp"
#include "gpilot/kernels/stationary.hpp"
#include "gpilot/ssm/elbo.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"
#include "support/kalman.hpp"

namespace gpilot::ssm {
namespace {

struct Tiny {
  Structure structure;
  Series series;
  Parameters parameters;
  StatePosterior q;
};

/// One state, no control, three rows.
Tiny tiny_problem(Index inducing, bool linear_kernel) {
  Tiny tiny;
  tiny.structure.inducing = inducing;
  tiny.structure.linear_kernel = linear_kernel;
  tiny.structure.x0_mean = Vector::Constant(1, 0.4);
  tiny.structure.x0_sd = Vector::Constant(1, 0.6);
  tiny.series = concatenate({{Matrix(3, 0), Eigen::Vector3d(0.9, 0.5, -0.3)}});
  tiny.parameters = default_parameters(tiny.structure);
  tiny.parameters.log_q.setConstant(std::log(0.05));
  tiny.parameters.log_r.setConstant(std::log(0.1));
  tiny.q = StatePosterior::zero(1, 3);
  tiny.q.m << 0.8, 0.5, 0.0;
  tiny.q.S_chol.setConstant(0.3);
  return tiny;
}

/// The bound after the best q(x) for fixed parameters was found.
double best_bound(const Tiny& tiny, const gp::Nodes& nodes) {
  Elbo elbo(tiny.structure, tiny.series, nodes);
  Free none = Free::defaults(tiny.structure);
  none.kernel = none.linear_sd = none.inducing = false;
  none.q.setZero();
  none.r.setZero();
  inference::Priors priors;
  priors.centre = tiny.parameters;
  inference::BoundOptimiser optimiser(elbo, priors, none, tiny.parameters, tiny.q);
  optimiser.e_step(50, 0.0);
  optimiser.polish(100, 1e-12);
  return optimiser.bound();
}

/// Given its two weights the model is linear-Gaussian: the evidence is the Kalman filter's, integrated over their
/// prior.
double linear_evidence(const Tiny& tiny) {
  const gp::Nodes weights = gp::make_nodes(gp::NodeRule::kGaussHermite, 2, 40);
  double evidence = 0.0;
  for (Index j = 0; j < weights.count(); ++j) {
    Parameters p = tiny.parameters;
    p.mean_weights(0, 0) += std::exp(p.log_linear_sd(0, 0)) * weights.xi(j, 0);
    p.mean_weights(1, 0) += std::exp(p.log_linear_sd(1, 0)) * weights.xi(j, 1);
    evidence +=
        weights.w(j) * std::exp(test::kalman_rts(test::linear_model(tiny.structure, p), tiny.series).log_evidence);
  }
  return std::log(evidence);
}

TEST(Evidence, BoundsTheElboOfBayesianLinearWeights) {
  Tiny tiny = tiny_problem(0, true);
  const gp::Nodes exact = gp::make_nodes(gp::NodeRule::kGaussHermite, 1, 3);  // the integrand is quadratic in x
  for (const double log_sd : {-6.0, -2.0, -1.0, 0.0}) {
    tiny.parameters.log_linear_sd.setConstant(log_sd);
    const double evidence = linear_evidence(tiny);
    Elbo elbo(tiny.structure, tiny.series, exact);
    EXPECT_LT(elbo.value(tiny.parameters, tiny.q), evidence);
    const double bound = best_bound(tiny, exact);
    EXPECT_LT(bound, evidence + 1e-9) << "log sd " << log_sd;
    EXPECT_GT(bound, evidence - 1.5) << "log sd " << log_sd;
    if (log_sd < -5.0) {  // weights that are all but known: nothing is lost
      EXPECT_NEAR(bound, evidence, 1e-3);
    }
  }
}

double normal(double x, double mean, double variance) {
  return std::exp(-0.5 * (x - mean) * (x - mean) / variance) / std::sqrt(2.0 * std::numbers::pi * variance);
}

/// p(y) = int p(x_0) N(x_1, x_2 | (x_0, x_1), K(x_0, x_1) + q I) prod_t N(y_t | x_t, r): the function integrated out
/// exactly, the states on a grid.
double gp_evidence(const Tiny& tiny) {
  constexpr Index kPoints = 81;
  constexpr double kHalfWidth = 4.0;
  const Vector grid = Vector::LinSpaced(kPoints, -kHalfWidth, kHalfWidth);
  const double h = grid(1) - grid(0);
  const Parameters& p = tiny.parameters;
  const double q = std::exp(p.log_q(0));
  const double r = std::exp(p.log_r(0));
  const double s = std::exp(p.log_variance(0));
  const double l = std::exp(p.log_length_scales(0, 0));
  Matrix likelihood(kPoints, 3);
  for (Index t = 0; t < 3; ++t) {
    likelihood.col(t) = grid.unaryExpr([&](double x) { return normal(tiny.series.outputs(0, t), x, r); });
  }
  double sum = 0.0;
  for (Index i = 0; i < kPoints; ++i) {
    const double x0 = grid(i);
    const double p0 = likelihood(i, 0) * normal(x0, tiny.structure.x0_mean(0), std::pow(tiny.structure.x0_sd(0), 2));
    for (Index j = 0; j < kPoints; ++j) {
      const double x1 = grid(j);
      const double k01 = s * std::exp(-0.5 * (x0 - x1) * (x0 - x1) / (l * l));
      const double p1 = p0 * likelihood(j, 1) * normal(x1, x0, s + q);
      const double mean = x1 + k01 / (s + q) * (x1 - x0);
      const double variance = s + q - k01 * k01 / (s + q);
      for (Index k = 0; k < kPoints; ++k) {
        sum += p1 * likelihood(k, 2) * normal(grid(k), mean, variance);
      }
    }
  }
  return std::log(sum * h * h * h);
}

TEST(Evidence, BoundsTheElboOfAGaussianProcess) {
  Tiny tiny = tiny_problem(5, false);
  tiny.parameters.Z = Vector::LinSpaced(5, -1.5, 2.0);
  const gp::Nodes nodes = gp::make_nodes(gp::NodeRule::kGaussHermite, 1, 31);
  for (const double log_variance : {-6.0, -2.0, 0.0}) {
    for (const double log_length_scale : {0.0, 1.0}) {
      tiny.parameters.log_variance.setConstant(log_variance);
      tiny.parameters.log_length_scales.setConstant(log_length_scale);
      const double evidence = gp_evidence(tiny);
      const double bound = best_bound(tiny, nodes);
      EXPECT_LT(bound, evidence + 1e-6) << "log variance " << log_variance;
      EXPECT_GT(bound, evidence - 1.5) << "log variance " << log_variance;
    }
  }
}

}  // namespace
}  // namespace gpilot::ssm
