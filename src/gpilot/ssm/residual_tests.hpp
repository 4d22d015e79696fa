#pragma once

#include <vector>

#include "gpilot/core/types.hpp"

/// Tests of one-step residuals: a model that leaves nothing to learn has residuals that are white, and that no past
/// input predicts (Ljung 1999, section 16.6; what MATLAB's `resid` shows).
namespace gpilot::ssm {

/// What the tests look at, of one recording.
struct ResidualRows {
  MatrixRef residuals;  ///< [rows x E] one-step errors in units of their predicted sd; NaN = none
  MatrixRef controls;   ///< [rows x P] NaN = none
};

/// A chi-squared test of correlations that should be 0.
struct CorrelationTest {
  Vector correlation;      ///< by lag
  double statistic = 0.0;  ///< NaN if there is nothing to test
  Index degrees = 0;       ///< of freedom
  double p = 0.0;          ///< of a statistic as large, if the correlations are 0
};

struct ResidualTests {
  std::vector<Index> count;                ///< [E] residuals
  std::vector<CorrelationTest> whiteness;  ///< [E] lags 1 to `lags`
  std::vector<std::vector<CorrelationTest>>
      inputs;  ///< [E][P] lags 0 to `lags`: a residual and an input so many rows before
};

/// The tests over all recordings together; no pair of rows is from two. Fewer lags where a quarter of the residuals is
/// less.
///
///   whiteness  Ljung and Box (1978): Q = n (n + 2) sum_k r_k^2 / (n - k), chi-squared with a degree a lag
///   inputs     Q = n r^T R^-1 r, R the input's own correlation matrix, chi-squared with a degree for every direction
///              in which the input varies
ResidualTests test_residuals(const std::vector<ResidualRows>& recordings, Index lags);

}  // namespace gpilot::ssm
