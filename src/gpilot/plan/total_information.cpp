#include "gpilot/acquisition/total_information.hpp"

#include <Eigen/Dense>
#include <vector>

#include "belief_nodes.hpp"
#include "gpilot/linalg/cholesky.hpp"

namespace gpilot::acquisition {

namespace {

/// Q^-1 - C^T (R + C Q C^T)^-1 C [D x D].
Matrix displacement_weight(const ssm::Transition& transition) {
  const ssm::Parameters& p = transition.parameters();
  const Vector q = independent_process_variances(transition);
  Matrix noise_chol;
  linalg::cholesky(output_noise(p, q.asDiagonal()), noise_chol, "covariance of an output given the function");
  const Matrix half = noise_chol.triangularView<Eigen::Lower>().solve(p.C);
  return Matrix(q.cwiseInverse().asDiagonal()) - half.transpose() * half;
}

}  // namespace

TotalInformation::TotalInformation(const Situation& situation)
    : situation_(situation), X_(belief_nodes(situation, situation.belief)) {
  const Matrix& L_inverse = situation.transition.left_inverse();
  const ssm::Structure& s = situation.transition.structure();
  W_ = L_inverse.transpose() * displacement_weight(situation.transition) * L_inverse;
  z_ = X_.leftCols(s.states) * s.left().transpose();
}

double TotalInformation::value(VectorRef control, Vector* gradient) const {
  Matrix X = X_;
  set_control(X, control);
  Matrix mean;
  Matrix variance;
  std::vector<Matrix> mean_slope;
  std::vector<Matrix> variance_slope;
  if (gradient != nullptr) {
    situation_.transition.moments(X, mean, variance, mean_slope, variance_slope);
  } else {
    situation_.transition.moments(X, mean, variance);
  }
  const Vector& w = situation_.nodes.w;
  const Matrix displacement = mean - z_;  // L (f - x)
  const Matrix pull = w.asDiagonal() * displacement * W_;
  if (gradient != nullptr) {
    gradient->resize(control.size());
    for (Index p = 0; p < control.size(); ++p) {
      const auto k = static_cast<std::size_t>(p);
      (*gradient)(p) =
          pull.cwiseProduct(mean_slope[k]).sum() + 0.5 * W_.diagonal().dot(variance_slope[k].transpose() * w);
    }
  }
  return 0.5 * (pull.cwiseProduct(displacement).sum() + W_.diagonal().dot(variance.transpose() * w));
}

std::unique_ptr<Criterion> total_information(const Situation& situation) {
  return std::make_unique<TotalInformation>(situation);
}

}  // namespace gpilot::acquisition
