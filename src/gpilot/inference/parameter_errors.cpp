#include "gpilot/inference/parameter_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "gpilot/core/central_interval.hpp"
#include "gpilot/gp/packed_posterior.hpp"
#include "gpilot/inference/start.hpp"
#include "gpilot/ssm/physics_mean.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::inference {

namespace {

constexpr Index kMostErrorRows = 20'000;
constexpr double kAlike = 0.9;   ///< correlation from which two parameters cannot be told apart
constexpr double kLittle = 0.2;  ///< share of the prior's variance below which data say little

/// Covariance of (dx, deta, dv) as rows come in.
class JointFilter {
 public:
  JointFilter(const ssm::Transition& transition, MatrixRef X)
      : transition_(transition), s_(transition.structure()), physics_(*s_.physics), X_(X) {
    const auto G = transition.bases().size();
    Index size = s_.states + physics_.parameters();
    for (std::size_t g = 0; g < G; ++g) {
      first_.push_back(size);
      size += transition.bases()[g].features();
      A_.push_back(features(g));
      gp::PackedPosterior::Points points;
      Vector mean;
      gp::PackedPosterior(transition.bases()[g], transition.weights()[g])
          .predict(X, points, mean, slopes_.emplace_back());
    }
    transition.add_physics_slopes(X, slopes_);
    std::vector<Matrix> unused;
    physics_.evaluate(X, transition.parameters().physics, unused, in_eta_);
    P_ = Matrix::Identity(size, size);
  }

  /// The first state of a sequence.
  void start(const ssm::StartPrior& x0) {
    const Index D = s_.states;
    P_.topRows(D).setZero();
    P_.leftCols(D).setZero();
    P_.topLeftCorner(D, D) = x0.sd.cwiseAbs2().asDiagonal();
  }

  /// Over transition n of X.
  void advance(Index n) {
    const Index D = s_.states;
    Matrix step = Matrix::Zero(D, P_.cols());  // of L x', then of x'
    step.leftCols(D) = transition_.linear_slope().leftCols(D);
    Vector noise = transition_.process_variance();
    for (std::size_t g = 0; g < A_.size(); ++g) {
      const Index d = transition_.row_states()[g];
      step.row(d).head(D) += slopes_[g].row(n).head(D);
      step.row(d).segment(first_[g], A_[g].cols()) = A_[g].row(n);
      noise(d) += residual_[g](n);
    }
    for (std::size_t k = 0; k < physics_.rows().size(); ++k) {
      step.row(physics_.rows()[k]).segment(D, physics_.parameters()) = in_eta_[k].row(n);
    }
    const Matrix& Li = transition_.left_inverse();
    step = (Li * step).eval();
    const Matrix moved = step * P_;
    P_.topLeftCorner(D, D) = moved * step.transpose() + Li * noise.asDiagonal() * Li.transpose();
    const Index rest = P_.cols() - D;
    P_.topRightCorner(D, rest) = moved.rightCols(rest);
    P_.bottomLeftCorner(rest, D) = moved.rightCols(rest).transpose();
  }

  /// Given the outputs of a row that are not NaN.
  void measure(VectorRef y) {
    const ssm::Parameters& p = transition_.parameters();
    for (Index e = 0; e < y.size(); ++e) {
      if (std::isnan(y(e))) {
        continue;
      }
      const Vector Pc = P_.leftCols(s_.states) * p.C.row(e).transpose();
      const double variance = p.C.row(e).dot(Pc.head(s_.states)) + std::exp(p.log_r(e));
      P_.noalias() -= Pc * Pc.transpose() / variance;
    }
  }

  Matrix of_parameters() const { return P_.block(s_.states, s_.states, physics_.parameters(), physics_.parameters()); }

 private:
  /// Features of all transitions; sets what they leave of the variance.
  Matrix features(std::size_t g) {
    const gp::InducingBasis& basis = transition_.bases()[g];
    Matrix Xs(X_.rows(), basis.columns());
    Matrix K(X_.rows(), basis.inducing());
    Matrix A(X_.rows(), basis.features());
    basis.evaluate(X_, Vector(), Xs, K, nullptr, A);
    Vector left = Vector::Zero(X_.rows());
    if (basis.inducing() > 0) {
      left = (basis.prior_variance(Xs) - A.leftCols(basis.inducing()).rowwise().squaredNorm()).cwiseMax(0.0);
    }
    residual_.push_back(std::move(left));
    return A;
  }

  const ssm::Transition& transition_;
  const ssm::Structure& s_;
  const ssm::PhysicsMean& physics_;
  MatrixRef X_;
  std::vector<Index> first_;      ///< [G] of its weights
  std::vector<Matrix> A_;         ///< [G] of [n x M_a]
  std::vector<Vector> residual_;  ///< [G] of [n]
  std::vector<Matrix> slopes_;    ///< [G] of [n x I]
  std::vector<Matrix> in_eta_;    ///< [rows of the physics] of [n x parameters]
  Matrix P_;
};

}  // namespace

Matrix parameter_covariance(const ssm::Dynamics& dynamics, const ssm::Series& series, const ssm::StatePosterior& q) {
  const ssm::Transition transition(dynamics.structure, dynamics.parameters, dynamics.weights);
  const Matrix X = transition_inputs(dynamics.structure, series, q);
  JointFilter filter(transition, X);
  Index n = 0;
  for (Index t = 0; t < std::min(series.rows(), kMostErrorRows); ++t) {
    const auto row = static_cast<std::size_t>(t);
    if (series.first[row]) {
      filter.start(ssm::start_prior(dynamics.structure, series.broad[row]));
    } else {
      filter.advance(n++);
    }
    filter.measure(series.outputs.col(t));
  }
  return filter.of_parameters();
}

void report_parameters(const ssm::Dynamics& dynamics, const ssm::Series& series, const ssm::StatePosterior& q,
                       ssm::FitReport& report) {
  report.parameters.clear();
  report.warnings.clear();
  const auto& physics = dynamics.structure.physics;
  if (!physics || physics->parameters() == 0) {
    return;
  }
  const Matrix covariance = parameter_covariance(dynamics, series, q);
  const Vector& eta = dynamics.parameters.physics;
  const Vector sd = covariance.diagonal().cwiseMax(0.0).cwiseSqrt();
  for (Index k = 0; k < eta.size(); ++k) {
    const ssm::PhysicsParameter& p = physics->parameter(k);
    const double one = physics->natural(k, eta(k) - kNormal95 * sd(k));
    const double other = physics->natural(k, eta(k) + kNormal95 * sd(k));
    report.parameters.push_back({.name = p.name,
                                 .unit = p.unit,
                                 .value = physics->natural(k, eta(k)),
                                 .sd = std::abs(physics->natural_slope(k, eta(k))) * sd(k),
                                 .low = std::min(one, other),
                                 .high = std::max(one, other),
                                 .determined = std::max(0.0, 1.0 - covariance(k, k))});
    if (report.parameters.back().determined < kLittle) {
      report.warnings.push_back(
          fmt::format("the data say little about '{}': its value is that of the prior, or close to it", p.name));
    }
    for (Index j = 0; j < k; ++j) {
      const double correlation = covariance(k, j) / (sd(k) * sd(j));
      if (std::abs(correlation) > kAlike) {
        report.warnings.push_back(
            fmt::format("'{}' and '{}' cannot be told apart by these data (correlation {:.2f}): only a combination of "
                        "them is known",
                        physics->parameter(j).name, p.name, correlation));
      }
    }
  }
}

}  // namespace gpilot::inference
