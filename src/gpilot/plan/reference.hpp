#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/packed_posterior.hpp"
#include "gpilot/plan/criterion.hpp"

namespace gpilot::plan {

/// Where the model will be used, and how uncertain its function is there. Scaled units.
struct Reference {
  Matrix X;                                         ///< [R x I] points (x, c)
  std::vector<gp::PackedPosterior::Points> points;  ///< [G] the same as each Gaussian process sees them
  std::vector<Vector> sd;                           ///< [G] of [R]: of f at the points
  double variance = 0.0;                            ///< of f, mean over points and Gaussian processes
};

/// Points of the declared region, or, where none is declared, of runs of the model under the controls that are
/// expected.
Reference make_reference(const DecisionContext& context, const std::vector<gp::PackedPosterior>& uncertainty);

/// Points spread evenly over a box of (x, c) [R x I].
Matrix region_points(const Box& region, Index count);

/// Points that runs of the model from p(x_0) pass through [R x I] under four kinds of controls: values of the box or
/// its corners held for 1 to 5 rows, values held for 8 to 20, sines. A run ends where an output leaves its range, or a
/// scaled state exceeds 3: a declared range is [-1.7, 1.7].
Matrix roll_out_points(const DecisionContext& context, Index count);

}  // namespace gpilot::plan
