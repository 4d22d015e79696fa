#pragma once

#include <vector>

#include "gpilot/types.hpp"

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

/// Several sequences laid end to end, one column a row of data: what the bound works on.
/// A row t is either the first of its sequence or has the predecessor t - 1.
struct Series {
  Matrix controls;           ///< [P x n]; never NaN (a missing last control is 0)
  Matrix outputs;            ///< [E x n]; NaN = missing
  std::vector<bool> first;   ///< [n]
  std::vector<bool> broad;   ///< [n] first rows whose state may be anywhere
  std::vector<Index> start;  ///< first row of each sequence, then n

  Index rows() const { return outputs.cols(); }
  Index sequences() const { return static_cast<Index>(start.size()) - 1; }
  Index transitions() const { return rows() - sequences(); }
};

/// Throws InputError when shapes differ between sequences, a control that is used is not finite, an output is infinite,
/// or a sequence has fewer than two rows.
Series concatenate(const Dataset& data);

}  // namespace gpilot::ssm
