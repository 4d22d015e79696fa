#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/kernels/stationary.hpp"

/// Textbook formulas in naive loops: oracles, not to be used for anything else.
namespace gpilot::test {

/// k(x, z) of two points (Rasmussen and Williams 2006, Eqs. 4.9, 4.14, 4.17), with automatic relevance determination.
double reference_kernel(kernels::Kind kind, double variance, const Vector& length_scales, const Vector& x,
                        const Vector& z);

/// K(X, Z) entry by entry.
Matrix reference_gram(kernels::Kind kind, double variance, const Vector& length_scales, const Matrix& X,
                      const Matrix& Z);

/// A Gaussian over inputs.
struct InputGaussian {
  Vector mean;
  Matrix covariance;
};

/// E k(x, z_m) for the rows of Z under x ~ N(mean, covariance), squared exponential.
Vector se_psi1(double variance, const Vector& length_scales, const InputGaussian& x, const Matrix& Z);

/// E k(x, z_i) k(x, z_j), two kernels a and b (the same for the psi statistics of one function). Valid for a singular
/// covariance.
Matrix se_psi2(double variance_a, const Vector& length_scales_a, double variance_b, const Vector& length_scales_b,
               const InputGaussian& x, const Matrix& Z);

}  // namespace gpilot::test
