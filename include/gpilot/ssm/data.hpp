#pragma once

#include <vector>

#include "gpilot/core/types.hpp"

namespace gpilot::ssm {

/// One recording: rows t = 0..T. A NaN output is a missing measurement; the last row's controls are not used.
struct Sequence {
  Matrix controls;  ///< [T + 1 x P]
  Matrix outputs;   ///< [T + 1 x E]
  /// The state of its first row may be anywhere; otherwise it has the declared prior p(x_0).
  bool broad_start = false;

  Index rows() const { return outputs.rows(); }
};

using Dataset = std::vector<Sequence>;

}  // namespace gpilot::ssm
