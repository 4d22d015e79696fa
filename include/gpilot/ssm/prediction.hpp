#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"

/// Predictions of new sequences, and how good they are, beside what a mean and a linear model would have said. User
/// units.
namespace gpilot::ssm {

struct Model;

/// Bounds of the central 50, 90 and 95 % intervals, and the median.
inline constexpr std::array<double, 7> kQuantileLevels{0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975};

struct PredictOptions {
  Index warmup = 0;                         ///< rows at the beginning whose outputs are used
  Index draws = 200;                        ///< function draws; 0 is moment matching
  std::uint64_t seed = 0;                   ///< of the draws
  const std::atomic<bool>* stop = nullptr;  ///< when it becomes true, the prediction ends with Cancelled

  /// Throws InputError naming the field; `rows` is the length of the sequence.
  void validate(Index rows) const;
};

/// The outputs' distribution in every row, output noise included.
struct Prediction {
  /// [rows x E] the point prediction and its standard deviation. Of draws they are the median and what the central
  /// 90 % say: a draw that diverges does not move them.
  Matrix mean, sd;
  std::array<Matrix, kQuantileLevels.size()> quantiles;  ///< [rows x E] each
  Matrix pit;  ///< [rows x E] probability integral transform: P(output below what was measured); NaN: not measured
  /// [E] a full turn of outputs that are angles, 0 of others: a measured angle is compared by its turn nearest to the
  /// mean, which counts turns.
  Vector turns;
  /// [rows] whether the free run has left what the training data support, in the kernel's terms: from there on it
  /// extrapolates.
  std::vector<bool> beyond;
  Index diverged = 0;  ///< draws that left every sensible range (moment matching: 1 if the belief did)

  static Prediction zero(Index rows, Index outputs);
  /// Sets a row to a Gaussian.
  void set_gaussian(Index row, VectorRef row_mean, VectorRef row_sd);
};

/// The learned x_{t+1} given x_t and c_t: what is known about the function, process noise apart.
struct NextState {
  Matrix mean;  ///< [N x D]
  Matrix sd;    ///< [N x D]
};

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
Score score(const Prediction& prediction, MatrixRef truth, Index first_row = 0);

/// The baseline that knows nothing but the training outputs' mean and standard deviation.
Prediction predict_mean(const Model& model, Index rows);

/// A model beside its baselines, all on the same rows: those after the warm-up.
struct Scoreboard {
  Score free_run, one_step;
  Score mean;
  Score hold;  ///< of holding the last value measured in the warm-up; errors and counts alone, it has no distribution
  Score linear_free_run, linear_one_step;
  Index diverged = 0;  ///< draws of the model's free run that diverged
  Index beyond = 0;    ///< rows of the model's free run that the training data do not support (Prediction::beyond)
  Matrix residuals{};  ///< [rows x E] errors one step ahead in units of their sd; NaN: not measured, or warm-up
};

/// Throws InputError when no output was measured after the warm-up.
Scoreboard score_model(const Model& model, const Sequence& sequence, const PredictOptions& options);

}  // namespace gpilot::ssm
