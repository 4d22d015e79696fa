#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"

namespace gpilot::ssm {

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
