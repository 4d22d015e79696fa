#include "gpilot/plan/local.hpp"

#include <Eigen/Dense>
#include <cmath>

#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::plan {

namespace {

constexpr Index kCandidates = 128;  ///< points that the most informative one is sought among; by feel, not measured

}  // namespace

Vector most_informative_point(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty,
                              const Reference& reference) {
  const ssm::Transition& transition = context.transition;
  const Box around{reference.X.colwise().minCoeff().transpose(), reference.X.colwise().maxCoeff().transpose()};
  const Matrix X = region_points(around, kCandidates);
  Vector information = Vector::Zero(kCandidates);
  gp::PackedPosterior::Points points;
  Matrix K;
  Matrix cross;
  Matrix chol;
  Vector mean(kCandidates);
  Vector variance(kCandidates);
  for (std::size_t g = 0; g < uncertainty.size(); ++g) {
    const double q = std::exp(transition.parameters().log_q(transition.row_states()[g]));
    uncertainty[g].project(X, points);
    uncertainty[g].predict(X, mean, variance);
    uncertainty[g].covariance(reference.points[g], reference.points[g], K);
    K.diagonal().array() += q;
    linalg::cholesky(K, chol, "covariance of the function on the reference");
    uncertainty[g].covariance(reference.points[g], points, cross);
    chol.triangularView<Eigen::Lower>().solveInPlace(cross);
    const Vector given = (variance - cross.colwise().squaredNorm().transpose()).cwiseMax(0.0);
    information.array() += 0.5 * ((variance.array() + q) / (given.array() + q)).log();
  }
  Index best = 0;
  information.maxCoeff(&best);
  return X.row(best).transpose();
}

double TowardsPoint::value(const RollOut& paths, Index n, const PlannedOutputs& /*outputs*/) {
  double total = 0.0;
  for (Index t = 0; t < paths.horizon(); ++t) {
    total += (paths.points().row(t * paths.paths() + n).transpose() - point_).squaredNorm();
  }
  return -total / static_cast<double>(paths.horizon());
}

}  // namespace gpilot::plan
