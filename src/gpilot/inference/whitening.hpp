#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::inference {

/// Coordinates for q(x) in which the bound is about equally curved in every direction, so that a quasi-Newton method
/// needs no help. Around a reference q(x) with P_chol, A, S_chol:
///   m_t = m_ref + P_chol u,   A_t = A_ref + S_chol V P_chol_{t-1}^-1,   S_chol_t = S_chol_ref exp-lower(Lambda),
/// exp-lower: the diagonal is exponentiated, the strict lower triangle taken as it is. Shift rows have no coordinates
/// of their own after the first row of a sequence: their mean, A and S follow from the row before.
class StateWhitening {
 public:
  StateWhitening(const ssm::StatePosterior& reference, const ssm::Series& series, std::vector<ssm::Shift> shifts = {});

  Index size() const { return size_; }
  /// z = 0 is the reference.
  void to_states(VectorRef z, ssm::StatePosterior& q) const;
  /// Gradient in z of a function whose gradient in q is q_bar.
  void pull_back(VectorRef z, const ssm::StatePosterior& q_bar, Eigen::Ref<Vector> z_bar) const;

 private:
  void to_shifted_states(VectorRef z, ssm::StatePosterior& q) const;
  void pull_back_shifted(VectorRef z, const ssm::StatePosterior& q_bar, Eigen::Ref<Vector> z_bar) const;

  const ssm::Series& series_;
  ssm::StatePosterior reference_;
  std::vector<ssm::Shift> shifts_;
  Matrix P_chol_;      ///< [D x D n]
  Matrix P_chol_inv_;  ///< [D x D n]
  Index size_ = 0;
};

}  // namespace gpilot::inference
