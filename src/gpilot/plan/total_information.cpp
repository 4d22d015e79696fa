#include "gpilot/plan/total_information.hpp"

#include <Eigen/Dense>
#include <vector>

#include "gpilot/linalg/cholesky.hpp"
#include "gpilot/plan/belief_nodes.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::plan {

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

TotalInformation::TotalInformation(const DecisionContext& context)
    : context_(context), X_(belief_nodes(context, context.belief)) {
  const Matrix& L_inverse = context.transition.left_inverse();
  const ssm::Structure& s = context.transition.structure();
  W_ = L_inverse.transpose() * displacement_weight(context.transition) * L_inverse;
  z_ = X_.leftCols(s.states) * s.left().transpose();
}

double TotalInformation::value(VectorRef control, Vector* gradient) const {
  const auto [mean, variance, mean_slope, variance_slope] =
      node_moments(context_.transition, X_, control, gradient != nullptr);
  const Vector& w = context_.nodes.w;
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

std::unique_ptr<Criterion> total_information(const DecisionContext& context) {
  return std::make_unique<TotalInformation>(context);
}

}  // namespace gpilot::plan
