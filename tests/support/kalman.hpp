#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/inference/smoother.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/series.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::test {

/// What a linear-Gaussian model says about its states, by the textbook: predict and update in covariance form, then
/// Rauch, Tung and Striebel backwards. Independent of the library's information form.
struct KalmanResult {
  Matrix mean;        ///< [D x n] smoothed
  Matrix covariance;  ///< [D x D n]
  Matrix cross;       ///< [D x D n] Cov(x_t, x_{t-1}); zero on first rows
  double log_evidence = 0.0;
};

KalmanResult kalman_rts(const inference::LinearGaussian& model, const ssm::Series& series);

/// A model without Gaussian processes (no inducing points, no linear kernel) as the linear-Gaussian model it is.
inference::LinearGaussian linear_model(const ssm::Structure& structure, const ssm::Parameters& p);

}  // namespace gpilot::test
