#pragma once

#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/prediction.hpp"
#include "gpilot/ssm/scaling.hpp"
#include "gpilot/ssm/transition.hpp"

/// Prediction of new sequences by a trained model. User units in and out.
///
/// Two ways to run ahead of the data. *Moment matching* replaces the state by a Gaussian after every step and, since it
/// integrates the function out anew at each step, forgets that it is one and the same function along the path.
/// *Function draws* keep that: every trajectory belongs to one draw of f, so that what is uncertain about f adds up
/// over the steps as it should and the spread may be skewed or have several peaks.
namespace gpilot::ssm {

/// What a free run by function draws says of a row. Quantiles of a mixture take longer than its trajectories.
enum class Detail {
  kDistribution,  ///< all of it
  kPoint,         ///< the point prediction alone; the rest is NaN
};

/// Predicts with the dynamics of a model: its GP or its linear baseline. Complete in itself. The spread of free runs
/// is the calibrated one (Dynamics::spread), draws about their mean and noise alike; filtered rows and ahead() keep
/// the spread of the model.
class Predictor {
 public:
  Predictor(const Model& model, const Dynamics& dynamics);

  /// Rows before `warmup` hold the filtered estimate, which has seen their outputs; later rows use the controls alone.
  /// Without a warm-up the run begins with p(x_0), and row 0 is predicted from it.
  Prediction free_run(const Sequence& sequence, const PredictOptions& options, Detail detail) const;
  Prediction free_run(const Sequence& sequence, const PredictOptions& options) const {
    return free_run(sequence, options, Detail::kDistribution);
  }

  /// The runs that free_run() makes its distribution of: for each draw the outputs [rows x E], with their measurement
  /// noise unless `noise` is false. Rows before the warm-up are draws of the filtered outputs, row by row.
  std::vector<Matrix> sample(const Sequence& sequence, const PredictOptions& options, bool noise) const;

  /// Row t is predicted from the outputs up to row t - steps (from p(x_0) where there are none); moment matching.
  Prediction ahead(const Sequence& sequence, Index steps) const;

 private:
  Sequence checked(const Sequence& sequence) const;
  void to_user(Prediction& prediction) const;

  Scaling scaling_;
  Dynamics dynamics_;
  Vector spread_;  ///< [E]
  Transition transition_;
  gp::Nodes nodes_;
};

}  // namespace gpilot::ssm
