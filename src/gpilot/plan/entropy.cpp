#include "gpilot/plan/entropy.hpp"

#include <cmath>
#include <vector>

#include "gpilot/plan/belief_nodes.hpp"

namespace gpilot::plan {

double Entropy::value(VectorRef control, Vector* gradient) const {
  const ssm::Transition& transition = context_.transition;
  Matrix x(1, transition.structure().inputs());
  x.leftCols(transition.structure().states) = context_.belief.mean.transpose();
  set_control(x, control);
  Matrix mean;
  Matrix variance;
  std::vector<Matrix> mean_slope;
  std::vector<Matrix> variance_slope;
  if (gradient != nullptr) {
    transition.moments(x, mean, variance, mean_slope, variance_slope);
  } else {
    transition.moments(x, mean, variance);
  }
  double total = 0.0;
  if (gradient != nullptr) {
    gradient->setZero(control.size());
  }
  for (const Index d : transition.row_states()) {
    const double q = std::exp(transition.parameters().log_q(d));
    total += 0.5 * std::log1p(variance(0, d) / q);
    if (gradient != nullptr) {
      for (Index p = 0; p < control.size(); ++p) {
        (*gradient)(p) += 0.5 * variance_slope[static_cast<std::size_t>(p)](0, d) / (q + variance(0, d));
      }
    }
  }
  return total;
}

std::unique_ptr<Criterion> entropy(const DecisionContext& context) {
  return std::make_unique<Entropy>(context);
}

}  // namespace gpilot::plan
