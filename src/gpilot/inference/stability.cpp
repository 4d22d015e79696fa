#include "gpilot/inference/stability.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include "gpilot/gp/packed_posterior.hpp"
#include "gpilot/linalg/eigenvalues.hpp"
#include "gpilot/ssm/transition.hpp"

namespace gpilot::inference {

std::optional<double> doubling_rows(const ssm::Dynamics& dynamics) {
  const ssm::Structure& s = dynamics.structure;
  if (s.inducing > 0 || s.physics || !s.angles.empty()) {
    return {};
  }
  const ssm::Transition transition(s, dynamics.parameters, dynamics.weights);
  const Matrix origin = Matrix::Zero(1, s.states + s.controls);
  Matrix slope = transition.linear_slope().leftCols(s.states);  // of L x'
  for (std::size_t g = 0; g < transition.bases().size(); ++g) {
    gp::PackedPosterior::Points points;
    Vector mean;
    Matrix gp_slope;
    gp::PackedPosterior(transition.bases()[g], transition.weights()[g]).predict(origin, points, mean, gp_slope);
    slope.row(transition.row_states()[g]) += gp_slope.leftCols(s.states);
  }
  const double radius = linalg::spectral_radius(transition.left_inverse() * slope);
  return radius > 1.0 ? std::optional(std::numbers::ln2 / std::log(radius)) : std::nullopt;
}

}  // namespace gpilot::inference
