#include "gpilot/plan/planner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "gpilot/core/distributions.hpp"
#include "gpilot/core/error.hpp"
#include "gpilot/core/random.hpp"

namespace gpilot::plan {

namespace {

// The search is not the bottleneck: 2000 plans instead of 320 did not help (docs/decisions/planning.md). So these
// numbers are by feel, not measured one by one.
constexpr Index kGeneration = 32;  ///< plans in lock step
constexpr std::size_t kElites = 6;
constexpr Index kNearBest = 8;         ///< plans of a generation that vary the best one
constexpr Index kNew = 8;              ///< plans of a generation that are drawn anew while none is safe
constexpr double kLeastSpread = 0.02;  ///< of the box
constexpr double kFirstStep = 0.3;     ///< of the box, around the best; falls by kShrink a generation
constexpr double kShrink = 0.7;        ///< ten generations then end at 0.01 of the box
constexpr Index kRowsToTurn = 4;       ///< of a plan that a young model must be sure of; 2 left limits of a cart-pole
constexpr double kLeastVariance = 1e-12;  ///< of a planned output; what is left of a difference may round to 0 or below
constexpr double kWorst = std::numeric_limits<double>::infinity();

/// A plan that was tried.
struct Tried {
  Vector unit;           ///< [blocks P] in the unit box
  Vector plan;           ///< [P H]
  bool sensible = true;  ///< its path stays within the model; otherwise the value is how far it does
  PlanRisk risk = {};    ///< of leaving the limits
  bool safe = true;      ///< the whole plan keeps them with probability 1 - delta
  bool safe_now = true;  ///< its next rows do, and the mean of all others: what counts, as it is made anew by then
  double value = 0.0;

  bool better_than(const Tried& other) const {
    if (sensible != other.sensible) {
      return sensible;
    }
    if (safe_now != other.safe_now) {
      return safe_now;
    }
    return sensible && !safe_now ? risk.excess < other.risk.excess : value > other.value;
  }
};

class Search {
 public:
  explicit Search(const PlanSearch& search)
      : search_(search),
        context_(search.context),
        P_(context_.box.low.size()),
        options_(context_.planning.with_horizon(P_)),
        H_(options_.horizon),
        blocks_((H_ + options_.hold - 1) / options_.hold),
        paths_(context_, search.uncertainty, H_, options_.draws),
        random_(context_.seed, Purpose::kPlanner, context_.trial, context_.step),
        output_variance_(context_.transition.parameters().log_r.array().exp()) {
    const Box& box = context_.later_box();
    low_ = box.low;
    high_ = box.high;
    width_ = box.high - box.low;
  }

  Choice run() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const auto late = [&] {
      return options_.milliseconds > 0.0 &&
             std::chrono::duration<double, std::milli>(Clock::now() - begin).count() > options_.milliseconds;
    };
    for (Index generation = 0; tried_ < options_.evaluations && (generation == 0 || !late()); ++generation) {
      if (context_.stop != nullptr && *context_.stop) {
        throw Cancelled("the search for a plan was stopped");
      }
      // A whole generation is drawn and rolled out whatever part of the budget is left: the numbers are the same, to
      // the last bit, for any budget.
      const Matrix unit = generation == 0 ? first_generation() : next_generation(generation);
      evaluate(unit, std::min<Index>(kGeneration, options_.evaluations - tried_));
    }
    const Tried& best = elites_.front();
    const double violation = best.safe || !best.safe_now ? best.risk.all : best.risk.next;
    return {.control = best.plan.head(P_),
            .criterion = best.sensible ? best.value : kNaN,
            .evaluations = static_cast<int>(tried_),
            .plan = Eigen::Map<const Matrix>(best.plan.data(), P_, H_).transpose(),
            .violation = context_.limited() ? std::min(violation, 1.0) : kNaN,
            .safe = best.safe || best.safe_now};
  }

 private:
  /// Controls of the plan that a point of the unit box stands for, inside box and slew limits.
  Vector expand(VectorRef unit) const {
    Vector plan(P_ * H_);
    for (Index t = 0; t < H_; ++t) {
      auto c = plan.segment(t * P_, P_);
      c = (low_ + width_.cwiseProduct(unit.segment((t / options_.hold) * P_, P_))).cwiseMin(high_);  // despite rounding
      if (t == 0) {
        c = c.cwiseMax(context_.box.low).cwiseMin(context_.box.high);
      } else if (context_.slew != nullptr) {
        const auto before = plan.segment((t - 1) * P_, P_);
        c = c.cwiseMax(before - *context_.slew).cwiseMin(before + *context_.slew);
      }
    }
    return plan;
  }

  Vector to_unit(VectorRef control) const { return (control - low_).cwiseQuotient(width_).cwiseMax(0.0).cwiseMin(1.0); }

  /// Column n: a sequence that holds values or corners of the box for a while.
  void draw(Matrix& unit, Index n) {
    const Index longest = 1 + random_.index(blocks_);
    for (Index b = 0, held = 0; b < blocks_; ++b, --held) {
      if (held > 0) {
        unit.block(b * P_, n, P_, 1) = unit.block((b - 1) * P_, n, P_, 1);
        continue;
      }
      held = 1 + random_.index(longest);
      for (Index p = 0; p < P_; ++p) {
        const double u = random_.uniform();
        unit(b * P_ + p, n) = n % 2 == 0 ? std::round(u) : u;
      }
    }
  }

  /// Drawn sequences and, first of all, what is left of the previous plan.
  Matrix first_generation() {
    Matrix unit(blocks_ * P_, kGeneration);
    for (Index n = 0; n < kGeneration; ++n) {
      draw(unit, n);
    }
    begin_with_first(unit);
    if (context_.previous_plan != nullptr && context_.previous_plan->rows() > 0) {
      const Matrix& previous = *context_.previous_plan;
      for (Index b = 0; b < blocks_; ++b) {
        const Index t = std::min(b * options_.hold, previous.rows() - 1);
        unit.block(b * P_, 0, P_, 1) = to_unit(previous.row(t).transpose());
      }
    }
    return unit;
  }

  /// Half of the plans begin with the control that is wished for; the others look for what to do where that is unsafe.
  void begin_with_first(Matrix& unit) const {
    for (Index n = 0; search_.first != nullptr && n < unit.cols(); ++n) {
      if (n % 4 < 2) {
        unit.block(0, n, P_, 1) = to_unit(*search_.first);
      }
    }
  }

  Matrix next_generation(Index generation) {
    const auto count = static_cast<double>(elites_.size());
    Vector mean = Vector::Zero(blocks_ * P_);
    for (const Tried& elite : elites_) {
      mean += elite.unit / count;
    }
    Vector spread = Vector::Zero(blocks_ * P_);
    for (const Tried& elite : elites_) {
      spread += (elite.unit - mean).cwiseAbs2() / count;
    }
    spread = spread.cwiseSqrt().cwiseMax(kLeastSpread);
    const double step = std::max(kFirstStep * std::pow(kShrink, static_cast<double>(generation)), kLeastSpread);
    Matrix unit = random_.normal_matrix(blocks_ * P_, kGeneration);
    for (Index n = 0; n < kGeneration; ++n) {
      if (n < kGeneration - kNearBest) {
        unit.col(n) = mean + spread.cwiseProduct(unit.col(n));
      } else {
        unit.col(n) = elites_.front().unit + step * unit.col(n);
      }
    }
    unit = unit.cwiseMax(0.0).cwiseMin(1.0);
    begin_with_first(unit);
    // Where nothing is safe, elites can be alike in what is wrong with them: some plans are drawn anew.
    for (Index n = kNew; context_.limited() && !elites_.front().safe && n < 2 * kNew; ++n) {
      draw(unit, n);
    }
    return unit;
  }

  /// Mean over the functions drawn of value and violation.
  void judge(Index n, Tried& tried) {
    const auto share = 1.0 / static_cast<double>(paths_.paths_of_plan());
    for (Index k = n * paths_.paths_of_plan(); k < (n + 1) * paths_.paths_of_plan(); ++k) {
      const Index rows = paths_.sensible_rows(k);
      bool finite = rows == H_;
      if (finite) {
        try {
          const PlannedOutputs& outputs = paths_.outputs(k);
          const double value = search_.criterion.value(paths_, k, outputs);
          finite = std::isfinite(value);
          if (finite) {
            tried.value += share * value;
            if (context_.limited()) {
              tried.risk.add(share, plan_risk(outputs, *context_.limits, output_variance_, next_rows()));
            }
          }
        } catch (const NumericalError&) {  // counts as not finite
          finite = false;
        }
      }
      if (!finite) {
        tried.sensible = false;
        tried.safe = tried.safe_now = !context_.limited();
        tried.risk = {kWorst, kWorst, kWorst, kWorst};
        tried.value = static_cast<double>(rows);
        return;
      }
    }
    const double delta = context_.limited() ? context_.limits->delta : 0.0;
    tried.safe = !context_.limited() || tried.risk.all <= delta;
    tried.safe_now = tried.safe || (tried.risk.next <= delta && tried.risk.mean_outside <= 0.0);
  }

  /// Rows that are applied before anybody can think again, and a few in which what moves can be turned around.
  Index next_rows() const { return std::max(kRowsToTurn, options_.commit); }

  /// Tries the first `count` plans.
  void evaluate(const Matrix& unit, Index count) {
    Matrix plans(P_ * H_, unit.cols());
    for (Index n = 0; n < unit.cols(); ++n) {
      plans.col(n) = expand(unit.col(n));
    }
    paths_.run(plans);
    search_.criterion.prepare(paths_);
    for (Index n = 0; n < count; ++n) {
      Tried tried{unit.col(n), plans.col(n)};
      judge(n, tried);
      elites_.push_back(std::move(tried));
    }
    tried_ += count;
    std::ranges::stable_sort(elites_, &Tried::better_than);
    elites_.resize(std::min(elites_.size(), kElites));
  }

  const PlanSearch& search_;
  const DecisionContext& context_;
  Index P_;
  PlanningOptions options_;
  Index H_, blocks_;
  RollOut paths_;
  Vector low_, high_, width_;  ///< [P] of the box
  RandomStream random_;
  Vector output_variance_;     ///< [E]
  std::vector<Tried> elites_;  ///< best first
  Index tried_ = 0;
};

}  // namespace

void PlanRisk::add(double share, const PlanRisk& other) {
  all += share * other.all;
  next += share * other.next;
  excess += share * other.excess;
  mean_outside += share * other.mean_outside;
}

PlanRisk plan_risk(const PlannedOutputs& outputs, const OutputLimits& limits, VectorRef output_variance,
                   Index next_rows) {
  const Index E = limits.low.size();
  PlanRisk risk;
  for (Index k = 0; k < outputs.mean.size(); ++k) {
    const Index e = k % E;
    // Limits are of the output itself, not of what a noisy sensor says about it.
    const double variance = outputs.noise(k, k) + outputs.unplanned(k) + outputs.signal(k, k) - output_variance(e);
    const double sd = std::sqrt(std::max(variance, kLeastVariance));
    for (const double beyond : {limits.low(e) - outputs.mean(k), outputs.mean(k) - limits.high(e)}) {
      if (std::isinf(beyond)) {
        continue;
      }
      const double probability = normal_cdf(beyond / sd);
      risk.all += probability;
      risk.next += k / E < next_rows ? probability : 0.0;
      risk.excess += beyond * probability + sd * normal_density(beyond / sd);
      risk.mean_outside += std::max(beyond, 0.0);
    }
  }
  return risk;
}

Choice search_plan(const PlanSearch& search) {
  return Search(search).run();
}

}  // namespace gpilot::plan
