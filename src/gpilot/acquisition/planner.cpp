#include "gpilot/acquisition/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gpilot/error.hpp"
#include "gpilot/random.hpp"

namespace gpilot::acquisition {

namespace {

constexpr Index kGeneration = 32;  ///< plans in lock step
constexpr Index kElites = 6;
constexpr Index kNearBest = 8;         ///< plans of a generation that vary the best one
constexpr double kLeastSpread = 0.02;  ///< of the box

class Search {
 public:
  Search(const Situation& situation, const std::vector<gp::PackedPosterior>& uncertainty, PlanCriterion& criterion)
      : situation_(situation),
        options_(situation.planning),
        criterion_(criterion),
        paths_(situation, uncertainty, options_.rows(situation.box.low.size())),
        P_(situation.box.low.size()),
        H_(options_.rows(P_)),
        blocks_((H_ + options_.hold - 1) / options_.hold),
        random_(situation.seed, Purpose::kPlanner, situation.trial, situation.step) {
    const Box& box = whole_box();
    low_ = box.low;
    width_ = box.high - box.low;
  }

  Plan run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto late = [&] {
      return options_.milliseconds > 0.0 &&
             std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() >
                 options_.milliseconds;
    };
    for (Index generation = 0; tried_ < options_.evaluations && (generation == 0 || !late()); ++generation) {
      const Index size = std::min<Index>(kGeneration, options_.evaluations - tried_);
      Matrix unit(blocks_ * P_, size);
      // Whole generations are drawn, whatever part of them is evaluated, and the numbers are the same for any budget.
      const Matrix drawn = generation == 0 ? first_generation() : next_generation(generation);
      unit = drawn.leftCols(size);
      evaluate(unit);
    }
    const Elite& best = elites_.front();
    return {.controls = Eigen::Map<const Matrix>(best.plan.data(), P_, H_).transpose(),
            .value = best.sensible ? best.value : std::numeric_limits<double>::quiet_NaN(),
            .evaluations = static_cast<int>(tried_)};
  }

 private:
  struct Elite {
    Vector unit;           ///< [blocks P]
    Vector plan;           ///< [P H]
    bool sensible = true;  ///< its path stays within the model; otherwise the value is how far it does
    double value = 0.0;

    bool better_than(const Elite& other) const { return sensible != other.sensible ? sensible : value > other.value; }
  };

  const Box& whole_box() const { return situation_.whole_box != nullptr ? *situation_.whole_box : situation_.box; }

  /// Controls of the plan that a point of the unit box stands for, inside box and slew limits.
  Vector expand(VectorRef unit) const {
    Vector plan(P_ * H_);
    for (Index t = 0; t < H_; ++t) {
      const auto u = unit.segment((t / options_.hold) * P_, P_);
      Vector c = low_ + width_.cwiseProduct(u);
      if (t == 0) {
        c = c.cwiseMax(situation_.box.low).cwiseMin(situation_.box.high);
      } else if (situation_.slew != nullptr) {
        const Vector before = plan.segment((t - 1) * P_, P_);
        c = c.cwiseMax(before - *situation_.slew).cwiseMin(before + *situation_.slew);
      }
      plan.segment(t * P_, P_) = c;
    }
    return plan;
  }

  /// The previous plan, if there is one, and sequences that hold values or extremes of the box for a while.
  Matrix first_generation() {
    Matrix unit(blocks_ * P_, kGeneration);
    for (Index n = 0; n < kGeneration; ++n) {
      Vector c(P_);
      Index held = 0;
      const Index longest = 1 + random_.index(std::max<Index>(blocks_, 1));
      for (Index b = 0; b < blocks_; ++b) {
        if (held == 0) {
          held = 1 + random_.index(longest);
          for (Index p = 0; p < P_; ++p) {
            const double u = random_.uniform();
            c(p) = n % 2 == 0 ? (u < 0.5 ? 0.0 : 1.0) : u;
          }
        }
        --held;
        unit.block(b * P_, n, P_, 1) = c;
      }
    }
    if (situation_.previous_plan != nullptr && situation_.previous_plan->rows() > 0) {
      const Matrix& previous = *situation_.previous_plan;
      for (Index b = 0; b < blocks_; ++b) {
        const Index t = std::min(b * options_.hold, previous.rows() - 1);
        const Vector u = (previous.row(t).transpose() - low_).cwiseQuotient(width_);
        unit.block(b * P_, 0, P_, 1) = u.cwiseMax(0.0).cwiseMin(1.0);
      }
    }
    return unit;
  }

  Matrix next_generation(Index generation) {
    const auto count = static_cast<double>(elites_.size());
    Vector mean = Vector::Zero(blocks_ * P_);
    for (const Elite& elite : elites_) {
      mean += elite.unit / count;
    }
    Vector spread = Vector::Zero(blocks_ * P_);
    for (const Elite& elite : elites_) {
      spread += (elite.unit - mean).cwiseAbs2() / count;
    }
    spread = spread.cwiseSqrt().cwiseMax(kLeastSpread);
    const double step = std::max(0.3 * std::pow(0.7, static_cast<double>(generation)), kLeastSpread);
    Matrix unit = random_.normal_matrix(blocks_ * P_, kGeneration);
    for (Index n = 0; n < kGeneration; ++n) {
      if (n < kGeneration - kNearBest) {
        unit.col(n) = mean + spread.cwiseProduct(unit.col(n));
      } else {
        unit.col(n) = elites_.front().unit + step * unit.col(n);
      }
    }
    return unit.cwiseMax(0.0).cwiseMin(1.0);
  }

  Elite judged(Index n, VectorRef unit, VectorRef plan) {
    Elite result{unit, plan};
    try {
      if (paths_.sensible_rows(n) == H_) {
        result.value = criterion_.value(paths_, n, paths_.outputs(n));
        if (std::isfinite(result.value)) {
          return result;
        }
      }
    } catch (const NumericalError&) {  // counts as not finite
    }
    result.sensible = false;
    result.value = static_cast<double>(paths_.sensible_rows(n));
    return result;
  }

  void evaluate(const Matrix& unit) {
    Matrix plans(P_ * H_, unit.cols());
    for (Index n = 0; n < unit.cols(); ++n) {
      plans.col(n) = expand(unit.col(n));
    }
    paths_.run(plans);
    criterion_.prepare(paths_);
    for (Index n = 0; n < unit.cols(); ++n) {
      elites_.push_back(judged(n, unit.col(n), plans.col(n)));
    }
    tried_ += unit.cols();
    std::ranges::stable_sort(elites_, &Elite::better_than);
    if (std::ssize(elites_) > kElites) {
      elites_.resize(static_cast<std::size_t>(kElites));
    }
  }

  const Situation& situation_;
  const PlanningOptions& options_;
  PlanCriterion& criterion_;
  RollOut paths_;
  Index P_, H_, blocks_;
  Vector low_, width_;  ///< [P]
  RandomStream random_;
  std::vector<Elite> elites_;  ///< best first
  Index tried_ = 0;
};

}  // namespace

Plan search_plan(const Situation& situation, const std::vector<gp::PackedPosterior>& uncertainty,
                 PlanCriterion& criterion) {
  return Search(situation, uncertainty, criterion).run();
}

}  // namespace gpilot::acquisition
