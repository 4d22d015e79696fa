#pragma once

#include "gpilot/plan/strategy.hpp"

namespace gpilot::plan {

struct SearchOptions {
  Index grid = 41;       ///< points over the box of one control, ends included
  Index starts = 48;     ///< points of a low-discrepancy sequence for more controls, beside corners and centre
  Index refined = 4;     ///< best points from which a local search starts
  int evaluations = 60;  ///< of one local search
  double tie = 1e-9;     ///< values this near to the best, relative to the spread of all values, are ties
};

/// The largest value over the box: all start points are evaluated, the best are refined by a bounded gradient search
/// (or a search without gradients), and among ties the lowest control is taken, first coordinate first. Deterministic.
/// A value that is not finite counts as the lowest; NumericalError if there is no other.
Choice maximise(const Criterion& criterion, const Box& box, const SearchOptions& options = {});

}  // namespace gpilot::plan
