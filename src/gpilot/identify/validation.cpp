#include "gpilot/identify/validation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpilot/ssm/scaling.hpp"

namespace gpilot::identify {

namespace {

constexpr Index kQuarters = 4;
/// Rows that structures are judged by, and those of a stretch: enough for the slowest motion that matters, and for
/// three of them. By feel: that 20,000 rows take a minute, not by how often the choice stays the same.
constexpr Index kJudgedRows = 1500;
constexpr Index kStretch = 500;

/// A stretch in which an output is missing nearly everywhere tells nothing of it.
bool too_empty(const ssm::Sequence& sequence, const Block& s) {
  const auto rows = sequence.outputs.middleRows(s.begin, s.end - s.begin);
  return (rows.array().isNaN().colwise().count() > (s.end - s.begin) / 2).any();
}

}  // namespace

std::vector<Fold> quarter_folds(const ssm::Dataset& data) {
  std::vector<Fold> folds;
  for (Index quarter = 1; quarter < kQuarters; ++quarter) {
    Fold fold{data, {}};
    for (std::size_t k = 0; k < data.size(); ++k) {
      const Index rows = data[k].rows();
      if (rows < kShortestValidated) {
        continue;
      }
      const Block block{k, rows * quarter / kQuarters, rows * (quarter + 1) / kQuarters};
      fold.training[k].outputs.middleRows(block.begin, block.end - block.begin).setConstant(kNaN);
      fold.blocks.push_back(block);
    }
    if (!fold.blocks.empty()) {
      folds.push_back(std::move(fold));
    }
  }
  return folds;
}

ssm::Dataset judged_part(const ssm::Dataset& data) {
  Index rows = 0;
  std::vector<Block> stretches;
  for (std::size_t k = 0; k < data.size(); ++k) {
    const Index length = data[k].rows();
    const Index count = std::max<Index>(1, length / kStretch);  // the rest goes to the last
    for (Index i = 0; i < count; ++i) {
      stretches.push_back({k, length * i / count, length * (i + 1) / count});
    }
    rows += length;
  }
  if (rows <= kJudgedRows + kStretch) {
    return {};
  }
  std::erase_if(stretches, [&data](const Block& s) { return too_empty(data[s.sequence], s); });
  const auto wanted = static_cast<std::size_t>(std::ceil(
      static_cast<double>(kJudgedRows) / (static_cast<double>(rows) / static_cast<double>(stretches.size()))));
  if (stretches.size() <= wanted || wanted < 2) {
    return {};
  }
  ssm::Dataset part;
  for (std::size_t i = 0; i < wanted; ++i) {
    const Block& s = stretches[i * (stretches.size() - 1) / (wanted - 1)];
    const ssm::Sequence& whole = data[s.sequence];
    part.push_back({whole.controls.middleRows(s.begin, s.end - s.begin),
                    whole.outputs.middleRows(s.begin, s.end - s.begin), whole.broad_start || s.begin > 0});
  }
  return part;
}

std::vector<Fold> half_fold(const ssm::Dataset& data) {
  Fold fold{data, {}};
  for (std::size_t k = 0; k < data.size(); ++k) {
    const Index rows = data[k].rows();
    if (rows >= kShortestValidated) {
      fold.training[k] = {data[k].controls.topRows(rows / 2), data[k].outputs.topRows(rows / 2), data[k].broad_start};
      fold.blocks.push_back({k, rows / 2, rows});
    }
  }
  return fold.blocks.empty() ? std::vector<Fold>{} : std::vector<Fold>{std::move(fold)};
}

double ValidationErrors::mean_square() const {
  return count > 0 ? squares / static_cast<double>(count) : std::numeric_limits<double>::infinity();
}

void ValidationErrors::add(const ValidationErrors& other) {
  const auto append = [](std::vector<std::vector<double>>& to, const std::vector<std::vector<double>>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t e = 0; e < from.size(); ++e) {
      to[e].insert(to[e].end(), from[e].begin(), from[e].end());
    }
  };
  append(absolute, other.absolute);
  append(sd, other.sd);
  squares += other.squares;
  count += other.count;
}

BaselineErrors baseline_errors(const ssm::Dataset& data, const std::vector<Fold>& folds, const Vector& unit) {
  double hold_squares = 0.0;
  double mean_squares = 0.0;
  Index count = 0;
  for (const Fold& fold : folds) {
    for (Index e = 0; e < unit.size(); ++e) {
      double mean = 0.0;
      double sd = 0.0;
      ssm::column_statistics(fold.training, e, 0.0, mean, sd);
      for (const Block& block : fold.blocks) {
        const auto y = data[block.sequence].outputs.col(e);
        double held = mean;
        for (Index t = 0; t < block.begin; ++t) {
          held = std::isnan(y(t)) ? held : y(t);
        }
        for (Index t = block.begin; t < block.end; ++t) {
          if (!std::isnan(y(t))) {
            hold_squares += std::pow((y(t) - held) / unit(e), 2);
            mean_squares += std::pow((y(t) - mean) / unit(e), 2);
            ++count;
          }
        }
      }
    }
  }
  const auto n = static_cast<double>(std::max<Index>(1, count));
  return {.hold = std::sqrt(hold_squares / n), .mean = std::sqrt(mean_squares / n)};
}

ValidationErrors validate(const ssm::ModelSpec& spec, const ssm::Scaling& scaling, const ssm::Dynamics& dynamics,
                          const ssm::Dataset& data, const Fold& fold, const Vector& unit, std::uint64_t seed,
                          ssm::Detail detail, Index draws) {
  ssm::Model model;
  model.spec = spec;
  model.scaling = scaling;
  model.seed = seed;
  const ssm::Predictor predictor(model, dynamics);
  draws = dynamics.structure.inducing > 0 ? draws : 0;
  ValidationErrors errors;
  errors.absolute.resize(static_cast<std::size_t>(unit.size()));
  errors.sd.resize(static_cast<std::size_t>(unit.size()));
  for (const Block& block : fold.blocks) {
    // Rows before the block, all of them training rows of the fold, then the block: nothing after it.
    const ssm::Sequence& whole = data[block.sequence];
    const ssm::Sequence part{whole.controls.topRows(block.end), whole.outputs.topRows(block.end), whole.broad_start};
    const ssm::Prediction run = predictor.free_run(part, {.warmup = block.begin, .draws = draws, .seed = seed}, detail);
    for (Index e = 0; e < unit.size(); ++e) {
      const auto k = static_cast<std::size_t>(e);
      for (Index t = block.begin; t < block.end; ++t) {
        const double error = part.outputs(t, e) - run.mean(t, e);
        if (std::isnan(part.outputs(t, e))) {
          continue;
        }
        errors.absolute[k].push_back(std::abs(error) / unit(e));
        errors.sd[k].push_back(run.sd(t, e) / unit(e));
        errors.squares += error * error / (unit(e) * unit(e));
        ++errors.count;
      }
    }
  }
  return errors;
}

}  // namespace gpilot::identify
