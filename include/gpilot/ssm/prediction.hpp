#pragma once

#include <array>
#include <vector>

#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/types.hpp"

/// How good predictions are, beside what a mean and a linear model would have said. User units.
namespace gpilot::study {

/// Central intervals whose coverage is measured, in percent.
inline constexpr std::array<int, 3> kIntervals{50, 90, 95};

/// Bins of the histogram of probability integral transforms, of equal width over [0, 1].
inline constexpr Index kPitBins = 10;

/// A predictor's score over the rows where an output was measured. NaN for an output without any.
struct Score {
  std::vector<Index> count;  ///< [E] values compared
  Vector rmse;               ///< [E] root of the mean squared error of the mean
  Vector nlpd;               ///< [E] mean negative log density per value of N(mean, sd^2)
  Matrix coverage;           ///< [E x intervals] share of the values inside kIntervals, between the quantiles
  Matrix pit = {};           ///< [E x kPitBins] share of the values by P(output below it): flat if calibrated
};

/// Scores the rows from `first_row` on; an output that is NaN in `truth` [rows x E] is left out, one that is an angle
/// counts by its turn nearest to the mean.
/// Throws InputError when the shapes differ.
Score score(const ssm::Prediction& prediction, MatrixRef truth, Index first_row = 0);

/// The baseline that knows nothing but the training outputs' mean and standard deviation.
ssm::Prediction predict_mean(const ssm::Model& model, Index rows);

/// A model beside its baselines, all on the same rows: those after the warm-up.
struct Scoreboard {
  Score free_run, one_step;
  Score mean;
  Score linear_free_run, linear_one_step;
  Index diverged = 0;  ///< draws of the model's free run that diverged
};

/// Throws InputError when no output was measured after the warm-up.
Scoreboard score_model(const ssm::Model& model, const ssm::Sequence& sequence, const ssm::PredictOptions& options);

}  // namespace gpilot::study
