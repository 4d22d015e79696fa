#pragma once

#include <memory>

#include "gpilot/plan/criterion.hpp"

namespace gpilot::plan {

/// The paper's Proposition 1: I(y'; f') = 1/2 log det(R + C (V + Q) C^T) / det(R + C Q C^T), where V is the covariance
/// of f(x, c) by moment matching over a belief about x. With several outputs V is the full matrix, and Q is the process
/// covariance of x' (declared kinematics make it dense).
class LatestInformation : public Criterion {
 public:
  LatestInformation(const DecisionContext& context, const ssm::StateBelief& belief);
  double value(VectorRef control, Vector* gradient) const override;

 private:
  DecisionContext context_;
  Matrix X_;            ///< [J x I] the belief's nodes; the controls are filled in
  Matrix C_L_inverse_;  ///< C L^-1 [E x D]: from the rows of the transition to the outputs
  Matrix noise_;        ///< R + C Q C^T [E x E]
  double noise_log_det_;
};

/// From q(x_T), what is known about the state after all measurements.
std::unique_ptr<Criterion> latest_information(const DecisionContext& context);
/// As printed: the state predicted from p(x_0) through all controls, as if no output had been seen along the way. Needs
/// the history.
std::unique_ptr<Criterion> latest_information_from_x0(const DecisionContext& context);

}  // namespace gpilot::plan
