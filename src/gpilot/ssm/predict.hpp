#pragma once

#include <array>
#include <cstdint>

#include "gpilot/gp/nodes.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/transition.hpp"
#include "gpilot/types.hpp"

/// Prediction of new sequences by a trained model. User units in and out.
///
/// Two ways to run ahead of the data. *Moment matching* replaces the state by a Gaussian after every step and, since it
/// integrates the function out anew at each step, forgets that it is one and the same function along the path.
/// *Function draws* keep that: every trajectory belongs to one draw of f, so that what is uncertain about f adds up
/// over the steps as it should and the spread may be skewed or have several peaks.
namespace gpilot::ssm {

/// Bounds of the central 50, 90 and 95 % intervals, and the median.
inline constexpr std::array<double, 7> kQuantileLevels{0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975};

struct PredictOptions {
  Index warmup = 0;        ///< rows at the beginning whose outputs are used
  Index draws = 200;       ///< function draws; 0 is moment matching
  std::uint64_t seed = 0;  ///< of the draws

  /// Throws InputError naming the field; `rows` is the length of the sequence.
  void validate(Index rows) const;
};

/// The outputs' distribution in every row, output noise included.
struct Prediction {
  Matrix mean, sd;                                       ///< [rows x E]
  std::array<Matrix, kQuantileLevels.size()> quantiles;  ///< [rows x E] each
  Matrix pit;  ///< [rows x E] probability integral transform: P(output below what was measured); NaN: not measured
  /// [E] a full turn of outputs that are angles, 0 of others: a measured angle is compared by its turn nearest to the
  /// mean, which counts turns.
  Vector turns;
  Index diverged = 0;  ///< draws that left every sensible range (moment matching: 1 if the belief did)

  static Prediction zero(Index rows, Index outputs);
  /// Sets a row to a Gaussian.
  void set_gaussian(Index row, VectorRef row_mean, VectorRef row_sd);
};

/// Predicts with one component of a model: its GP or its linear baseline. Complete in itself. The spread of free runs
/// is the calibrated one (Component::spread), draws about their mean and noise alike; filtered rows and ahead() are as
/// the model has it.
class Predictor {
 public:
  Predictor(const Model& model, const Component& component);

  /// Rows before `warmup` hold the filtered estimate, which has seen their outputs; later rows use the controls alone.
  /// Without a warm-up the run begins with p(x_0), and row 0 is predicted from it.
  Prediction free_run(const Sequence& sequence, const PredictOptions& options) const;

  /// Row t is predicted from the outputs up to row t - steps (from p(x_0) where there are none); moment matching.
  Prediction ahead(const Sequence& sequence, Index steps) const;

 private:
  Sequence checked(const Sequence& sequence) const;
  void to_user(Prediction& prediction) const;

  Scaling scaling_;
  Component component_;
  Vector spread_;  ///< [E]
  Transition transition_;
  gp::Nodes nodes_;
};

}  // namespace gpilot::ssm
