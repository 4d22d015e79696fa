#pragma once

#include <cstdint>
#include <vector>

#include "gpilot/ssm/model.hpp"
#include "gpilot/ssm/predict.hpp"
#include "gpilot/ssm/scaling.hpp"

/// Validation by free runs inside the training rows. Every fold leaves outputs out, so that a model trained on it knows
/// nothing of them, and runs free over just those rows from the filtered state before them.
namespace gpilot::identify {

/// Rows [begin, end) of a sequence.
struct Block {
  std::size_t sequence = 0;
  Index begin = 0;
  Index end = 0;
};

struct Fold {
  ssm::Dataset training;      ///< user units; left-out outputs are NaN, or their rows are not there
  std::vector<Block> blocks;  ///< what was left out
};

/// Sequences of at least this many rows take part in validation.
inline constexpr Index kShortestValidated = 40;

/// Three folds: the second, third and last quarter of every sequence that is long enough. Empty when none is.
std::vector<Fold> quarter_folds(const ssm::Dataset& data);

/// What structures are judged by where there are many rows: stretches of them that are spread evenly. Longer data
/// sharpen a model, but hardly the choice between structures. Empty: all rows.
ssm::Dataset judged_part(const ssm::Dataset& data);

/// One fold that is the task itself: trained on the first half of every sequence, it runs over the second.
std::vector<Fold> half_fold(const ssm::Dataset& data);

/// Errors of free runs, in units of the training outputs' standard deviations.
struct ValidationErrors {
  std::vector<std::vector<double>> absolute;  ///< per output: |error|
  std::vector<std::vector<double>> sd;        ///< per output: predicted
  double squares = 0.0;
  Index count = 0;

  double mean_square() const;
  void add(const ValidationErrors& other);
};

/// What takes no model, over the same left-out rows: root mean squared errors in units of the training outputs'
/// standard deviations.
struct BaselineErrors {
  double hold = 0.0;  ///< of holding the last value measured before them
  double mean = 0.0;  ///< of the mean of the fold's training rows
};

BaselineErrors baseline_errors(const ssm::Dataset& data, const std::vector<Fold>& folds, const Vector& unit);

inline constexpr Index kValidationDraws = 32;  ///< of a model with a Gaussian process; a linear one needs none

/// Free runs of dynamics trained on a fold. `scaling` is the fold's, `unit` [E] the outputs' standard deviations. Where
/// the runs give the point prediction alone, `sd` of a Gaussian process is NaN.
ValidationErrors validate(const ssm::ModelSpec& spec, const ssm::Scaling& scaling, const ssm::Dynamics& dynamics,
                          const ssm::Dataset& data, const Fold& fold, const Vector& unit, std::uint64_t seed,
                          ssm::Detail detail, Index draws = kValidationDraws);

}  // namespace gpilot::identify
