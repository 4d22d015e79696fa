#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/series.hpp"

/// Linear state-space models from input-output data without a start: subspace identification (Van Overschee and De
/// Moor, 1996). Future outputs are regressed on the past and on future inputs; what of the past carries over is the
/// state, and the singular values of that map tell how many states there are. Scaled units.
namespace gpilot::identify {

/// x' = A x + B c, y = C x + d, with a first state for each sequence.
struct LinearDynamics {
  Matrix A;   ///< [D x D]
  Matrix B;   ///< [D x P]
  Matrix C;   ///< [E x D]
  Vector d;   ///< [E]
  Matrix x0;  ///< [D x sequences]
  Matrix y0;  ///< [E x sequences] offset of each sequence, or [E x 0]: none

  Index order() const { return A.rows(); }
};

/// Outputs [E x n] along a series from the first state of every sequence.
Matrix simulate(const LinearDynamics& model, const ssm::Series& series);

struct Subspace {
  Vector singular_values;  ///< of the map from past to future, largest first
  Matrix observability;    ///< [E i x rank] columns (C; CA; ..) of unit length, in the same order
  Index outputs = 1;       ///< E
};

/// Outputs that are missing must not be many: only windows of 2 i complete rows count. Where these are too few, missing
/// outputs are interpolated first. `order` is that of the models wanted: where rows are few, i is as small as it
/// allows. Throws InputError when the rows are too few even so.
Subspace find_subspace(const ssm::Series& series, Index block_rows = 10, Index order = 1);

/// The model of an order. Poles beyond max_radius are pulled back to it; B, d and the first states follow by least
/// squares on the simulated outputs.
LinearDynamics realise(const Subspace& subspace, const ssm::Series& series, Index order, double max_radius,
                       bool offset_per_sequence = false);

}  // namespace gpilot::identify
