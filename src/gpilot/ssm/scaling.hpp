#pragma once

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/spec.hpp"

namespace gpilot::ssm {

/// user = offset + scale * scaled, per column.
struct Scaling {
  Vector control_offset, control_scale;  ///< [P]
  Vector output_offset, output_scale;    ///< [E]
  Vector state_offset, state_scale;      ///< [D]

  Sequence to_scaled(const Sequence& user) const;
  /// Scaled units that are the user's.
  static Scaling identity(const ModelSpec& spec);
};

/// Mean and standard deviation of output `e` over all rows that have it (user units). Of an angle, with a `turn` that
/// is not 0, both are taken over the turn about the mean direction.
void column_statistics(const Dataset& data, Index e, double turn, double& mean, double& sd);

/// Scales from declared ranges or training statistics. Observed states (a row of C that is a unit vector) carry their
/// output's scale, a declared derivative the spread of its position's rate of change, any other state its declared
/// range; without one it is scaled already. With odd functions offsets are their centres.
Scaling make_scaling(const ModelSpec& spec, const Dataset& data);

}  // namespace gpilot::ssm
