#pragma once

#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::inference {

/// Posterior covariance of the parameters eta of declared physics: a Laplace approximation at the optimum with the
/// curvature of Gauss and Newton. Along the smoothed path the model is linear in what is not known,
///
///   dx' = F dx + L^-1 (a^T dv + dm/deta deta + w),   dy = C dx + noise,
///
/// with the priors dv ~ N(0, I) of the functions' weights, N(0, I) of eta and that of the first state: a Kalman filter
/// over (dx, deta, dv) gives the covariance of deta given all outputs. So it counts what the Gaussian process could
/// have said instead of a parameter, and that states are not measured but through the outputs. Hyperparameters and
/// noises are held. Linear in the rows, of which the first 20 000 count.
Matrix parameter_covariance(const ssm::Dynamics& dynamics, const ssm::Series& series, const ssm::StatePosterior& q);

/// Values, standard errors and intervals of the learned parameters, and warnings about them, into the report.
void report_parameters(const ssm::Dynamics& dynamics, const ssm::Series& series, const ssm::StatePosterior& q,
                       ssm::FitReport& report);

}  // namespace gpilot::inference
