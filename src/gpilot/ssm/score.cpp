#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpilot/core/error.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/prediction.hpp"

namespace gpilot::ssm {

namespace {

/// Positions in kQuantileLevels of the lower bounds of kIntervals; the upper bounds stand as far from the end.
constexpr std::array<std::size_t, kIntervals.size()> kLowerBound{2, 1, 0};
static_assert(ssm::kQuantileLevels[2] == 0.25 && ssm::kQuantileLevels[1] == 0.05 && ssm::kQuantileLevels[0] == 0.025);

void score_output(const ssm::Prediction& p, MatrixRef truth, Index first_row, Index e, Score& score) {
  std::array<Index, kIntervals.size()> inside{};
  Index count = 0;
  double squares = 0.0;
  double surprise = 0.0;
  Vector pit = Vector::Zero(kPitBins);
  Index judged = 0;
  for (Index t = first_row; t < truth.rows(); ++t) {
    if (std::isnan(truth(t, e))) {
      continue;
    }
    ++count;
    const double y = ssm::nearest_turn(truth(t, e), p.mean(t, e), p.turns(e));
    const double error = y - p.mean(t, e);
    const double z = error / p.sd(t, e);
    squares += error * error;
    surprise += 0.5 * (std::log(2.0 * std::numbers::pi) + z * z) + std::log(p.sd(t, e));
    for (std::size_t k = 0; k < kIntervals.size(); ++k) {
      const Matrix& lower = p.quantiles[kLowerBound[k]];
      const Matrix& upper = p.quantiles[p.quantiles.size() - 1 - kLowerBound[k]];
      inside[k] += lower(t, e) <= y && y <= upper(t, e) ? 1 : 0;
    }
    if (p.pit.size() > 0 && !std::isnan(p.pit(t, e))) {
      pit(std::min(kPitBins - 1, static_cast<Index>(p.pit(t, e) * static_cast<double>(kPitBins)))) += 1.0;
      ++judged;
    }
  }
  score.count[static_cast<std::size_t>(e)] = count;
  if (count == 0) {
    return;
  }
  const auto n = static_cast<double>(count);
  score.rmse(e) = std::sqrt(squares / n);
  score.nlpd(e) = surprise / n;
  if (judged > 0) {
    score.pit.row(e) = pit.transpose() / static_cast<double>(judged);
  }
  for (std::size_t k = 0; k < kIntervals.size(); ++k) {
    score.coverage(e, static_cast<Index>(k)) = static_cast<double>(inside[k]) / n;
  }
}

}  // namespace

Score score(const ssm::Prediction& prediction, MatrixRef truth, Index first_row) {
  const Index E = truth.cols();
  if (prediction.mean.rows() != truth.rows() || prediction.mean.cols() != E) {
    throw InputError(fmt::format("score: {} x {} predicted values for {} x {} outputs", prediction.mean.rows(),
                                 prediction.mean.cols(), truth.rows(), E));
  }
  Score result{std::vector<Index>(static_cast<std::size_t>(E)), Vector::Constant(E, kNaN), Vector::Constant(E, kNaN),
               Matrix::Constant(E, kIntervals.size(), kNaN), Matrix::Constant(E, kPitBins, kNaN)};
  for (Index e = 0; e < E; ++e) {
    score_output(prediction, truth, first_row, e, result);
  }
  return result;
}

ssm::Prediction predict_mean(const ssm::Model& model, Index rows) {
  ssm::Prediction prediction = ssm::Prediction::zero(rows, model.output_mean.size());
  prediction.turns =
      model.scaling.output_scale.cwiseProduct(ssm::output_turns(model.gp.structure.angles, model.gp.parameters.C));
  for (Index t = 0; t < rows; ++t) {
    prediction.set_gaussian(t, model.output_mean, model.output_sd);
  }
  return prediction;
}

namespace {

/// Of holding the last value that was measured before `first_row`, or the training mean where there is none.
Score score_hold(const ssm::Model& model, MatrixRef truth, Index first_row) {
  ssm::Prediction held = predict_mean(model, truth.rows());
  for (Index e = 0; e < truth.cols(); ++e) {
    for (Index t = 0; t < first_row; ++t) {
      if (!std::isnan(truth(t, e))) {
        held.mean.col(e).setConstant(truth(t, e));
      }
    }
  }
  Score result = score(held, truth, first_row);
  result.nlpd.setConstant(kNaN);
  result.coverage.setConstant(kNaN);
  return result;
}

/// Errors in units of the predicted sd; NaN before `first_row` and where nothing was measured.
Matrix standardised(const ssm::Prediction& p, MatrixRef truth, Index first_row) {
  Matrix residuals = Matrix::Constant(truth.rows(), truth.cols(), kNaN);
  for (Index e = 0; e < truth.cols(); ++e) {
    for (Index t = first_row; t < truth.rows(); ++t) {
      residuals(t, e) = (ssm::nearest_turn(truth(t, e), p.mean(t, e), p.turns(e)) - p.mean(t, e)) / p.sd(t, e);
    }
  }
  return residuals;
}

}  // namespace

Scoreboard score_model(const ssm::Model& model, const ssm::Sequence& sequence, const ssm::PredictOptions& options) {
  options.validate(sequence.rows());
  const Matrix& y = sequence.outputs;
  if (y.bottomRows(y.rows() - options.warmup).array().isNaN().all()) {
    throw InputError(
        fmt::format("nothing to score: no output was measured after the {} warm-up row(s)", options.warmup));
  }
  const ssm::Predictor gp(model, model.gp);
  const ssm::Predictor linear(model, model.linear);
  const ssm::Prediction run = gp.free_run(sequence, options);
  const ssm::Prediction ahead = gp.ahead(sequence, 1);
  return {.free_run = score(run, y, options.warmup),
          .one_step = score(ahead, y, options.warmup),
          .mean = score(predict_mean(model, y.rows()), y, options.warmup),
          .hold = score_hold(model, y, options.warmup),
          .linear_free_run = score(linear.free_run(sequence, options), y, options.warmup),
          .linear_one_step = score(linear.ahead(sequence, 1), y, options.warmup),
          .diverged = run.diverged,
          .beyond = std::ranges::count(run.beyond, true),
          .residuals = standardised(ahead, y, options.warmup)};
}

}  // namespace gpilot::ssm
