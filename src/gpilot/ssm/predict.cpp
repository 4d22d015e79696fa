#include "gpilot/ssm/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "gpilot/core/distributions.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"
#include "gpilot/ssm/angles.hpp"
#include "gpilot/ssm/ensemble.hpp"
#include "gpilot/ssm/sensible.hpp"
#include "gpilot/ssm/structure.hpp"

namespace gpilot::ssm {

namespace {

constexpr Index kMostDraws = 1'000'000;

// Places in kQuantileLevels.
constexpr std::size_t kLow90 = 1;
constexpr std::size_t kMedian = 3;
constexpr std::size_t kHigh90 = 5;

/// How much less sure than at any training row, as a ratio of standard deviations of the function, a model is where its
/// data no longer support it. A linear model reaches 2 about twice as far out as its data, a Gaussian process within a
/// length scale of them. By feel; 1.5 to 3 would do.
constexpr double kSupportedRatio = 2.0;

/// Standard normal quantiles at kQuantileLevels.
const std::array<double, kQuantileLevels.size()>& normal_quantiles() {
  static const auto quantiles = [] {
    std::array<double, kQuantileLevels.size()> z{};
    std::ranges::transform(kQuantileLevels, z.begin(), normal_quantile);
    return z;
  }();
  return quantiles;
}

/// P(value < at) under an equal mixture of N(centres_n, sd^2).
double mixture_probability(VectorRef centres, double sd, double at) {
  double total = 0.0;
  for (const double centre : centres) {
    total += std::erfc((centre - at) / (sd * std::numbers::sqrt2));
  }
  return 0.5 * total / static_cast<double>(centres.size());
}

/// The quantile of an equal mixture of N(centres_n, sd^2); z is the standard normal one of the same level. Exact for
/// the given draws; sampling the noise would add its own error.
double mixture_quantile(VectorRef centres, double sd, double level, double z) {
  const auto excess = [&](double at) { return mixture_probability(centres, sd, at) - level; };
  // Every centre lies between the first and the last, so the quantile does between theirs.
  const double low = centres.minCoeff() + sd * z;
  const double high = centres.maxCoeff() + sd * z;
  const double excess_low = excess(low);
  const double excess_high = excess(high);
  if (excess_low >= 0.0) {  // by rounding, where the centres agree
    return low;
  }
  if (excess_high <= 0.0) {
    return high;
  }
  std::uintmax_t iterations = 60;
  const auto [left, right] = boost::math::tools::toms748_solve(
      excess, low, high, excess_low, excess_high, [sd](double a, double b) { return std::abs(b - a) < 1e-6 * sd; },
      iterations);
  return 0.5 * (left + right);
}

/// The outputs of an ensemble [draws x E], their spread about the median by the calibrated factors [E].
Matrix spread_outputs(const Ensemble& ensemble, const Vector& spread) {
  Matrix centres = ensemble.outputs();
  for (Index e = 0; e < centres.cols(); ++e) {
    if (spread(e) != 1.0) {
      const double middle = central(centres.col(e)).median;
      centres.col(e) = middle + spread(e) * (centres.col(e).array() - middle);
    }
  }
  return centres;
}

/// The outputs of an ensemble. The point prediction is the median, the standard deviation that of the normal
/// distribution with the same central 90 %: some draws of a function learned from little are unstable, and a mean over
/// draws is theirs alone. Trajectories that diverged count at the limit.
void set_mixture(const Ensemble& ensemble, const Filter& filter, const Vector& spread, VectorRef y, Index row,
                 Detail detail, Prediction& prediction) {
  const Parameters& p = filter.transition().parameters();
  const Matrix centres = spread_outputs(ensemble, spread);
  for (Index e = 0; e < centres.cols(); ++e) {
    const double noise_sd = spread(e) * std::exp(0.5 * p.log_r(e));
    for (std::size_t k = 0; k < kQuantileLevels.size(); ++k) {
      prediction.quantiles[k](row, e) =
          k == kMedian || detail == Detail::kDistribution
              ? mixture_quantile(centres.col(e), noise_sd, kQuantileLevels[k], normal_quantiles()[k])
              : kNaN;
    }
    prediction.mean(row, e) = prediction.quantiles[kMedian](row, e);
    prediction.sd(row, e) = (prediction.quantiles[kHigh90](row, e) - prediction.quantiles[kLow90](row, e)) /
                            (normal_quantiles()[kHigh90] - normal_quantiles()[kLow90]);
    const double measured = nearest_turn(y(e), prediction.mean(row, e), filter.turns()(e));
    prediction.pit(row, e) =
        std::isnan(y(e)) || detail == Detail::kPoint ? kNaN : mixture_probability(centres.col(e), noise_sd, measured);
  }
}

/// Marks rows that a step led to from where the data do not support the function, and all rows after them.
class Support {
 public:
  /// `variances` [G] are the largest of f at the training rows; empty: nothing is marked.
  Support(const Transition& transition, const Vector& variances, Prediction& prediction)
      : transition_(transition), variances_(variances), prediction_(prediction) {}

  void step(const Vector& x, VectorRef control, Index row) {
    if (variances_.size() == 0) {
      return;
    }
    Matrix point(1, x.size() + control.size());
    point << x.transpose(), control.transpose();
    transition_.moments(point, mean_, variance_);
    for (std::size_t g = 0; g < transition_.row_states().size(); ++g) {
      const double ratio = variance_(0, transition_.row_states()[g]) / variances_(static_cast<Index>(g));
      left_ = left_ || !(ratio <= kSupportedRatio * kSupportedRatio);  // NaN, too
    }
    prediction_.beyond[static_cast<std::size_t>(row)] = left_;
  }

 private:
  const Transition& transition_;
  const Vector& variances_;
  Prediction& prediction_;
  Matrix mean_, variance_;
  bool left_ = false;
};

/// One step of moment matching; a belief that would diverge stays where it is. Returns whether it moved.
bool advance(const Filter& filter, StateBelief& belief, VectorRef control) {
  StateBelief next = filter.predict(belief, control);
  if (!is_within(next.mean, next.covariance, prediction_limits(filter.transition().structure()))) {
    return false;
  }
  belief = std::move(next);
  return true;
}

void set_belief(const Filter& filter, const StateBelief& belief, const Vector& spread, VectorRef y, Index row,
                Prediction& prediction) {
  Vector mean;
  Vector variance;
  filter.outputs(belief, mean, variance);
  const Vector sd = spread.cwiseProduct(variance.cwiseSqrt());
  prediction.set_gaussian(row, mean, sd);
  for (Index e = 0; e < y.size(); ++e) {
    const double measured = nearest_turn(y(e), mean(e), filter.turns()(e));
    prediction.pit(row, e) =
        std::isnan(y(e)) ? y(e) : 0.5 * std::erfc((mean(e) - measured) / (sd(e) * std::numbers::sqrt2));
  }
}

void check_stop(const PredictOptions& options) {
  if (options.stop != nullptr && *options.stop) {
    throw Cancelled("the prediction was stopped");
  }
}

/// Adds the outputs of one row, of all draws, in the user's units.
void add_sampled_row(const Matrix& centres, const Vector& noise_sd, const Scaling& scaling,
                     std::vector<RandomStream>& noise, Index row, std::vector<Matrix>& samples) {
  for (std::size_t n = 0; n < samples.size(); ++n) {
    Vector y = centres.row(static_cast<Index>(n)).transpose();
    if (noise_sd.size() > 0) {
      y += noise_sd.cwiseProduct(noise[n].normal_vector(y.size()));
    }
    samples[n].row(row) = (scaling.output_offset + scaling.output_scale.cwiseProduct(y)).transpose();
  }
}

}  // namespace

void PredictOptions::validate(Index rows) const {
  if (warmup < 0 || warmup > rows) {
    throw InputError(fmt::format("warmup: {} rows, expected 0 to {}, the rows of the data", warmup, rows));
  }
  if (draws < 0 || draws > kMostDraws) {
    throw InputError(fmt::format("draws: {}, expected 0 (moment matching) to {}", draws, kMostDraws));
  }
}

Prediction Prediction::zero(Index rows, Index outputs) {
  Prediction p;
  p.mean.setZero(rows, outputs);
  p.sd.setZero(rows, outputs);
  p.turns.setZero(outputs);
  p.beyond.assign(static_cast<std::size_t>(rows), false);
  p.pit.setConstant(rows, outputs, kNaN);
  for (Matrix& quantile : p.quantiles) {
    quantile.setZero(rows, outputs);
  }
  return p;
}

void Prediction::set_gaussian(Index row, VectorRef row_mean, VectorRef row_sd) {
  mean.row(row) = row_mean.transpose();
  sd.row(row) = row_sd.transpose();
  for (std::size_t k = 0; k < quantiles.size(); ++k) {
    quantiles[k].row(row) = (row_mean + normal_quantiles()[k] * row_sd).transpose();
  }
}

Predictor::Predictor(const Model& model, const Dynamics& dynamics)
    : scaling_(model.scaling),
      dynamics_(dynamics),
      spread_(dynamics.spread.size() > 0 ? dynamics.spread : Vector(Vector::Ones(dynamics.structure.outputs))),
      transition_(dynamics.structure, dynamics.parameters, dynamics.weights),
      nodes_(gp::make_nodes(model.spec.nodes, dynamics.structure.states, model.spec.node_points, model.seed)) {}

Prediction Predictor::free_run(const Sequence& sequence, const PredictOptions& options, Detail detail) const {
  options.validate(sequence.rows());
  const Sequence s = checked(sequence);
  const Filter filter(transition_, nodes_);
  Prediction prediction = Prediction::zero(s.rows(), s.outputs.cols());
  const Vector unit = Vector::Ones(s.outputs.cols());
  const auto y = [&](Index t) { return Vector(s.outputs.row(t).transpose()); };
  StateBelief belief = filter.initial(s.broad_start);
  for (Index t = 0; t < options.warmup; ++t) {
    check_stop(options);
    if (t > 0) {
      advance(filter, belief, s.controls.row(t - 1).transpose());
    }
    filter.update(belief, s.outputs.row(t).transpose());
    set_belief(filter, belief, unit, y(t), t, prediction);
  }
  Support beyond(transition_, dynamics_.support, prediction);
  if (options.draws > 0) {
    DrawnFunctions functions(transition_, options.draws, options.seed);
    Ensemble ensemble(functions, belief, options.seed);
    for (Index t = options.warmup; t < s.rows(); ++t) {
      check_stop(options);
      if (t > 0) {
        Vector x(transition_.structure().states);
        for (Index d = 0; d < x.size(); ++d) {
          x(d) = central(ensemble.states().col(d)).median;
        }
        beyond.step(x, s.controls.row(t - 1).transpose(), t);
        ensemble.advance(s.controls.row(t - 1).transpose());
      }
      set_mixture(ensemble, filter, spread_, y(t), t, detail, prediction);
    }
    prediction.diverged = std::ranges::count(ensemble.diverged(), true);
  } else {
    for (Index t = options.warmup; t < s.rows(); ++t) {
      check_stop(options);
      if (t > 0) {
        beyond.step(belief.mean, s.controls.row(t - 1).transpose(), t);
        prediction.diverged |= advance(filter, belief, s.controls.row(t - 1).transpose()) ? 0 : 1;
      }
      set_belief(filter, belief, spread_, y(t), t, prediction);
    }
  }
  to_user(prediction);
  return prediction;
}

std::vector<Matrix> Predictor::sample(const Sequence& sequence, const PredictOptions& options, bool noise) const {
  options.validate(sequence.rows());
  if (options.draws < 1) {
    throw InputError(fmt::format("draws: {}, expected at least 1 to sample", options.draws));
  }
  const Sequence s = checked(sequence);
  const Filter filter(transition_, nodes_);
  const Parameters& p = transition_.parameters();
  const Vector output_sd = noise ? Vector((0.5 * p.log_r.array()).exp()) : Vector();
  std::vector<Matrix> samples(static_cast<std::size_t>(options.draws), Matrix(s.rows(), s.outputs.cols()));
  std::vector<RandomStream> streams;
  for (Index n = 0; n < options.draws; ++n) {
    streams.emplace_back(options.seed, Purpose::kOutputNoise, static_cast<std::uint32_t>(n));
  }
  DrawnFunctions functions(transition_, options.draws, options.seed);
  StateBelief belief = filter.initial(s.broad_start);
  for (Index t = 0; t < options.warmup; ++t) {
    check_stop(options);
    if (t > 0) {
      advance(filter, belief, s.controls.row(t - 1).transpose());
    }
    filter.update(belief, s.outputs.row(t).transpose());
    const Ensemble here(functions, belief, options.seed);
    add_sampled_row(here.outputs(), output_sd, scaling_, streams, t, samples);
  }
  Ensemble ensemble(functions, belief, options.seed);
  for (Index t = options.warmup; t < s.rows(); ++t) {
    check_stop(options);
    if (t > 0) {
      ensemble.advance(s.controls.row(t - 1).transpose());
    }
    add_sampled_row(spread_outputs(ensemble, spread_), noise ? Vector(spread_.cwiseProduct(output_sd)) : output_sd,
                    scaling_, streams, t, samples);
  }
  return samples;
}

Prediction Predictor::ahead(const Sequence& sequence, Index steps) const {
  if (steps < 1) {
    throw InputError(fmt::format("steps: {}, expected at least 1", steps));
  }
  const Sequence s = checked(sequence);
  const Filter filter(transition_, nodes_);
  Prediction prediction = Prediction::zero(s.rows(), s.outputs.cols());
  StateBelief filtered = filter.initial(s.broad_start);  // given the outputs up to row `seen`
  Index seen = -1;
  for (Index t = 0; t < s.rows(); ++t) {
    for (; seen < t - steps; ++seen) {
      if (seen >= 0) {
        advance(filter, filtered, s.controls.row(seen).transpose());
      }
      filter.update(filtered, s.outputs.row(seen + 1).transpose());
    }
    StateBelief belief = filtered;
    for (Index k = std::max<Index>(seen, 0); k < t; ++k) {
      if (!advance(filter, belief, s.controls.row(k).transpose())) {
        prediction.diverged = 1;
      }
    }
    set_belief(filter, belief, Vector::Ones(s.outputs.cols()), s.outputs.row(t).transpose(), t, prediction);
  }
  to_user(prediction);
  return prediction;
}

Sequence Predictor::checked(const Sequence& sequence) const {
  const Structure& s = transition_.structure();
  const Index controls = scaling_.control_offset.size();
  if (sequence.controls.cols() != controls || sequence.outputs.cols() != s.outputs) {
    throw InputError(fmt::format("data: {} controls and {} outputs, the model has {} and {}", sequence.controls.cols(),
                                 sequence.outputs.cols(), controls, s.outputs));
  }
  if (sequence.rows() < 1 || sequence.controls.rows() != sequence.rows()) {
    throw InputError(fmt::format("data: {} rows of controls and {} rows of outputs, expected as many, at least 1",
                                 sequence.controls.rows(), sequence.rows()));
  }
  for (Index t = 0; t + 1 < sequence.rows(); ++t) {
    if (!sequence.controls.row(t).allFinite()) {
      throw InputError(fmt::format("data: a control is missing in row {} (only the last row's may be)", t));
    }
  }
  if (sequence.outputs.array().isInf().any()) {
    throw InputError("data: an output is infinite");
  }
  return dynamics_.delayed(scaling_.to_scaled(sequence));
}

void Predictor::to_user(Prediction& prediction) const {
  const auto scale = scaling_.output_scale.asDiagonal();
  const auto shift = [&](Matrix& values) {
    values = values * scale;
    values.rowwise() += scaling_.output_offset.transpose();
  };
  shift(prediction.mean);
  prediction.sd = prediction.sd * scale;
  prediction.turns =
      scaling_.output_scale.cwiseProduct(output_turns(transition_.structure().angles, transition_.parameters().C));
  for (Matrix& quantile : prediction.quantiles) {
    shift(quantile);
  }
}

}  // namespace gpilot::ssm
