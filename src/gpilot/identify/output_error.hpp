#pragma once

#include "gpilot/identify/subspace.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::identify {

struct OutputErrorOptions {
  int iterations = 30;
  double max_radius = 0.999;  ///< of A: stability is kept
  double tolerance = 1e-6;    ///< relative decrease of the squared error at which it stops

  /// Throws InputError naming the field.
  void validate() const;
};

struct OutputErrorResult {
  LinearDynamics model;
  double mean_square = 0.0;  ///< of the simulated outputs' error
  int iterations = 0;
  bool converged = false;
};

/// Refines a linear model by the error of its simulated outputs over whole sequences (Levenberg-Marquardt on A, B, C, d
/// and the first states, by sensitivity equations; Ljung, 1999, Section 7.5). Missing outputs drop out. A step that
/// would leave the radius is refused, so that the result is stable if the start is.
OutputErrorResult refine_output_error(const LinearDynamics& start, const ssm::Series& series,
                                      const OutputErrorOptions& options = {});

/// Half the sum of squared errors and its gradient in (A, B, C, d, x0, y0), each column by column, one after the other.
double output_error(const LinearDynamics& model, const ssm::Series& series, Vector& gradient);

}  // namespace gpilot::identify
