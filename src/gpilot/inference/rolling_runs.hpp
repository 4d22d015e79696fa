#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/posterior.hpp"
#include "gpilot/ssm/series.hpp"

namespace gpilot::inference {

/// Errors of free runs over rows that the function had not learned from. From rows k spread over the series the model
/// runs free for up to H rows, from the filtered belief at k; its function is that of the rows up to k alone, whose
/// states are smoothed anew, with the parameters (noises, kernel, inducing points) of all rows. That is a few
/// evaluations of the bound and no training, and it shows what matters: whether what was learned carries over to rows
/// that come later. Beside it stands holding the last measured value. Scaled units; an error counts at most
/// kFarthestError, so that one diverging run does not decide.
struct RollingRuns {
  Matrix squares;       ///< [H x E] sum of squared errors, a row for each step ahead
  Matrix hold_squares;  ///< [H x E] the same of holding the last value
  Matrix counts;        ///< [H x E] values compared
  Matrix surprise;      ///< [values x E] (error / predicted sd) in the order of runs and rows; NaN: not measured
  Index runs = 0;
  std::vector<double> run_squares, run_counts;  ///< [runs] sums over each

  /// Pooled over outputs and steps ahead; NaN if nothing was compared.
  double rmse() const;
  /// The same for each step ahead, as far as anything was compared; of the model, and of holding the last value.
  std::vector<double> rmse_by_step() const;
  std::vector<double> hold_rmse_by_step() const;
};

/// Factor on the standard deviations of free runs [E] with which 90 % of the errors of these runs would have been
/// within the central 90 % intervals, drawn towards 1 where there are few values. Empty if there were no runs.
Vector calibrated_spread(const RollingRuns& runs);

struct RollingOptions {
  Index horizon = 10;  ///< H
  Index runs = 12;     ///< at most; the first begins when a third of the rows are known
  int threads = 1;
};

RollingRuns rolling_runs(const ssm::Dynamics& dynamics, const ssm::StatePosterior& q, const ssm::Series& series,
                         const gp::Nodes& nodes, const RollingOptions& options = {});

}  // namespace gpilot::inference
